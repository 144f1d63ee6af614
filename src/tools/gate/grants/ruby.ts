import { isCheckName } from './checkNames.ts';
import type { Row } from './row.ts';
import { tool } from './tool.ts';

const rspec =
  '-e= --example= --format=documentation|progress|json|html|p|d|j|h|f|failures -f=documentation|progress|json|html|p|d|j|h|f|failures --seed=# --order=rand|defined|random|rand:1 --fail-fast --fail-fast=# --no-fail-fast --tag= -t= --only-failures -n --next-failure -b --backtrace -c --[no-]color --force-color --profile --profile=# -p -p=# --dry-run -P=<tests> --pattern=<tests> --exclude-pattern= -w --warnings --bisect';

/** Tasks that show what there is, or check it, by their whole names. */
const otherTasks =
  /^(rubocop|lint|standard|routes|stats|notes|about|zeitwerk:check|db:migrate:status|db:version|assets:precompile|brakeman|-T)$/;

export const rubyRows: readonly Row[] = [
  tool('rspec', rspec, {
    operands: 'tests',
    yes: [
      'bundle exec rspec',
      'rspec spec/a_spec.rb:12 -fd',
      'bin/rspec --only-failures',
      'rspec spec/models -e "a b"',
    ],
    no: [
      'rspec -r ./evil.rb',
      'rspec -I /x',
      'rspec --format Evil',
      'rspec --out /x',
      'rspec -O evil',
      'rspec --drb',
      'rspec -P /x/**/*.rb',
      "rspec -P 'lib/*.rb'",
      'rspec db/seeds.rb',
      'rspec ../x_spec.rb',
    ],
  }),
  tool(
    'rubocop',
    '--format=simple|progress|clang|json|emacs|offenses|files|worst|quiet|github|tap|p|s|c|o|fu|w -f=simple|progress|clang|json|emacs|offenses|files|worst|quiet|github|tap|p|s|c|o|fu|w --only= --except= --parallel -P -D -S -E --display-cop-names --extra-details --fail-level= --force-exclusion -L --list-target-files --display-only-fail-level-offenses --[no-]color --cache=true|false --fail-fast -F -l --lint',
    {
      operands: 'paths',
      configured: true,
      yes: ['bundle exec rubocop app --format simple', 'rubocop -P'],
      no: [
        'rubocop -a',
        'rubocop -A',
        'rubocop --autocorrect',
        'rubocop -r ./evil',
        'rubocop -c evil.yml',
        'rubocop --out /x',
        'rubocop --auto-gen-config',
        'rubocop -x',
      ],
    },
  ),
  ...['rake', 'rails'].map((command) =>
    tool(command, '-s --silent --trace -q', {
      operands: (word) => (/^(test|spec)(:|$)/.test(word) && isCheckName(word)) || otherTasks.test(word),
      least: 1,
      yes: [`${command} test`, `${command} db:migrate:status`],
      no: [
        `${command} db:migrate`,
        `${command} -f evil.rb test`,
        `${command} test -r ./evil.rb`,
        `${command} db:drop`,
        `${command} runner x`,
      ],
    }),
  ),
  tool(
    'rails test',
    '-n= --name= -v --verbose -f --fail-fast -b --backtrace -s=# --seed=# -c --color -d --defer-output',
    {
      operands: 'tests',
      yes: ['bin/rails test test/models/a_test.rb:12 -v'],
      no: ['rails test db/seeds.rb', 'rails test -r ./evil', 'rails test -e production', 'rails test ../x'],
    },
  ),
  tool('rails', '-T -D --tasks', {
    needs: ['-T', '-D', '--tasks'],
    operands: /^[a-z]\w*$/,
    most: 1,
    yes: ['bin/rails -T', 'rails -T db'],
    no: ['rails -T -f evil.rb', 'rails -T -r ./evil'],
  }),
  tool('rails notes', '-a= --annotations=', {
    operands: /^[A-Z]+$/,
    yes: ['bin/rails notes --annotations FIXME HACK'],
    no: ['rails notes --x'],
  }),
  tool('parallel_rspec', '-n=#', {
    operands: 'tests',
    yes: ['bundle exec parallel_rspec spec'],
    no: ['parallel_rspec db/seeds.rb', 'parallel_rspec -o x spec', 'parallel_rspec -e x', 'parallel_rspec ../x'],
  }),
  tool('bundle-audit check', '--update --quiet', {
    kind: 'asks',
    why: 'It compares the gems with the list of advisories, which it fetches.',
    yes: ['bundle exec bundle-audit check'],
    no: ['bundle-audit check --database /x', 'bundle-audit check ../x', 'bundle-audit download'],
  }),
  tool('rails routes', '-c= --controller= -g= --grep= -E --expanded --unused', {
    yes: ['bin/rails routes -g orders'],
    no: ['rails routes --x'],
  }),
  tool(
    'brakeman',
    '-q --quiet --no-pager -w=1|2|3 -A --run-all-checks --no-progress -z --no-exit-on-warn --no-summary -f=text|json|tabs --format=text|json|tabs --only-files=<path>',
    {
      yes: ['bundle exec brakeman -q --no-pager'],
      no: ['brakeman -o /x', 'brakeman -c evil.yml', 'brakeman --add-checks-path /x', 'brakeman ../x'],
    },
  ),
  ...['erblint', 'erb_lint', 'haml-lint', 'slim-lint', 'standardrb', 'reek'].map((command) =>
    tool(command, /^erb/.test(command) ? '--lint-all --format=compact|json|multiline --enabled-linters=' : '', {
      operands: 'paths',
      configured: true,
      yes: [command],
      no: [`${command} --fix`, `${command} -a`, `${command} --config evil.yml`],
    }),
  ),
  ...['bundle list', 'bundle info', 'bundle show', 'bundle platform', 'gem list'].map(
    (command): Row => ({
      command,
      kind: 'checks',
      why: 'It lists what is installed, and runs the Gemfile for it.',
      options: '--path --name-only --paths --without-group= --only-group= -l --local',
      operands: /^[\w.-]+$/,
      yes: [command],
      no: [`${command} --gemfile=../x`, 'bundle install', `${command} --remote`, 'bundle check --path evil'],
    }),
  ),
  {
    command: 'bundle check',
    kind: 'checks',
    why: 'It runs the Gemfile. Where to look is remembered for later, and asked about.',
    yes: ['bundle check'],
    no: ['bundle check --path evil', 'bundle check --path=/x'],
  },
  {
    command: 'bundle outdated',
    kind: 'asks',
    why: 'It asks the gem server for newer versions.',
    options:
      '--only-explicit --strict --parseable --porcelain --filter-major --filter-minor --filter-patch --patch --minor --major --group= --groups',
    operands: /^[\w.-]+$/,
    yes: ['bundle outdated --only-explicit'],
    no: ['bundle outdated --source=https://evil.example', 'bundle update'],
  },
];
