import type { Row } from './row.ts';
import { tool } from './tool.ts';

export const phpRows: readonly Row[] = [
  ...['phpunit', 'pest', 'paratest'].map((command) =>
    tool(
      command,
      '--filter= --testsuite= --group= --exclude-group= --stop-on-failure --stop-on-error --testdox --colors --colors=never|always|auto --list-tests --list-suites --list-groups --no-coverage --coverage-text -v --verbose --debug --display-deprecations --display-warnings --display-errors --display-notices --display-skipped --display-incomplete --fail-on-warning --fail-on-risky --fail-on-deprecation --stop-on-defect --stop-on-warning --order-by= --random-order-seed=# --repeat=# --teamcity --no-progress --no-output --do-not-cache-result --parallel --processes=# -p=# --functional --bail --retry --dirty --profile --compact --ci --min=#',
      {
        operands: 'tests',
        yes: [`${command} --filter testA`, `${command} tests/ATest.php`],
        no: [
          `${command} scripts/deploy.php`,
          `${command} --bootstrap evil.php`,
          `${command} -c evil.xml`,
          `${command} --log-junit /x`,
          `${command} --coverage-html /x`,
          `${command} --coverage-text=/x`,
          `${command} --include-path /x`,
          `${command} -d auto_prepend_file=evil.php`,
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
  tool('pint', '--test -v --dirty --diff=<revision> --parallel', {
    needs: ['--test'],
    operands: 'paths',
    yes: ['pint --test', 'pint --test src'],
    no: ['pint', 'pint --test --config /x', 'pint --repair'],
  }),
  tool('rector process', '--dry-run --no-progress-bar --no-diffs --clear-cache', {
    needs: ['--dry-run'],
    operands: 'paths',
    yes: ['rector process src --dry-run'],
    no: ['rector process src', 'rector process --dry-run -c evil.php'],
  }),
  tool(
    'phpcs',
    '-s -p -n -v --colors --no-colors --report=full|summary|json|emacs|checkstyle|diff --standard=<name> --extensions= --severity=#',
    {
      operands: 'paths',
      yes: ['phpcs --standard=PSR12 src'],
      no: ['phpcs --report-file=/x', 'phpcs --bootstrap=evil.php', 'phpcs --standard=../x.xml'],
    },
  ),
  tool(
    'artisan test',
    '--filter= --testsuite= --group= --exclude-group= --parallel -p --processes=# --stop-on-failure --compact --coverage --min=# --profile --without-tty -v',
    {
      operands: 'tests',
      yes: ['php artisan test --filter=ATest', 'php artisan test tests/Unit/OrderTest.php'],
      no: [
        'php artisan test deploy.php',
        'php artisan migrate',
        'php artisan tinker',
        'php artisan test --env=production',
      ],
    },
  ),
  tool('artisan migrate', '--pretend --no-interaction -n', {
    needs: ['--pretend'],
    yes: ['php artisan migrate --pretend'],
    no: [
      'php artisan migrate',
      'php artisan migrate --pretend --database=production',
      'php artisan migrate:fresh --pretend',
    ],
  }),
  ...['composer outdated', 'composer audit', 'composer fund'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: 'It asks the package server for newer or unsafe versions, and installs none.',
      options:
        '--direct -D --format=text|json --locked --no-dev --strict -m --minor-only -M --major-only -p --patch-only -a --all --outdated -n --no-interaction',
      operands: /^[\w.-]+\/[\w.*-]+$/,
      yes: [command, `${command} --no-dev`],
      no: [`${command} -d ..`, `${command} --working-dir=..`, 'composer require a/b', 'composer update'],
    }),
  ),
  ...[
    'artisan schedule:list',
    'artisan event:list',
    'artisan model:show',
    'artisan queue:failed',
    'artisan list',
    'artisan help',
    'artisan route:list',
    'artisan about',
    'artisan migrate:status',
    'composer show',
    'composer validate',
    'composer why',
    'composer why-not',
    'composer prohibits',
    'composer check-platform-reqs',
    'composer suggests',
    'composer depends',
    'composer licenses',
  ].map(
    (command): Row => ({
      command,
      kind: 'checks',
      why: "It shows what there is, and loads the project's own code for it.",
      options:
        '--json --tree -t --direct -D --installed -i --name-only -N --path= --method= --except-path= --name= --except-vendor --sort= --reverse -r -v --no-check-publish --no-check-all --no-check-lock --strict --no-dev --locked --recursive --format=text|json',
      operands: /^[\w.^~*<>=|@-]+(\/[\w.-]+)?$/,
      yes: [command.replace('artisan', 'php artisan')],
      no: [`${command.replace('artisan', 'php artisan')} -d ..`],
    }),
  ),
  ...['composer', 'composer run', 'composer run-script'].map(
    (command): Row =>
      tool(command, '--timeout=# -q --quiet -n --no-interaction', {
        operands: 'scripts',
        secondShell: true,
        least: 1,
        most: 1,
        rest: {
          options:
            '--filter= --testsuite= --group= --stop-on-failure --testdox --colors -v --verbose --no-coverage --test --dry-run --diff --no-progress --level=#',
          operands: 'names',
        },
        yes: [`${command} test`, `${command} lint -- --test`, `${command} test -- --filter testA`],
        no: [
          `${command} deploy`,
          `${command} test -d ..`,
          `${command} test -- -c evil.xml`,
          `${command} lint:fix`,
          `${command} exec`,
        ],
      }),
  ),
];
