import type { Row } from './row.ts';
import { handsOnSettings } from './tool.ts';

/** What runs as the project's own script: its name says what it does, and options that all of the usual runners know may vary. */
const scriptOptions =
  '-t= --testNamePattern= --testPathPattern= --testPathPatterns= -g= --grep= -k= --ci --[no-]coverage --coverage=true|false --coverageReporters=text|text-summary|json|lcov|json-summary|clover ' +
  '--coverage.enabled=true|false --verbose -v --silent --watch=false --watchAll=false --runInBand -i --bail --bail=# --maxWorkers=# --forceExit --detectOpenHandles --passWithNoTests ' +
  '--reporter=default|verbose|dot|json|tap|basic|spec|min|list|line|junit|compact|summary|hanging-process --reporters=default|summary|verbose|dot|json ' +
  '--format=stylish|unix|compact|json|checkstyle|junit|tap|visualstudio|string|verbose|documentation|progress -f=stylish|unix|compact|json|d|p --max-warnings=# --quiet -q --ext= --list --listTests --run ' +
  '--[no-]color --retries=# --retry=# --timeout=# --testTimeout=# --maxfail=# --max-failures=# --noEmit --pretty --pretty=true|false --shard= --no-cache --cache=false --no-fail-fast --exit --minify --sourcemap --mode=production|development|test --log-level=debug|info|warning|warn|error|silent';
/** Of `npm` itself. */
export const npmOptions =
  '-w=<name> --workspace=<name> --workspaces -ws --if-present --include-workspace-root -s --silent --foreground-scripts --loglevel=silent|error|warn|notice|info|verbose --no-update-notifier --[no-]color';

const script = (command: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  command,
  kind: 'checks',
  why: 'It runs a script of the project whose name says that it tests, checks or builds. What it is told may vary where every usual runner takes it for a name or a way to show results.',
  before: npmOptions,
  options: npmOptions,
  operands: 'names',
  rest: { options: scriptOptions, operands: 'names' },
  greedy: ['--reporters', '--coverageReporters'],
  secondShell: true,
  ...more,
});

export const nodeScriptRows: readonly Row[] = [
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
      why: handsOnSettings,
      before: '',
      options: '--skip-nx-cache --verbose',
      operands: /^\w[\w-]*$/,
      secondShell: true,
      least: 1,
      most: 1,
      yes: [`nx ${target} web`],
      no: [`nx ${target} web --config=evil.js`, 'nx', 'nx migrate latest', 'nx deploy web', 'nx release publish'],
    }),
  ),
];
