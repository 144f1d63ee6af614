import { sqlReads } from '../readOnlyScripts.ts';
import type { Row } from './row.ts';
import { looks } from './tool.ts';

const why =
  "It asks the project's own database what is in it: a question that can be read to change nothing. A function that is not known, several statements, another server or a file of commands is asked about.";

const reads = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row =>
  looks(command, options, { why, ...more });

/** Commands of `redis-cli` that only read. */
const redis =
  /^(?:ping|info|dbsize|llen|lrange|get|mget|keys|scan|type|ttl|pttl|exists|hget|hgetall|hlen|hkeys|scard|smembers|sismember|zcard|zrange|zscore|strlen|xlen|xinfo|xrange|time)$/i;

export const databaseRows: readonly Row[] = [
  ...['sqlite3'].map((command) =>
    reads(
      command,
      '-readonly -header -noheader -column -json -csv -line -list -box -table -markdown -batch -separator=',
      {
        oneDash: true,
        operands: ['files', sqlReads],
        least: 2,
        most: 2,
        yes: [
          `${command} build/a.db "select count(*) from users where name = 'a;b'"`,
          `${command} -header -column build/a.db .schema`,
          `${command} build/a.db '.tables'`,
        ],
        no: [
          `${command} build/a.db 'drop table users'`,
          `${command} build/a.db "select writefile('x', 'y')"`,
          `${command} build/a.db "select load_extension('./evil')"`,
          `${command} build/a.db ".shell id"`,
          `${command} build/a.db "select 1; delete from users"`,
          `${command} build/a.db "attach '/x' as y"`,
          `${command} -cmd '.shell id' build/a.db "select 1"`,
          `${command} -init evil build/a.db "select 1"`,
          `${command} /x.db "select 1"`,
          `${command} build/a.db`,
          `${command} build/a.db "pragma writable_schema=1"`,
          `${command} build/a.db "with x as (delete from y returning 1) select * from x"`,
        ],
      },
    ),
  ),
  reads(
    'docker compose exec psql',
    '-U=<name> -d=<name> -h=localhost|127.0.0.1|db|postgres -p=# -c=<sql> -A -t -x -q -X -At -F= --no-align --tuples-only --csv --username=<name> --dbname=<name> --command=<sql> --pset=pager=off -P=pager=off -w -v=ON_ERROR_STOP=1',
    {
      needs: ['-c', '--command', '-l', '--list'],
      operands: /^\w+$/,
      most: 2,
      yes: [
        'docker compose exec -T db psql -U app -d app -c "select id, created_at from orders order by created_at desc limit 5"',
        "docker compose exec -T postgres psql -U app app -At -c '\\dt+ billing.*'",
        'docker compose exec -T postgres psql -U app app_dev -c "explain select * from loans where due_at < now()"',
      ],
      no: [
        'docker compose exec -T db psql -U app -c "delete from orders"',
        'docker compose exec -T db psql -U app -c "select pg_terminate_backend(1)"',
        "docker compose exec -T db psql -U app -c '\\! id'",
        "docker compose exec -T db psql -U app -c '\\dt \\! id'",
        'docker compose exec -T db psql -f x',
        'docker compose exec -T db psql -U app -c "select 1; drop table x"',
        'docker compose exec -T db psql -U app -c "select * into y from x"',
        'docker compose exec -T db psql -U app -c "copy x to program \'id\'"',
        'docker compose exec -T db psql -h evil.example -c "select 1"',
        'docker compose exec -T db psql postgres://evil/x -c "select 1"',
        'docker compose exec -T db psql "host=evil" -c "select 1"',
        'docker compose -f evil.yml exec -T db psql -c "select 1"',
        'docker compose exec -T db psql -o /x -c "select 1"',
        'docker compose exec -T db psql -L x -c "select 1"',
        'docker compose exec -T db sh -c "select 1"',
      ],
    },
  ),
  reads('docker compose exec pg_isready', '-U=<name> -d=<name> -h=localhost|127.0.0.1|db|postgres -p=# -q -t=#', {
    yes: ['docker compose exec -T db pg_isready -U app', 'docker compose exec db pg_isready -q'],
    no: [
      'docker compose exec -T db pg_isready -h evil.example',
      'docker compose exec -T db pg_isready -d postgres://evil/x',
    ],
  }),
  reads(
    'docker compose exec mysql',
    '-u=<name> -D=<name> -e=<sql> -N -B -t --batch --table --silent -s -h=localhost|127.0.0.1|db|mysql',
    {
      needs: ['-e'],
      operands: /^\w+$/,
      most: 1,
      yes: [
        'docker compose exec -T db mysql -uroot app -e "select count(*) from users"',
        'docker compose exec -T db mysql -u root -e "show tables" app',
      ],
      no: [
        'docker compose exec -T db mysql -u root -e "drop table x"',
        'docker compose exec -T db mysql -e "select 1 into outfile \'/x\'"',
        'docker compose exec -T db mysql -e "select load_file(\'/etc/passwd\')"',
        'docker compose exec -T db mysql -e "\\! id"',
        'docker compose exec -T db mysql -e "system id"',
        'docker compose exec -T db mysql --init-command=x -e "select 1"',
      ],
    },
  ),
  reads('docker compose exec redis-cli', '-n=# --raw --no-raw -h=localhost|127.0.0.1|redis -p=#', {
    operands: [redis, /^[\w:.*?-]+$/],
    least: 1,
    yes: [
      'docker compose exec -T redis redis-cli llen queue:default',
      'docker compose exec redis redis-cli -n 1 info keyspace',
    ],
    no: [
      'docker compose exec -T redis redis-cli flushall',
      'docker compose exec -T redis redis-cli set a b',
      'docker compose exec -T redis redis-cli -h evil.example ping',
      'docker compose exec -T redis redis-cli -u redis://evil ping',
      'docker compose exec -T redis redis-cli --eval x',
      'docker compose exec -T redis redis-cli eval x 0',
      'docker compose exec -T redis redis-cli config set dir /x',
      'docker compose exec -T redis redis-cli monitor',
      'docker compose exec -T redis redis-cli memory purge',
    ],
  }),
];
