import type { Row } from './row.ts';
import { tool } from './tool.ts';

export const phpRows: readonly Row[] = [
  ...['phpunit', 'pest', 'paratest'].map((command) =>
    tool(
      command,
      '--filter= --testsuite= --group= --exclude-group= --stop-on-failure --stop-on-error --testdox --colors --colors=never|always|auto --list-tests --no-coverage -v --verbose --display-deprecations --display-warnings --order-by= --parallel --processes=# -p=#',
      {
        operands: 'paths',
        yes: [`${command} --filter testA`, `${command} tests/ATest.php`],
        no: [
          `${command} --bootstrap evil.php`,
          `${command} -c evil.xml`,
          `${command} --log-junit /x`,
          `${command} --coverage-html /x`,
        ],
      },
    ),
  ),
  ...['phpstan analyse', 'phpstan analyze', 'psalm'].map((command) =>
    tool(
      command,
      '--no-progress -l=# --level=# --error-format=table|json|raw|github|checkstyle --memory-limit= -v --no-cache --show-info=true|false',
      {
        operands: 'paths',
        yes: [`${command} src`],
        no: [`${command} -c evil.neon`, `${command} -a evil.php`, `${command} --fix`, `${command} --alter`],
      },
    ),
  ),
  tool('php-cs-fixer fix', '--dry-run --diff -v --using-cache=yes|no --stop-on-violation', {
    needs: ['--dry-run'],
    operands: 'paths',
    yes: ['php-cs-fixer fix --dry-run --diff src'],
    no: ['php-cs-fixer fix src', 'php-cs-fixer fix --dry-run --config=evil.php'],
  }),
  tool('artisan test', '--filter= --testsuite= --parallel --stop-on-failure --compact', {
    operands: 'paths',
    yes: ['php artisan test --filter=ATest'],
    no: ['php artisan migrate', 'php artisan tinker', 'php artisan test --env=production'],
  }),
  ...[
    'artisan route:list',
    'artisan about',
    'artisan migrate:status',
    'composer show',
    'composer validate',
    'composer why',
    'composer depends',
    'composer licenses',
  ].map(
    (command): Row => ({
      command,
      kind: 'checks',
      why: "It shows what there is, and loads the project's own code for it.",
      options:
        '--json --tree -t --direct -D --installed -i --name-only -N --path= --method= --no-check-publish --strict',
      operands: /^[\w.-]+(\/[\w.-]+)?$/,
      yes: [command.replace('artisan', 'php artisan')],
      no: [`${command.replace('artisan', 'php artisan')} -d ..`],
    }),
  ),
];
