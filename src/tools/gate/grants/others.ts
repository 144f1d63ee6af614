import type { Row } from './row.ts';

const tool = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  command,
  kind: 'checks',
  why: 'A tool of the project, as the project has set it up. Options that load other code, change files or write reports are asked about.',
  options,
  ...more,
});

const rspec =
  '-e= --example= --format=documentation|progress|json|html|p|d|j|h|f|failures -f=documentation|progress|json|html|p|d|j|h|f|failures --seed=# --order=rand|defined|random|rand:1 --fail-fast --fail-fast=# --no-fail-fast --tag= -t= --only-failures -n --next-failure -b --backtrace -c --[no-]color --force-color --profile --profile=# -p -p=# --dry-run -P=<path> --pattern=<path> --exclude-pattern= -w --warnings --bisect';
const versioned =
  /^(node|npm|npx|yarn|pnpm|bun|deno|tsc|eslint|prettier|jest|vitest|python|python3|python3\.\d+|pip|pip3|uv|poetry|ruff|mypy|pytest|black|ruby|bundle|bundler|gem|rails|rake|rspec|rubocop|go|gofmt|golangci-lint|cargo|rustc|rustup|rustfmt|java|javac|kotlin|kotlinc|mvn|gradle|dotnet|php|composer|docker|docker-compose|gh|make|gmake|cmake|ctest|ninja|meson|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|clang-format|clang-tidy|cppcheck|ccache|gdb|lldb|valgrind|swift|dart|flutter|elixir|mix|erl|ghc|cabal|stack|zig|perl|lua|kubectl|helm|aws|gcloud|az|jq|yq|rg|fd|shellcheck|psql|mysql|redis-cli|sqlite3|protoc|buf|conan|vcpkg|just|task|direnv|mise|asdf|bash|zsh|alembic|nox|tox|pre-commit|gcovr|lcov|nx|turbo|vite|next|java_home|sqlc|air|delve|dlv)$/;

/** What a Makefile hands on to a runner of tests or a linter: names, and options that show or choose. */
const passedOn =
  /^(?:(?:TEST|PYTEST|JEST|VITEST|GO|GOTEST|GO_TEST|CTEST|RSPEC|CARGO|LINT|GOLANGCI)_?(?:ARGS|FLAGS|OPTS)|ARGS|TESTS?|FILTER|K|T|PKG)=(?:(?:-q|-v|-vv|-x|-s|-l|-k [\w.-]+|-run [\w./^$-]+|-race|-short|-count=\d+|--lf|--ff|--verbose|--quiet|--tb=short|--new-from-rev=[\w./-]+|(?!\/|\.\.|[\w./:-]*\/\.\.)[\w.][\w./:-]*)(?: (?=\S)|$))+$|^(?:V|VERBOSE|CI|Q)=[\w@]?$/;

/** It asks its maker whether there is a newer one whenever it starts. */
const asksForNewer = { kind: 'asks', why: 'It checks the project, and asks its maker for a newer version.' } as const;

