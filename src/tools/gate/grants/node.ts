import type { Row } from './row.ts';
import { fileTool, handsOnSettings } from './tool.ts';

const typescript =
  '--pretty --pretty=true|false --skipLibCheck --skipLibCheck=true|false --incremental --incremental=false --strict --listFiles --listFilesOnly --showConfig --diagnostics --extendedDiagnostics --explainFiles --noErrorTruncation --watch=false';

export const nodeRows: readonly Row[] = [
  fileTool('bun test', '-t= --test-name-pattern= --bail --bail=# --coverage --timeout=# --rerun-each=# --only --todo', {
    why: handsOnSettings,
    operands: 'tests',
    yes: ['bun test src/a.test.ts -t x'],
    no: ['bun test ./deploy.ts', 'bun test --preload ./evil.ts', 'bun test -u', 'bun test /etc/x.test.ts'],
  }),
  fileTool(
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
    fileTool(
      command,
      `${command === 'vitest' ? '--run ' : ''}-t= --testNamePattern= --reporter=default|verbose|dot|json|tap|tap-flat|basic|junit|hanging-process|github-actions --[no-]coverage --coverage.enabled=true|false --coverage.reporter=text|text-summary|json|html|lcov --bail=# --silent --silent=true|false|passed-only --project= --passWithNoTests --[no-]color --changed --shard= --retry=# --testTimeout=# --hookTimeout=# --typecheck --root=<folder> -r=<folder> --no-file-parallelism --maxWorkers= --allowOnly --logHeapUsage --run --sequence.seed=# --hideSkippedTests`,
      {
        why: handsOnSettings,
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
  fileTool(
    'mocha',
    '-g= --grep= -f= --fgrep= -i --invert -b --bail -R=spec|dot|nyan|tap|json|list|min|progress --reporter=spec|dot|nyan|tap|json|list|min|progress -t=# --timeout=# -s=# --slow=# --exit --parallel -p -j=# --jobs=# --recursive --forbid-only --forbid-pending --[no-]color --full-trace --retries=# --check-leaks --dry-run --diff --extension=',
    {
      operands: 'tests',
      yes: ['mocha', "mocha 'test/**/*.test.js' --grep x", 'mocha test/a.js -R dot'],
      no: [
        'mocha scripts/deploy.js',
        'mocha deploy',
        "mocha '**/*.js'",
        'mocha -r ./evil.js',
        'mocha --config evil.json',
        'mocha --reporter ./evil.js',
        'mocha --ui ./evil.js',
        'mocha ../x.js',
        'mocha --file /x.js',
      ],
    },
  ),
  fileTool(
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
    fileTool(command, `--noEmit -p=<folder> --project=<folder> ${typescript}`, {
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
  fileTool('tsc', typescript, {
    operands: undefined,
    yes: ['tsc', 'tsc --pretty'],
    no: ['tsc --init', 'tsc --outDir /x', 'tsc -w'],
  }),
  ...['tsc -b', 'tsc --build', 'vue-tsc -b', 'vue-tsc --build'].map((command) =>
    fileTool(command, `-d --dry -v --verbose -f --force --noEmit --stopBuildOnErrors ${typescript}`, {
      operands: 'folders',
      readsArguments: true,
      yes: [`${command}`, `${command} packages/api --verbose`, `${command} --dry`],
      no: [`${command} @evil.txt`, `${command} ../x`, `${command} --clean`, `${command} --outDir /x`],
    }),
  ),
  fileTool(
    'eslint',
    '--ext= --max-warnings=# --quiet --[no-]cache --cache=false|true -f=stylish|compact|unix|json|html|visualstudio|tap|checkstyle|junit --format=stylish|compact|unix|json|html|visualstudio|tap|checkstyle|junit --report-unused-disable-directives --report-unused-disable-directives-severity= --[no-]color --debug --no-error-on-unmatched-pattern --no-warn-ignored --ignore-pattern= --print-config=<path> --stats --no-inline-config --exit-on-fatal-error --no-fix --pass-on-no-patterns --concurrency= --rule=<rule>',
    {
      configured: true,
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
        "eslint --rule 'x: [2]' src",
      ],
    },
  ),
  fileTool(
    'prettier',
    '-c --check -l --list-different -u --ignore-unknown --[no-]color --log-level=silent|error|warn|log|debug --loglevel=silent|error|warn|log|debug --no-error-on-unmatched-pattern --[no-]cache',
    {
      configured: true,
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
    fileTool(
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
  fileTool(
    'stylelint',
    '-f=string|compact|json|tap|unix|verbose --formatter=string|compact|json|tap|unix|verbose -q --quiet --max-warnings=# --allow-empty-input --[no-]color --cache',
    {
      configured: true,
      yes: ["stylelint 'src/**/*.css'"],
      no: [
        'stylelint --fix src',
        'stylelint --config evil.js src',
        'stylelint --custom-formatter ./evil.js src',
        'stylelint -o /x src',
      ],
    },
  ),
  fileTool(
    'vite build',
    '--mode=<name> -m=<name> -l=info|warn|error|silent --logLevel=info|warn|error|silent --sourcemap --minify',
    {
      why: handsOnSettings,
      operands: undefined,
      yes: ['vite build', 'vite build --mode production'],
      no: [
        'vite build --envDir ..',
        'vite build --envPrefix=X',
        'vite build --outDir /x',
        'vite build -c evil.ts',
        'vite build ../x',
        'vite',
      ],
    },
  ),
  ...['next lint', 'astro check', 'svelte-check'].map((command) =>
    fileTool(command, '--debug --quiet --no-lint --output=human|human-verbose|machine', {
      operands: undefined,
      yes: [command],
      no: [`${command} --config evil.js`, `${command} ../x`],
    }),
  ),
];
