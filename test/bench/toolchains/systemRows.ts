import type { ToolchainRow } from './row.ts';

const postgres = [
  'export PATH="$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH"',
  'D=$(mktemp -d)',
  'initdb -D $D/db -A trust -U test >/dev/null',
  'pg_ctl -w -D $D/db -o "-p 54329 -k $D" -l $D/log start >/dev/null',
  'psql -h 127.0.0.1 -p 54329 -U test postgres -c "select 42"',
].join(' && ');

export const systemRows: readonly ToolchainRow[] = [
  {
    run: 'a Redis server of a test',
    needs: ['redis-server', 'redis-cli'],
    first:
      '(redis-server --port 6399 --save "" >/dev/null & for i in $(seq 40); do sleep 0.1; redis-cli -p 6399 ping | grep PONG && break; done; s=$?; kill %1; exit $s)',
  },
  {
    run: 'a Postgres server of a test',
    needs: ['psql', 'test $(id -u) != 0'],
    first: `${postgres}; s=$?; pg_ctl -D $D/db stop -m fast >/dev/null; exit $s`,
  },
  {
    run: 'a program with a window, xvfb',
    needs: ['xvfb-run', 'xterm', 'test $(id -u) != 0'],
    first: 'xvfb-run -a xterm -e "echo done > window.txt" && grep done window.txt && rm window.txt',
  },
  { run: 'curl of a host that is not allowed', first: 'curl -sS -m 20 https://example.org', isOutside: true },
  { run: 'docker run', needs: ['docker'], first: 'docker run --rm hello-world', isOutside: true },
  { run: 'sudo', needs: ['sudo'], first: 'sudo true', isOutside: true },
  { run: 'long output', first: 'seq 1 1000000' },
  {
    run: 'perl, sqlite3',
    needs: ['perl', 'sqlite3'],
    first:
      'perl -e "print 42" && sqlite3 a.db "create table if not exists t(a); pragma journal_mode=wal; insert into t values(1); select count(*) from t"',
  },
  { run: 'tmux', needs: ['tmux'], first: 'tmux new-session -d -s one "sleep 5" && tmux ls && tmux kill-server' },
  {
    run: 'screen',
    needs: ['screen', 'test $(id -u) != 0'],
    first: 'screen -dmS one sleep 5 && sleep 0.5 && screen -ls | grep one && screen -S one -X quit',
  },
  {
    run: 'parallel, xargs -P',
    needs: ['parallel'],
    first: 'parallel --will-cite echo ::: a b c && seq 10 | xargs -P4 -n1 echo',
  },
  {
    run: 'mktemp, locale, time zone, ulimit, flock',
    first:
      'f=$(mktemp) && test -w $f && test -k /tmp && d=$(mktemp -d -p /var/tmp) && locale >/dev/null && TZ=Europe/Berlin date +%z | grep 0[12]00 && ulimit -n 512 && flock lockfile true && rm lockfile && tty; [ -w /dev/shm ] && [ -w /dev/null ] && id -un && getent hosts localhost && hostname',
  },
  {
    run: 'chmod, chown, links, times, extended attributes',
    needs: ['setfattr'],
    first:
      'touch f && chmod 640 f && chown "$(id -u):$(id -g)" f && ln -sf f l && ln -f f h && touch -d 2001-02-03 f && cp -a f g && setfattr -n user.a -v b f && test "$(stat -c %a f)" = 640 && mv g k && rm l h',
  },
  {
    run: 'rsync, tar, zip, unzip, sed -i, find -delete',
    needs: ['rsync', 'zip', 'unzip'],
    files: { 'a/b.txt': 'b\n' },
    first:
      'rsync -a a/ c/ && tar czf t.tgz a && tar xzf t.tgz && zip -qr z.zip a && unzip -qo z.zip && sed -i s/b/d/ c/b.txt && find c -name "*.txt" -delete && rm -rf c t.tgz z.zip',
  },
  {
    run: 'a server and a client in two commands',
    needs: ['python3'],
    files: { 'index.html': 'hello' },
    first:
      '(python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in $(seq 30); do sleep 0.2; curl -sf http://127.0.0.1:8123/ && break; done; s=$?; kill %1; exit $s)',
  },
  {
    run: 'a workspace below a hidden folder of the home',
    below: '.towpath-toolchains/deep/project',
    files: { 'a.txt': 'a\n' },
    first: 'cat a.txt && echo b > b.txt && mkdir -p c && echo d > c/d.txt && ls -la',
  },
  { run: 'a file in the home', first: 'touch "$HOME/.towpath-toolchain-file"', isOutside: true },
  { run: 'testcontainers', needs: ['docker'], first: 'docker info', isOutside: true },
];
