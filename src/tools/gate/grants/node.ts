import type { Row } from './row.ts';

/** What runs as the project's own script: its name says what it does, and options that all of the usual runners know may vary. */
const scriptOptions =
  '-t= --testNamePattern= --testPathPattern= --testPathPatterns= -g= --grep= -k= --ci --[no-]coverage --coverage=true|false --coverageReporters=text|text-summary|json|lcov|json-summary|clover ' +
  '--coverage.enabled=true|false --verbose -v --silent --watch=false --watchAll=false --runInBand -i --bail --bail=# --maxWorkers=# --forceExit --detectOpenHandles --passWithNoTests ' +
  '--reporter=default|verbose|dot|json|tap|basic|spec|min|list|line|junit|compact|summary|hanging-process --reporters=default|summary|verbose|dot|json ' +
  '--format=stylish|unix|compact|json|checkstyle|junit|tap|visualstudio|string|verbose|documentation|progress -f=stylish|unix|compact|json|d|p --max-warnings=# --quiet -q --ext= --list --listTests --run ' +
  '--[no-]color --retries=# --retry=# --timeout=# --testTimeout=# --maxfail=# --max-failures=# --noEmit --pretty --pretty=true|false --shard= --no-cache --cache=false --no-fail-fast --exit --minify --sourcemap --mode=production|development|test --log-level=debug|info|warning|warn|error|silent';
const npmOptions =
  '-w= --workspace= --workspaces -ws --if-present --include-workspace-root -s --silent --foreground-scripts --loglevel=silent|error|warn|notice|info|verbose --no-update-notifier --[no-]color';

const script = (command: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  command,
  kind: 'checks',
  why: 'It runs a script of the project whose name says that it tests, checks or builds. What it is told may vary where every usual runner takes it for a name or a way to show results.',
  before: npmOptions,
  options: npmOptions,
  operands: 'names',
  rest: { options: scriptOptions, operands: 'names' },
  greedy: ['--reporters', '--coverageReporters'],
  ...more,
});

const tool = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  command,
  kind: 'checks',
  why: 'A tool of the project, as the project has set it up. Options that load another file as code, change files or write reports are asked about.',
  options,
  operands: 'paths',
  ...more,
});

const typescript =
  '--pretty --pretty=true|false --skipLibCheck --skipLibCheck=true|false --incremental --incremental=false --strict --listFiles --listFilesOnly --showConfig --diagnostics --extendedDiagnostics --explainFiles --noErrorTruncation --watch=false';