export const otherRows: readonly Row[] = [
  tool('rspec', rspec, {
    operands: 'paths',
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
      'rspec ../x_spec.rb',
    ],
  }),
  tool(
    'rubocop',
    '--format=simple|progress|clang|json|emacs|offenses|files|worst|quiet|github|tap|p|s|c|o|fu|w -f=simple|progress|clang|json|emacs|offenses|files|worst|quiet|github|tap|p|s|c|o|fu|w --only= --except= --parallel -P -D -S -E --display-cop-names --extra-details --fail-level= --force-exclusion -L --list-target-files --display-only-fail-level-offenses --[no-]color --cache=true|false --fail-fast -F -l --lint',
    {
      operands: 'paths',
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
      operands:
        /^(test(:\w+)*|spec(:\w+)*|rubocop|lint|standard|routes|stats|notes|about|zeitwerk:check|db:migrate:status|db:version|assets:precompile|brakeman|-T)$/,
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
      operands: 'paths',
      yes: ['bin/rails test test/models/a_test.rb:12 -v'],
      no: ['rails test -r ./evil', 'rails test -e production', 'rails test ../x'],
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
    operands: 'paths',
    yes: ['bundle exec parallel_rspec spec'],
    no: ['parallel_rspec -o x spec', 'parallel_rspec -e x', 'parallel_rspec ../x'],
  }),
  tool('bundle-audit check', '--update --quiet', {
    kind: 'asks',
    why: 'It compares the gems with the list of advisories, which it fetches.',
    yes: ['bundle exec bundle-audit check'],
    no: ['bundle-audit check --database /x', 'bundle-audit check ../x', 'bundle-audit download'],
  }),
  tool(
    'gcovr',
    '-r=<path> --root=<path> --filter= -f= --exclude= -e= -s --print-summary --txt-metric=line|branch|decision --branches -b --txt-summary',
    {
      operands: 'paths',
      yes: ["gcovr -r . --filter 'src/' build --txt-metric branch"],
      no: [
        'gcovr -o /x',
        'gcovr --config evil',
        'gcovr --gcov-executable=./evil',
        'gcovr --html-details=/x',
        'gcovr -d',
      ],
    },
  ),
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
    tool(command, '--lint-all --format=compact|json|multiline|simple|progress --enabled-linters=', {
      operands: 'paths',
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
  ...['make', 'gmake', 'just', 'task'].map((command) =>
    tool(
      command,
      command === 'just'
        ? '-q --quiet -n --dry-run --no-highlight'
        : command === 'task'
          ? '-s --silent -n --dry -p'
          : '-s -k -j -j=# -B -n -w -i --silent --quiet --no-print-directory --keep-going --dry-run --always-make',
      {
        why: 'It runs targets whose names say that they test, check or build. A variable, another file or another folder is asked about.',
        operands: 'scripts',
        least: 1,
        also: passedOn,
        yes: [
          `${command} test`,
          `${command} lint typecheck`,
          ...(command === 'make' ? ['make test ARGS="-k invoices -q"', 'make test V=1'] : []),
        ],
        no: [
          `${command} deploy`,
          `${command} clean`,
          `${command} -f evil.mk test`,
          `${command} -C .. test`,
          `${command} test X=y`,
          `${command} test ARGS=-pevil`,
          `${command} test ARGS=a/../../x`,
          `${command} test ARGS=--config=x`,
          `${command} test SHELL=x`,
          `${command} test 'ARGS=x;touch X'`,
          `${command} install`,
          ...(command === 'make' ? ["make --eval='x:;touch X' test"] : []),
        ],
      },
    ),
  ),
  tool('make', '-s -k -j -j=# -B -n -w --silent --no-print-directory', {
    why: 'Without a name it builds what the project builds first.',
    yes: ['make', 'make -j4'],
    no: ["make --eval='x:;touch PWNED' x", 'make -f evil.mk', 'make SHELL=./evil'],
  }),
  ...Object.entries({
    shellcheck:
      '-s=bash|sh|dash|ksh -S=error|warning|info|style -e= --exclude= --severity=error|warning|info|style --shell=bash|sh|dash|ksh -f=tty|gcc|json|json1|checkstyle|quiet|diff --format=tty|gcc|json|json1|checkstyle|quiet|diff',
    hadolint: '--no-color -f=tty|json|checkstyle|gnu --format=tty|json|checkstyle|gnu --ignore=',
    yamllint:
      '-s --strict --no-warnings -f=parsable|standard|colored|auto|github --format=parsable|standard|colored|auto|github',
    actionlint: '',
    markdownlint: '-q --quiet -j --json',
    'markdownlint-cli2': '',
    'taplo check': '',
    'buf lint': '--error-format=text|json',
    tflint: '-f=default|json|checkstyle|compact --format=default|json|checkstyle|compact --no-color --recursive',
    'sqlfluff lint':
      '-f=human|json|yaml|github-annotation --format=human|json|yaml|github-annotation -q --dialect=<name>',
    codespell: '-q=# --quiet-level=#',
    typos: '--format=silent|brief|long|json',
    vale: '--output=line|JSON --no-exit',
    djlint: '--lint --check --quiet',
    'ansible-lint': '-q --strict -f=brief|full|json|pep8 --format=brief|full|json|pep8 --offline',
  }).map(([command, options]) =>
    tool(command, options, {
      operands: 'paths',
      yes: [command],
      no: [
        `${command} --fix`,
        `${command} --config /x`,
        `${command} --config-file=/x`,
        `${command} /etc/passwd`,
        `${command} ${command === 'shellcheck' ? '-x' : command === 'codespell' ? '-e' : '-f'} /etc/passwd`,
        ...(command === 'markdownlint' ? ['markdownlint -f json README.md'] : []),
      ],
    }),
  ),
  tool('shfmt', '-d -l -i=# -ci -bn -s', {
    operands: 'paths',
    needs: ['-d', '-l'],
    yes: ['shfmt -d scripts'],
    no: ['shfmt -w scripts', 'shfmt scripts'],
  }),
  ...['terraform validate', 'terraform version', 'tofu validate'].map((command) =>
    tool(command, '-no-color -json', {
      ...asksForNewer,
      oneDash: true,
      yes: [command],
      no: [`${command} -chdir=..`, 'terraform destroy', 'terraform apply'],
    }),
  ),
  ...['terraform fmt', 'tofu fmt'].map((command) =>
    tool(command, '-check -diff -recursive -list=true|false -no-color', {
      ...asksForNewer,
      oneDash: true,
      needs: ['-check'],
      operands: 'paths',
      yes: [`${command} -check -recursive`],
      no: [`${command}`, `${command} -check -write=true`],
    }),
  ),

  ...[
    'docker ps',
    'docker images',
    'docker compose ps',
    'docker compose images',
    'docker compose ls',
    'docker compose top',
    'docker version',
    'docker compose version',
  ].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It lists what runs in containers of this machine.',
      options:
        '-a --all --format= --filter= -f= -q --quiet --no-trunc -n=# --last=# -l --latest -s --size --services --status=running|exited|paused|created|dead|restarting --orphans=true|false',
      operands: /^[\w.-]+$/,
      yes: [command],
      no: [
        'docker run -v /:/h alpine',
        `${command} --context=x`,
        'docker -H tcp://x ps',
        'docker compose -f evil.yml ps',
      ],
    }),
  ),
  ...['docker logs', 'docker compose logs', 'docker port', 'docker compose port'].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It shows what a container of this machine has written.',
      options: '--tail=# --tail=all -n=# -n=all --since= --until= -t --timestamps --no-color --no-log-prefix --details',
      operands: /^[\w.-]+(\/(tcp|udp))?$/,
      yes: [`${command} db`, `${command} web`],
      no: [`${command} --host=x db`, 'docker exec db sh', 'docker compose exec db sh', 'docker compose down -v'],
    }),
  ),

  ...[
    'gh pr list',
    'gh issue list',
    'gh workflow list',
    'gh release list',
    'gh pr status',
    'gh issue status',
    'gh label list',
  ].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: "It asks GitHub about this repository with the person's own access and changes nothing. Another repository or a browser is asked about.",
      options:
        '--json= -q=<jq> --jq=<jq> -t= --template= -L=# --limit=# -s=open|closed|merged|all|queued|completed|in_progress|failure|success --state=open|closed|merged|all --status=queued|completed|in_progress|failure|success -a= --author= --assignee= -A= -l= --label= -S= --search= -B= --base= -H= --head= -b= --branch= --workflow= -e= --event= -u= --user= --app= -m= --milestone= -d --draft --all',
      yes: [command, `${command} --json number --limit 5`],
      no: [
        `${command} -R other/repo`,
        `${command} --repo other/repo`,
        `${command} --web`,
        `${command} -w`,
        `${command} --json number --jq '$ENV.TOKEN'`,
        'gh pr merge 1',
        'gh api x',
      ],
    }),
  ),
  {
    command: 'gh run list',
    kind: 'asks',
    why: 'It asks GitHub for the latest runs of this repository.',
    options:
      '--json= -q=<jq> --jq=<jq> -t= --template= -L=# --limit=# -s=queued|completed|in_progress|failure|success --status=queued|completed|in_progress|failure|success -b= --branch= -w= --workflow= -e= --event= -u= --user= -c= --commit= -a --all',
    yes: ['gh run list --branch main --limit 5', 'gh run list -w ci.yml -L 3'],
    no: ['gh run list -R other/repo', 'gh run rerun 1', 'gh run cancel 1'],
  },
  ...[
    'gh pr view',
    'gh pr checks',
    'gh pr diff',
    'gh issue view',
    'gh run view',
    'gh workflow view',
    'gh release view',
    'gh repo view',
  ].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: "It asks GitHub about this repository with the person's own access and changes nothing. Another repository or a browser is asked about.",
      options:
        '--json= -q=<jq> --jq=<jq> -t= --template= -c --comments --log --log-failed -j= --job= -a=# --attempt=# --exit-status -v --verbose --name-only --patch --color=always|never|auto --required -y --yaml',
      operands: /^[\w.#-]+(\/[\w.-]+)*$/,
      most: command === 'gh repo view' ? 0 : 1,
      yes: [command, ...(command === 'gh repo view' ? [] : [`${command} 12`])],
      no: [
        `${command} -R other/repo`,
        `${command} --web`,
        `${command} -w`,
        `${command} https://github.com/other/repo/pull/1`,
        'gh pr comment 1 --body x',
        'gh run rerun 1',
      ],
    }),
  ),
];

/**
 * Programs that say which version they are and do nothing else when they are asked; a tool of the project (`own`) is one, whatever it
 * is called.
 */
export const saysVersion = (program: string, [option, ...more]: readonly string[], own: boolean): boolean =>
  more.length === 0 &&
  (versioned.test(program) || (own && option === '--version')) &&
  (option === '--version' ||
    (option === 'version' && /^(kubectl|helm|deno|gh|uv|zig|buf|golangci-lint|mise)$/.test(program)) ||
    (option === '-V' && /^(python3?|rustc|cargo|ruff|uv|rustup)$/.test(program)) ||
    (option === '-v' && /^(node|npm|npx|ruby|php|yarn|pnpm|bundle|gem|rails|mvn|gradle|perl|rubocop)$/.test(program)) ||
    (option === '-version' && /^(java|javac|kotlinc?)$/.test(program)));
