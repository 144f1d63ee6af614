import assert from 'node:assert/strict';
import { chmodSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { analyzeCommand } from '../../../src/tools/commands/analyzeCommand.ts';
import { gitPathSelectsSecrets } from '../../../src/tools/commands/gitPaths.ts';
import {
  isBuildPresetName,
  isBuildTarget,
  isCheckScriptName,
  isHarmlessGradleTask,
} from '../../../src/tools/commands/grants/checkNames.ts';
import { type GrantRow, matchGrantRow, parseGrantRowArguments } from '../../../src/tools/commands/grants/grantRow.ts';
import { commandGrantRows } from '../../../src/tools/commands/grants/grantTable.ts';
import { examplesOf } from '../../support/grantExamples.ts';
import { useSystemPath } from '../../support/systemPath.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

/** Words of an example without quotes or with simple ones. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));

const isCovered = (row: GrantRow, words: readonly string[]): boolean => {
  const begun = parseGrantRowArguments(row, words);
  return begun !== undefined && matchGrantRow(row, begun.args, begun) !== undefined;
};

/** An option with its value in all ways to write both. */
function spellings(name: string, value: string): string[][] {
  const isLong = name.startsWith('--');
  return [[name, value], [`${name}=${value}`], ...(isLong ? [] : [[name + value], [`${name}=${value}`]])];
}

/**
 * The example in other spellings and orders: each option with its value, behind the command, in front of its last word, and at the end.
 * Nothing for examples that are not about an option of this row.
 */
function* variants(row: GrantRow, example: string): Generator<string[]> {
  const words = wordsOf(example);
  const command = row.command.split(' ');
  if (command.some((word, at) => words[at] !== word)) return;
  const args = words.slice(command.length);
  for (const [at, word] of args.entries()) {
    if (!/^-./.test(word) || word === '--') continue;
    const [, name, attached] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const next = args[at + 1];
    if (name === undefined || row.greedy?.includes(name)) continue;
    const value = attached ?? (next !== undefined && !next.startsWith('-') ? next : undefined);
    const isNext = attached === undefined && value !== undefined;
    const others = args.filter((_, index) => index !== at && !(isNext && index === at + 1));
    const ways = value === undefined ? [[name]] : spellings(name, value);
    for (const way of ways) {
      yield [...command, ...way, ...others];
      yield [...command, ...others, ...way];
      if (command.length > 1) yield [command[0]!, ...way, ...command.slice(1), ...others];
    }
  }
}

// What an example says of an option holds for each way to write it, wherever it stands.
describe('an option that a row leaves out', () => {
  it('is left out in all spellings and places', () => {
    const open: string[] = [];
    let tried = 0;
    for (const row of commandGrantRows)
      for (const example of examplesOf(row).no) {
        // The same command with the option's value for an operand may be another, harmless one.
        if (isCovered(row, wordsOf(example)) || example.includes('@')) continue; // only the disk, or the first letter, says no
        for (const words of variants(row, example)) {
          tried += 1;
          if (isCovered(row, words)) open.push(words.join(' '));
        }
      }
    assert.ok(tried > 5000, `${tried}`);
    assert.deepEqual([...new Set(open)], []);
  });
});

const shells = [
  '$(touch x)',
  '`touch x`',
  'a;b',
  'a|b',
  'a&b',
  'a>b',
  '"a',
  "a'b",
  'a\\b',
  'a\nb',
  '*',
  '{a,b}',
  '!x',
  '#x',
  '~',
  'a -x',
];

describe('what a second shell reads', () => {
  it('is text in every argument of a row that runs one', () => {
    const those = commandGrantRows.filter(({ secondShell }) => secondShell);
    assert.ok(those.length > 40, `${those.length}`);
    for (const row of those)
      for (const example of examplesOf(row).yes) {
        const words = wordsOf(example);
        if (!parseGrantRowArguments(row, words)) continue; // through a launcher
        for (const shell of shells)
          for (const tail of [[shell], ['--', shell], ['--', '-t', shell], ['-t', shell], [`--filter=${shell}`]])
            assert.equal(isCovered(row, [...words, ...tail]), false, [...words, ...tail].join(' '));
      }
  });
});

describe('arguments of a program that a launcher starts', () => {
  let workspace: TemporaryWorkspace;
  useSystemPath();
  before(async () => {
    workspace = await temporaryWorkspace({
      'package.json': '{ "scripts": { "jest": "jest" } }',
      'node_modules/.bin/jest': '',
      '.venv/bin/pytest': '',
    });
  });
  after(() => workspace.cleanup());
  const isGranted = async (command: string): Promise<boolean> => {
    const { parts } = await analyzeCommand(workspace.roots, workspace.root, command);
    return parts?.some(({ row }) => row) ?? false;
  };
  const shell = ["'$(touch x)'", "'`touch x`'", "'a\\b'", "'a\"b'", "'$x'", '"$(cat package.json)"'];
  const launchers: [start: string, option: string, throughShell: boolean][] = [
    ['npx jest', '-t', true],
    ['npm exec jest', '-t', true],
    ['pnpm jest', '-t', true],
    ['yarn jest', '-t', true],
    ['pdm run pytest', '-k', true],
    ['pipenv run pytest', '-k', true],
    ['pnpm exec jest', '-t', false],
    ['node_modules/.bin/jest', '-t', false],
    ['uv run pytest', '-k', false],
  ];
  for (const [start, option, throughShell] of launchers)
    it(`${start} ${throughShell ? 'gets nothing that is more than text between quotes' : 'gets any text'}`, async () => {
      for (const text of ["'a b'", "'adds (1+2); *'", '"it\'s"'])
        assert.ok(await isGranted(`${start} ${option} ${text}`), text);
      for (const text of shell) assert.equal(await isGranted(`${start} ${option} ${text}`), !throughShell, text);
    });
});

describe('what is appended to a script', () => {
  let workspace: TemporaryWorkspace;
  useSystemPath();
  const scripts = {
    test: 'tsc -p . && mocha --recursive',
    'test:unit': 'node --import tsx --test',
    'test:int': 'cross-env CI=1 npm run test:unit --',
    'test:e2e': 'nyc --reporter=text node_modules/.bin/mocha',
    'test:web': 'jest --ci',
    'test:slow': 'node --experimental-vm-modules node_modules/jest/bin/jest.js',
    'test:short': 'bash -c',
    'test:all': 'npm run test:all',
    lint: 'eslint .',
    build: 'node scripts/build.js',
    check: 'node',
    'check:js': './node_modules/mocha/bin/mocha.js',
    'check:ts': 'ts-mocha -p tsconfig.json',
    'check:v10': 'npx mocha@10',
    'check:web': '(cd web && npm run lint) & _mocha',
    'test:fast': './scripts/fast.sh',
    'lint:css': 'npm run lint -- --quiet',
  };
  before(async () => {
    workspace = await temporaryWorkspace({
      'package.json': JSON.stringify({ scripts }),
      'composer.json': JSON.stringify({ scripts: { test: ['@lint', 'phpunit'], lint: 'phpcs', check: '@php' } }),
      'src/a.ts': '',
    });
  });
  after(() => workspace.cleanup());
  const cases: [command: string, expect: 'granted' | 'asked'][] = [
    ['npm test -- test/a.test.ts', 'granted'],
    ['npm test -- scripts/deploy.js', 'asked'],
    ['npm test scripts/deploy.js', 'asked'],
    ['npm test -- -g orders', 'granted'],
    ['cd src && npm test -- ../scripts/deploy.js', 'asked'],
    ['npm run test -- scripts/deploy.js', 'asked'],
    ['pnpm test scripts/deploy.js', 'asked'],
    ['yarn test scripts', 'asked'],
    ['npm run test:unit -- scripts/deploy.js', 'asked'],
    ['npm run test:unit -- test/a.test.ts', 'granted'],
    ['npm run test:int -- scripts/deploy.js', 'asked'],
    ['npm run test:e2e -- scripts/deploy.js', 'asked'],
    ['npm run test:short -- reboot', 'asked'],
    ['npm run check -- scripts/deploy.js', 'asked'],
    ['npm run check -- --run deploy', 'asked'],
    ...['js', 'ts', 'v10', 'web'].flatMap((name): typeof cases => [
      [`npm run check:${name} -- scripts/deploy.js`, 'asked'],
      [`npm run check:${name} -- scripts`, 'asked'],
      [`npm run check:${name} -- test/a.test.ts`, 'granted'],
    ]),
    ['npm run test:fast -- orders', 'granted'],
    ['npm run test:fast -- scripts/deploy.js', 'asked'],
    ['npm run lint:css -- src/a.ts', 'granted'],
    ['npm run build -- src/a.ts', 'asked'],
    ['npm run test:all -- src', 'granted'],
    ['npm run test:web -- orders', 'granted'],
    ['npm run test:slow -- src/orders', 'granted'],
    ['npm run lint -- src/a.ts', 'granted'],
    ['npm run build -- web', 'granted'],
    ['npm run lint -w web -- orders', 'granted'],
    ['npm test -w web -- scripts/deploy.js', 'asked'],
    ['pnpm -r run test -- scripts/deploy.ts', 'asked'],
    ['composer test -- tests/ATest.php', 'granted'],
    ['composer test -- scripts/deploy.php', 'asked'],
    ['composer lint -- src', 'granted'],
    ['composer run check -- scripts/deploy.php', 'asked'],
  ];
  for (const [command, expect] of cases)
    it(`${command}: ${expect}`, async () => {
      const { parts } = await analyzeCommand(workspace.roots, workspace.root, command);
      assert.equal(parts?.some(({ row }) => row) ? 'granted' : 'asked', expect);
    });
});

describe('the name of a script, target or task', () => {
  const cases: [is: (name: string) => boolean, yes: string, no: string][] = [
    [
      isCheckScriptName,
      'test lint build test:unit test:int lint:css build:web ci e2e typecheck format:check fmt-check prettier:check check:types test-e2e cov verify',
      'format prettier fmt black:check test:no-watch test:wipe build:ship ci:rollout check:e2e-live verify:email build:prod test:update lint:fix test:watch deploy start x build:release test:reset_db spec:reset_db test: all:production build:docker validate:billing check:payments',
    ],
    [
      isBuildTarget,
      'all test check lint build docs unit_tests parser_test core-bench src/a.o lib/liba.so',
      'format erase provision migrate run wipe seed burn-efuse release debugserver install clean flash_test erase_tests test-package drop_test ../x.o /x.o -x.o server src/install',
    ],
    [
      isHarmlessGradleTask,
      'test :core:test check integrationTest testDebugUnitTest compileTestKotlin assembleDebug assembleRelease checkstyleMain jacocoTestReport spotlessCheck koverVerify',
      'unit integrationReport compile verifyAndPromote validateAndBill assembleRollout testWipe checkoutRelease connectedAndroidTest installDebug spotlessApply testAll buildAndPush deployTest flywayMigrate publish checkIn compilePrices',
    ],
    [
      isBuildPresetName,
      'debug release ci linux-gcc-debug default x64-release coverage',
      'deploy flash ../x prod-deploy upload',
    ],
  ];
  for (const [is, yes, no] of cases) {
    it(`${is.name} takes ${yes}`, () =>
      assert.deepEqual(
        yes.split(' ').filter((name) => !is(name)),
        [],
      ));
    it(`${is.name} leaves out ${no}`, () => assert.deepEqual(no.split(' ').filter(is), []));
  }
});

describe('a glob of Git', () => {
  it('is left out when it may mean a secret', () => {
    const secret = [
      '.en?',
      '*env',
      '.e[n]v',
      '*.pem',
      '.e*',
      'id_*',
      '*.k?y',
      'conf/*',
      '[.]env',
      '.ssh/*',
      '*rc',
      '.\\env',
      '.env.l*',
    ];
    assert.deepEqual(
      secret.filter((glob) => !gitPathSelectsSecrets(glob)),
      ['conf/*'],
    );
    assert.deepEqual(['*.ts', 'src/*.snap', 'src/**/*.test.tsx', 'docs/*.md'].filter(gitPathSelectsSecrets), []);
  });
});

describe('a folder with a configuration of its own', () => {
  let workspace: TemporaryWorkspace;
  useSystemPath();
  before(async () => {
    workspace = await temporaryWorkspace({
      '.eslintrc.json': '{}',
      'src/a.ts': '',
      'docs/x/a.ts': '',
      'docs/x/.eslintrc.js': '',
      'docs/x/deep/b.ts': '',
      'docs/y/package.json': '{ "prettier": {} }',
      'docs/y/a.ts': '',
      'docs/z/package.json': '{ "devDependencies": { "prettier": "3" } }',
      'docs/z/a.ts': '',
      'docs/s/.stylelintrc.cjs': '',
      'docs/r/.rubocop.yml': '',
      'docs/m/.markdownlint-cli2.cjs': '',
      'docs/d/a.csproj': '',
      'node_modules/.bin/eslint': '',
      '.gitignore': 'out/\n*.cov\n/bin\n',
      'bin/setup': '',
      'dist/setup': '',
      'out/a': '',
    });
    chmodSync(paths.join(workspace.root, 'node_modules/.bin/eslint'), 0o755);
    symlinkSync('../docs/x', paths.join(workspace.root, 'src/linked'));
  });
  after(() => workspace.cleanup());
  const cases: [command: string, folders: string | undefined][] = [
    ['eslint src', '.'],
    ['eslint docs/x/a.ts', '. docs/x'],
    ['eslint docs/x/deep/b.ts', '. docs/x'],
    ['eslint src docs/x', '. docs/x'],
    ['npx eslint docs/x', '. docs/x'],
    ['eslint src/linked/a.ts', '. docs/x'],
    ["eslint 'docs/x/**/*.ts'", '. docs/x'],
    ['cd docs/x && eslint a.ts', 'docs/x'],
    ['cd docs/x && eslint ../../src', 'docs/x .'],
    ['prettier --check docs/y/a.ts', '. docs/y'],
    ['prettier --check docs/z/a.ts', '.'],
    ['stylelint docs/s', '. docs/s'],
    ['rubocop docs/r', '. docs/r'],
    ['markdownlint-cli2 docs/m', '. docs/m'],
    ['dotnet build docs/d/a.csproj', '. docs/d'],
    ['dotnet test docs/d', '. docs/d'],
    ['go build -o=bin/fresh', '.'],
    ['go build -o=bin/setup', '.'],
    ['go build -o=out/a', '.'],
    ['go build -o=dist/setup', undefined],
    ['go test -coverprofile=dist/setup', undefined],
  ];
  for (const [command, expected] of cases)
    it(`${command} needs a rule in ${expected ?? 'no folder, for it is asked about'}`, async () => {
      const { parts } = await analyzeCommand(workspace.roots, workspace.root, command);
      const [part] = parts?.filter(({ reads }) => !reads) ?? [];
      assert.equal(part?.row ? part.folders.join(' ') : undefined, expected);
    });
});