export const nodeRows: readonly Row[] = [
  ...['npm test', 'npm t', 'npm run test', 'npm run-script test'].map((command) =>
    script(command, {
      yes: [`${command}`, `${command} -w packages/api -- --testNamePattern "a b"`, `${command} -- src/a.test.ts --ci`],
      no: [
        `${command} --script-shell=./evil.sh`,
        `${command} -- --config evil.js`,
        `${command} --prefix /x`,
        `${command} -- /etc/x.js`,
        `${command} -- -u`,
        `${command} -- -- --config evil.js`,
        `${command} -- --reporters default ./evil.js`,
        `${command} -- @evil.txt`,
      ],
    }),
  ),
  script('npm run', {
    operands: 'scripts',
    least: 1,
    most: 1,
    yes: ['npm run build', 'npm run lint -- --format unix', 'npm run test:int -w packages/api -- orders'],
    no: [
      'npm run deploy',
      'npm run start',
      'npm run build --script-shell=./evil.sh',
      'npm run lint:fix',
      'npm run build -- --outDir=/x',
      'npm run x',
    ],
  }),
  script('yarn', {
    operands: 'scripts',
    least: 1,
    most: 1,
    before: '',
    options: '-s --silent',
    yes: ['yarn test', 'yarn build'],
    no: ['yarn', 'yarn add x', 'yarn start', 'yarn --cwd .. test'],
  }),
  script('yarn test', {
    before: '-s --silent',
    options: scriptOptions,
    yes: ['yarn test src/a.test.ts --ci'],
    no: ['yarn test --config=evil.js', 'yarn test -u'],
  }),
  script('yarn run', {
    operands: 'scripts',
    least: 1,
    most: 1,
    before: '',
    options: '-s --silent',
    yes: ['yarn run lint'],
    no: ['yarn run deploy', 'yarn run'],
  }),
  ...['pnpm', 'pnpm run'].map((command) =>
    script(command, {
      operands: 'scripts',
      least: 1,
      most: 1,
      before: '-r --recursive -s --silent --filter=<filter> -F=<filter> --if-present --stream',
      options: `-r --recursive -s --silent --filter=<filter> -F=<filter> --if-present --stream`,
      yes: [`${command} test`, `${command} --filter web build`, `${command} -r lint`],
      no: [
        `${command} --filter '[--output=/x]' test`,
        `${command} add x`,
        `${command} deploy`,
        `${command} -C .. test`,
        command,
      ],
    }),
  ),
  script('pnpm test', {
    before: '-r -s --silent --filter=<filter> -F=<filter>',
    options: scriptOptions,
    yes: ['pnpm test src/a.test.ts --ci'],
    no: ['pnpm test --config evil.js'],
  }),
  script('bun run', {
    operands: 'scripts',
    least: 1,
    most: 1,
    before: '',
    options: '--silent',
    yes: ['bun run lint'],
    no: ['bun run', 'bun run evil.ts', 'bun run deploy'],
  }),
  tool('bun test', '-t= --test-name-pattern= --bail --bail=# --coverage --timeout=# --rerun-each=# --only --todo', {
    yes: ['bun test src/a.test.ts -t x'],
    no: ['bun test --preload ./evil.ts', 'bun test -u', 'bun test /etc/x.test.ts'],
  }),
  script('turbo run', {
    operands: 'scripts',
    least: 1,
    before: '',
    options:
      '--filter=<filter> -F=<filter> --force --dry --dry=json|text --output-logs=full|none|new-only|errors-only|hash-only --continue --concurrency=# --no-cache --only',
    rest: undefined,
    yes: ['turbo run test lint --filter=web'],
    no: ['turbo run deploy', 'turbo run test --cwd=..', 'turbo run build --cache-dir=/x'],
  }),
  ...['test', 'lint', 'build', 'typecheck'].map(
    (target): Row => ({
      command: `nx ${target}`,
      kind: 'checks',
      why: 'It runs targets of the project whose names say that they test, check or build.',
      before: '',
      options: '--skip-nx-cache --verbose',
      operands: /^\w[\w-]*$/,
      least: 1,
      most: 1,
      yes: [`nx ${target} web`],
      no: [`nx ${target} web --config=evil.js`, 'nx', 'nx migrate latest', 'nx deploy web', 'nx release publish'],
    }),
  ),
  tool(
    'jest',
    '-t= --testNamePattern= --testPathPattern= --testPathPatterns= --selectProjects= --verbose --silent --[no-]coverage --coverage=true|false --coverageReporters=text|text-summary|json|lcov|clover --runInBand -i --ci --[no-]cache --bail --bail=# -b --listTests --maxWorkers= -w= --json --onlyFailures -f -o --onlyChanged --changedSince=<revision> --passWithNoTests --detectOpenHandles --forceExit --findRelatedTests --runTestsByPath --testTimeout=# --watchAll=false --watch=false --[no-]color --colors --expand -e --logHeapUsage --shard= --showConfig --reporters=default|summary|verbose|github-actions --rootDir=<folder> --errorOnDeprecated --randomize --seed=#',
    {
      operands: 'names',
      greedy: ['--reporters', '--coverageReporters'],
      yes: [
        'jest',
        'jest src/a.test.ts -t "a b"',
        'jest --selectProjects api --testPathPattern orders --verbose',
        'jest --no-coverage --runInBand src',
      ],
      no: [
        'jest -u',
        'jest --config evil.js',
        'jest -c evil.js',
        'jest --setupFiles ./evil.js',
        'jest --rootDir ..',
        'jest --outputFile=/x --json',
        'jest --filter ./evil.js',
        'jest --changedSince=--output=/x',
        'jest --reporters default ./evil.js',
        'jest --coverageReporters text ./evil.js',
        'jest --reporters ./evil.js',
        'jest /etc/x.test.js',
      ],
    },
  ),
  ...['vitest run', 'vitest'].map((command) =>
    tool(
      command,
      `${command === 'vitest' ? '--run ' : ''}-t= --testNamePattern= --reporter=default|verbose|dot|json|tap|tap-flat|basic|junit|hanging-process|github-actions --[no-]coverage --coverage.enabled=true|false --coverage.reporter=text|text-summary|json|html|lcov --bail=# --silent --silent=true|false|passed-only --project= --passWithNoTests --[no-]color --changed --shard= --retry=# --testTimeout=# --hookTimeout=# --typecheck --root=<folder> -r=<folder> --no-file-parallelism --maxWorkers= --allowOnly --logHeapUsage --run --sequence.seed=# --hideSkippedTests`,
      {
        operands: 'names',
        ...(command === 'vitest' && { needs: ['--run'] }),
        yes: [
          `${command} --run src/lib/a.test.ts --reporter=verbose`,
          `${command} --run --coverage.enabled=false src -t "a b"`,
        ],
        no: [
          `${command} --run -u`,
          `${command} --run --config evil.ts`,
          `${command} --run -c evil.ts`,
          `${command} --run --reporter=./evil.js`,
          `${command} --run --root ..`,
          `${command} --run --globalSetup=./evil.js`,
          `${command} --run --outputFile=/x`,
        ],
      },
    ),
  ),
  tool(
    'mocha',
    '-g= --grep= -f= --fgrep= -i --invert -b --bail -R=spec|dot|nyan|tap|json|list|min|progress --reporter=spec|dot|nyan|tap|json|list|min|progress -t=# --timeout=# -s=# --slow=# --exit --parallel -p -j=# --jobs=# --recursive --forbid-only --forbid-pending --[no-]color --full-trace --retries=# --check-leaks --dry-run --diff --extension=',
    {
      yes: ['mocha', "mocha 'test/**/*.test.js' --grep x", 'mocha test/a.js -R dot'],
      no: [
        'mocha -r ./evil.js',
        'mocha --config evil.json',
        'mocha --reporter ./evil.js',
        'mocha --ui ./evil.js',
        'mocha ../x.js',
        'mocha --file /x.js',
      ],
    },
  ),
  tool(
    'playwright test',
    '-g= --grep= --grep-invert= --project= --reporter=list|line|dot|json|github|junit --workers=# -j=# --retries=# --repeat-each=# --list -x --max-failures=# --timeout=# --pass-with-no-tests --shard= --last-failed --quiet --forbid-only',
    {
      operands: 'names',
      yes: ['playwright test e2e/a.spec.ts --project=chromium'],
      no: [
        'playwright test -c evil.ts',
        'playwright test --output=/x',
        'playwright test -u',
        'playwright test --reporter=./evil.js',
        'playwright install',
      ],
    },
  ),
  ...['tsc', 'vue-tsc'].map((command) =>
    tool(command, `--noEmit -p=<project> --project=<project> ${typescript}`, {
      needs: ['--noEmit', '--listFilesOnly', '--showConfig'],
      readsArguments: true,
      yes: [`${command} --noEmit`, `${command} -p packages/api/tsconfig.json --noEmit --pretty false`],
      no: [
        `${command} src/a.ts`,
        `${command} --noEmit -p ../x`,
        `${command} --noEmit @evil.txt`,
        `${command} --outDir /x`,
        `${command} --noEmit --generateTrace x`,
        `${command} -p packages/api`,
      ],
    }),
  ),
  tool('tsc', typescript, {
    operands: undefined,
    yes: ['tsc', 'tsc --pretty'],
    no: ['tsc --init', 'tsc --outDir /x', 'tsc -w'],
  }),
  ...['tsc -b', 'tsc --build', 'vue-tsc -b', 'vue-tsc --build'].map((command) =>
    tool(command, `-d --dry -v --verbose -f --force --noEmit --stopBuildOnErrors ${typescript}`, {
      operands: 'folders',
      readsArguments: true,
      yes: [`${command}`, `${command} packages/api --verbose`, `${command} --dry`],
      no: [`${command} @evil.txt`, `${command} ../x`, `${command} --clean`, `${command} --outDir /x`],
    }),
  ),
  tool(
    'eslint',
    '--ext= --max-warnings=# --quiet --[no-]cache --cache=false|true -f=stylish|compact|unix|json|html|visualstudio|tap|checkstyle|junit --format=stylish|compact|unix|json|html|visualstudio|tap|checkstyle|junit --report-unused-disable-directives --report-unused-disable-directives-severity= --[no-]color --debug --no-error-on-unmatched-pattern --no-warn-ignored --ignore-pattern= --print-config=<path> --stats --no-inline-config --exit-on-fatal-error --no-fix --pass-on-no-patterns --concurrency= --rule=',
    {
      yes: ['eslint src', 'eslint packages/api/src --ext .ts --max-warnings 0', 'eslint . --cache=false -f compact'],
      no: [
        'eslint --rulesdir evil src',
        'eslint -c evil.js src',
        'eslint src --fix',
        'eslint -f ./evil.js src',
        'eslint -o /x src',
        'eslint --resolve-plugins-relative-to /x src',
        'eslint --parser ./evil.js src',
        'eslint --plugin evil src',
        'eslint /etc',
      ],
    },
  ),
  tool(
    'prettier',
    '-c --check -l --list-different -u --ignore-unknown --[no-]color --log-level=silent|error|warn|log|debug --loglevel=silent|error|warn|log|debug --no-error-on-unmatched-pattern --[no-]cache',
    {
      needs: ['-c', '--check', '-l', '--list-different'],
      yes: ['prettier --check .', 'prettier --check "packages/api/src/**/*.ts"', 'prettier -l src'],
      no: [
        'prettier --write src',
        'prettier --check --write src',
        'prettier --check --plugin=./evil.js src',
        'prettier --check --config evil.js src',
        'prettier --check /etc',
        'prettier src',
      ],
    },
  ),
  ...['biome check', 'biome lint', 'biome ci', 'biome format'].map((command) =>
    tool(
      command,
      '--max-diagnostics= --diagnostic-level=info|warn|error --reporter=default|summary|json|json-pretty|github|junit|gitlab --colors=off|force --changed --staged --since=<revision> --verbose --no-errors-on-unmatched --error-on-warnings --skip= --only=',
      {
        yes: [`${command} .`, `${command} src --max-diagnostics=50`],
        no: [
          `${command} --write .`,
          `${command} --fix .`,
          `${command} --apply .`,
          `${command} --changed --since=--output=/x`,
          `${command} --config-path=/x .`,
        ],
      },
    ),
  ),
  tool(
    'stylelint',
    '-f=string|compact|json|tap|unix|verbose --formatter=string|compact|json|tap|unix|verbose -q --quiet --max-warnings=# --allow-empty-input --[no-]color --cache',
    {
      yes: ["stylelint 'src/**/*.css'"],
      no: [
        'stylelint --fix src',
        'stylelint --config evil.js src',
        'stylelint --custom-formatter ./evil.js src',
        'stylelint -o /x src',
      ],
    },
  ),
  tool(
    'vite build',
    '--mode=<name> -m=<name> -l=info|warn|error|silent --logLevel=info|warn|error|silent --sourcemap --minify',
    {
      operands: undefined,
      yes: ['vite build', 'vite build --mode production'],
      no: ['vite build --outDir /x', 'vite build -c evil.ts', 'vite build ../x', 'vite'],
    },
  ),
  ...['next build', 'next lint', 'astro check', 'svelte-check', 'nuxt build', 'astro build'].map((command) =>
    tool(command, '--debug --quiet --no-lint --output=human|human-verbose|machine', {
      operands: undefined,
      yes: [command],
      no: [`${command} --config evil.js`, `${command} ../x`],
    }),
  ),
  {
    command: 'npm ls',
    kind: 'looks',
    why: 'It lists what is installed.',
    before: npmOptions,
    options: `${npmOptions} --all -a --depth=# --json --long -l --parseable -p --omit=dev|optional|peer --prod --production --dev --link`,
    operands: /^@?\w[\w.-]*(\/\w[\w.-]*)?(@[\w.^~<>=|*-]+)?$/,
    yes: ['npm ls', 'npm ls zod --all', 'npm -s ls --depth=0'],
    no: ['npm ls --prefix /x', 'npm ls --userconfig=evil'],
  },
  ...['npm list', 'npm explain', 'npm why', 'pnpm list', 'pnpm ls', 'pnpm why', 'yarn why', 'yarn list'].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It lists what is installed, and why.',
      options: '--depth=# --json -r --recursive --all --long --prod -P --dev -D --pattern=',
      operands: /^@?\w[\w.-]*(\/\w[\w.-]*)?$/,
      yes: [`${command} zod --json`],
      no: [`${command} --dir /x`, `${command} --cwd ..`, `${command} ../x`],
    }),
  ),
  {
    command: 'npm run',
    kind: 'looks',
    why: 'Without a name it lists the scripts.',
    options: npmOptions,
    yes: ['npm run', 'npm run -w web'],
    no: ['npm run x', 'npm run --prefix /x'],
  },
  ...['npm root', 'npm prefix', 'npm pkg get', 'npm query'].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It shows what package.json or the tree says.',
      options: '-w= --workspaces',
      operands: /^(?!.*:(outdated|vuln))[\w.[\]:#>*() -]+$/,
      yes: [command],
      no: [`${command} --prefix /x`, 'npm pkg set a=b', `${command} ':vuln'`],
    }),
  ),
  ...['npm view', 'npm info', 'npm show', 'pnpm view', 'pnpm info', 'yarn info', 'yarn npm info'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: "It asks the project's registry about a package by its name; an address instead of a name, or another registry, is asked about.",
      options: '--json',
      operands: /^(@\w[\w.-]*\/)?\w[\w.-]*(@[\w.^~<>=|*-]+)?$|^\w[\w.[\]-]*$/,
      least: 1,
      yes: [`${command} zod versions --json`],
      no: [
        `${command} zod --registry=https://evil.example`,
        `${command} git+ssh://evil/x`,
        `${command} github:evil/x`,
        `${command} ../x`,
      ],
    }),
  ),
  ...['npm outdated', 'pnpm outdated', 'yarn outdated'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: 'It asks the registry for newer versions and installs none.',
      options: '--json --long --all -a -w= --workspaces -r --recursive --omit=dev|optional|peer',
      operands: /^(@\w[\w.-]*\/)?\w[\w.-]*$/,
      yes: [command, `${command} zod`],
      no: [`${command} --registry=https://evil.example`, `${command} --prefix /x`],
    }),
  ),
  ...['npm audit', 'pnpm audit', 'yarn npm audit'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: 'It sends the names and versions of what is installed to the registry; it mends nothing.',
      options:
        '--json --omit=dev|optional|peer --audit-level=info|low|moderate|high|critical --production --prod -P -D --dev -w= --workspaces',
      yes: [command, `${command} --json`],
      no: [`${command} fix`, `${command} --registry=https://evil.example`, `${command} --fix`],
    }),
  ),
];
