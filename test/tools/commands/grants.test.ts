import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { PermissionRule, ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import { analyzeCommand } from '../../../src/tools/commands/analyzeCommand.ts';
import { matchGrantRow } from '../../../src/tools/commands/grants/grantRow.ts';
import { commandGrantRows } from '../../../src/tools/commands/grants/grantTable.ts';
import { alwaysAllowRuleChoices, formatRuleCoverage, summarizeRuleCoverage } from '../../../src/tools/policy/rules.ts';
import { days, play } from '../../support/day.ts';
import { examples, examplesOf, storedExamples } from '../../support/grantExamples.ts';
import { useSystemPath } from '../../support/systemPath.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

let workspace: TemporaryWorkspace;
before(async () => {
  workspace = await temporaryWorkspace({
    'README.md': '# hi\n',
    'package.json': '{ "workspaces": ["packages/*"] }',
    '.env': 'KEY=CANARY\n',
    'src/a.ts': '',
    'src/a.cpp': '',
    'tests/test_a.py': '',
    'coverage.out': '',
    '.gitignore': 'coverage.out\nbin/\n',
    'bin/server': '',
    'bin/git': '',
    'build/a.txt': '',
    'build/debug/tests/strand_tests': '',
    'manage.py': '',
    'shop/__init__.py': '',
    'evil.sh': '',
    'go.mod': 'module a\n',
    'internal/store/a.go': '',
    'nested/module/go.mod': 'module b\n',
    'api.v2/a.csproj': '',
    'examples/x/build/a.txt': '',
    'packages/api/package.json': '{}',
    'packages/api/tsconfig.json': '{}',
    'packages/web/package.json': '{}',
    'examples/x/package.json': '{}',
    gradlew: '',
    mvnw: '',
    ...Object.fromEntries(['rspec', 'rails', 'phpunit'].map((name) => [`bin/${name}`, ''])),
    ...Object.fromEntries(['phpunit'].map((name) => [`vendor/bin/${name}`, ''])),
    ...Object.fromEntries(['jest', 'eslint', 'tsc', 'git'].map((name) => [`node_modules/.bin/${name}`, ''])),
    '.venv/bin/mypy': '',
    ...Object.fromEntries(['python', 'pytest', 'ruff'].map((name) => [`.venv/bin/${name}`, ''])),
    Gemfile: '',
    '../outside/secret.txt': 'CANARY\n',
  });
  symlinkSync('../outside', paths.join(workspace.root, 'link'));
});
after(() => workspace.cleanup());

/** Asked about the command: what *Always Allow…* offers, narrowest first. Nothing is run. */
async function asked(
  command: string,
  rules: readonly PermissionRule[] = [],
  cwd?: string,
): Promise<PermissionRule[][] | 'unasked'> {
  let ran = false;
  const owned: ScopedPermissionRule[] = rules.map((rule) => ({ scope: 'workspace', ...rule }));
  const told = conversation(workspace, {
    policy: { readOnlyCommands: true, rules: owned },
    answer: 'deny',
    beforeEvent(event) {
      ran ||= event.type === 'tool-start';
      if (ran) throw new Error('Nothing is run here.');
    },
  });
  const outcome = await told.call('shell.run', { command, ...(cwd !== undefined && { cwd }) });
  if (told.asked.length > 0) return alwaysAllowRuleChoices(told.asked[0]!);
  assert.ok(ran || !outcome.ok);
  return ran ? 'unasked' : [];
}

/** A command of a row, as the project's own copy of its program or the system's. */
const isOf = (found: string | undefined, command: string): boolean =>
  found === command || found?.endsWith(` ${command}`) || found?.endsWith(`/${command}`) || false;

const judged = new Map<string, ReturnType<typeof analyzeCommand>>();
/** What a command runs, looked at once. */
function understood(text: string): ReturnType<typeof analyzeCommand> {
  const found = judged.get(text) ?? analyzeCommand(workspace.roots, workspace.root, text);
  judged.set(text, found);
  return found;
}

describe('every row of the table of commands', () => {
  useSystemPath();
  for (const row of commandGrantRows) {
    const { command, kind } = row;
    const { yes, no } = examplesOf(row);
    it(`${command} covers ${yes.length} and leaves out ${no.length} of its examples`, async () => {
      for (const text of yes) {
        const { parts } = await understood(text);
        const found = parts?.map(({ row }) => row);
        assert.ok(
          found?.some((row) => isOf(row?.command, command) && row?.kind === kind),
          `${text}: ${JSON.stringify(parts)}`,
        );
      }
      for (const text of no) {
        const { parts } = await understood(text);
        const found = parts?.find(({ row }) => isOf(row?.command, command) && row?.kind === kind);
        assert.equal(found, undefined, `${text} is covered`);
      }
      assert.ok(yes.length > 0 && no.length > 0);
    });
  }

  it('is the one that its examples are of', () => {
    const known = new Set(commandGrantRows.flatMap(({ command, kind }) => [command, `${command} [${kind}]`]));
    assert.deepEqual(
      [...examples.keys()].filter((command) => !known.has(command)),
      [],
    );
  });
});

// An update never widens a permission: not by a row that moves to another kind, and not by a row that covers more.
describe('a rule that was stored with the first kinds', () => {
  useSystemPath();
  const keyOf = (command: string, kind: string) => `${command} [${kind}]`;
  const covered = new Map<string, string[]>();
  for (const [key, { yes, no }] of storedExamples) {
    for (const text of yes) covered.set(text, [...(covered.get(text) ?? []), key]);
    for (const text of no) if (!covered.has(text)) covered.set(text, []);
  }
  const kinds = ['looks', 'checks', 'asks'];
  const commands = new Set([...storedExamples.keys()].map((key) => key.replace(/ \[\w+\]$/, '')));

  it('covers nothing that it did not cover then', async () => {
    assert.ok(covered.size > 5000, `${covered.size}`);
    const wider: string[] = [];
    for (const [text, keys] of covered) {
      const { parts = [] } = await understood(text);
      for (const { row } of parts) {
        if (!row) continue;
        if (kinds.includes(row.kind) && !keys.some((key) => key.endsWith(`[${row.kind}]`)))
          wider.push(`${text}: by a rule for ${row.kind}`);
        if (commands.has(row.command) && !keys.some((key) => key.startsWith(`${row.command} [`)))
          wider.push(`${text}: by a rule for ${row.command} with other arguments`);
      }
    }
    assert.deepEqual(wider, []);
  });

  it('covers no row that is new', () =>
    assert.deepEqual(
      commandGrantRows
        .filter(({ kind }) => kinds.includes(kind))
        .map(({ command, kind }) => keyOf(command, kind))
        .filter((key) => !storedExamples.has(key)),
      [],
    ));
});

// Not every program of the table can be had to be watched while it runs: what a row covers is what it names, and nothing else.
describe('no row of the table takes', () => {
  const unnamed = ['--made-up', '--made-up=x', '--made-up=./evil.sh', '-@', '-@x', '--no-made-up'];
  const lists = unnamed.flatMap((option) => [[option], ['--', option]]);
  for (const args of lists)
    it(`${args.join(' ')}, which it does not name`, () => {
      const open = commandGrantRows.filter((row) => matchGrantRow({ ...row, needs: undefined, min: 0 }, args));
      assert.deepEqual(
        open.map(({ command }) => command),
        [],
      );
    });
});

// Nor can all of it be watched that is here: of what never was, no word may be a place elsewhere, or settings of something else.
describe('of a command that nobody has watched', () => {
  useSystemPath();
  const places = [
    '/etc/passwd',
    '../outside',
    'link/x',
    '.env',
    '@evil.txt',
    '~/x',
    'http://127.0.0.1:9/x',
    '127.0.0.1:9',
    'a=/x',
  ];
  for (const row of commandGrantRows.filter(({ unseen }) => unseen))
    it(`${row.command} covers no word that is a place elsewhere, and nothing behind --`, async () => {
      for (const text of examplesOf(row).yes)
        for (const tried of [...places, '-- x'].map((place) => `${text} ${place}`)) {
          const { parts } = await analyzeCommand(workspace.roots, workspace.root, tried);
          assert.equal(
            parts?.find((part) => isOf(part.row?.command, row.command)),
            undefined,
            tried,
          );
        }
    });
});

describe('Always Allow… for a command offers', () => {
  useSystemPath();
  const offers: [command: string, offered: RegExp[]][] = [
    ['npm test', [/^npm test in the workspace’s root$/, /^npm test with other names/, /^Tests, linters/, /^Tests.* in the workspace’s root, in packages\/api, in packages\/web$/]],
    ['npm test -- -t "a b" 2>&1 | tail -20', [/^npm test -- -t 'a b' in/, /^npm test with other/, /^Tests/, /packages/]],
    ['cd packages/api && npx jest src', [/^npx jest src in packages\/api$/, /^jest with other names.* run through npx, .* in packages\/api$/, /^Tests.* in packages\/api$/, /packages\/web/]],
    ['cd examples/x && npx jest src', [/^npx jest src in examples\/x$/, /^jest with other names.* run through npx, .* in examples\/x$/, /^Tests.* in examples\/x$/]],
    ['git status && npm test', [/^git status && npm test in/, /^git status with.* and npm test with/, /^Commands that look.* and Tests/, /packages/]],
    ['CI=1 timeout 60 npm test; echo "$?"', [/^npm test in/, /^npm test with/, /^Tests/, /packages/]],
    ['DATABASE_URL=x npm test', [/^DATABASE_URL=x npm test in the workspace’s root$/]],
    ['git commit -m "two words"', [/^git commit -m 'two words' in the workspace’s root$/]],
    ['node src/cli.js --port 1', [/^node src\/cli\.js --port 1 in/]],
    ['curl -s http://localhost:1 | jq .', [/^curl -s http:\/\/localhost:1 in/]],
    ['echo a | node -', [/^echo a \| node - in/]],
    ['npm test > out', [/^npm test > out in/]],
    ['npm run dev &', [/^npm run dev & in/]],
    ['npx depcheck', [/^npx depcheck in/]],
    ['dotnet build -c Release', [/^dotnet build -c Release in/, /^dotnet build with/, /^Tests/, /packages/]],
    ['dotnet build -c Release && dotnet publish -c Release', []],
    ['dotnet pack api.v2', [/^dotnet pack api\.v2 in/, /^dotnet pack with .* in api\.v2$/, /^Tests.* in api\.v2$/]],
    ['dotnet pack api.v2/a.csproj', [/^dotnet pack api\.v2\/a\.csproj in/, /^dotnet pack with .* in api\.v2$/, /^Tests.* in api\.v2$/]],
    ['rm -rf build', []],
    ['npm test && rm x', []],
    ['ls | xargs rm', []],
    ['git add . && git push', []],
    ['git -C sub reset --hard', []],
    ['git branch -D x', []],
    ['npm publish', []],
    ['mv a b', []],
    ['docker compose down -v --remove-orphans; docker system prune', []],
    ['cat .env', []],
    ['npm test -- .env > .vscode/x', []],
  ]; // biome-ignore format: a table
  for (const [command, offered] of offers)
    it(`${command}: ${offered.length} choices`, async () => {
      const found = await asked(command);
      assert.notEqual(found, 'unasked');
      const words = (found as PermissionRule[][]).map((rules) => {
        const { what, where } = summarizeRuleCoverage(rules);
        return `${what} ${where}`;
      });
      assert.equal(words.length, offered.length, words.join('\n'));
      for (const [index, pattern] of offered.entries()) assert.match(words[index]!, pattern);
    });
});

describe('a rule for a command', () => {
  useSystemPath();
  const made = (command: string) => asked(command).then((offered) => (offered === 'unasked' ? [] : offered));
  const exact = async (command: string) => (await made(command))[0] ?? [];
  const widest = async (command: string) => (await made(command)).at(-1) ?? [];

  const kept: [shown: string, then: string, expect: 'ask' | 'unasked', cwd?: string][] = [
    ['npm test', 'npm test', 'unasked'],
    ['npm test', 'npm test 2>&1 | tail -40', 'unasked'],
    ['npm test', 'CI=1 npm test > /dev/null && echo fine', 'unasked'],
    ['npm test', 'npm test', 'ask', 'examples/x'],
    ['npm test', 'cd examples/x && npm test', 'ask'],
    ['npm test', 'npm test -- -t x', 'ask'],
    ['npm test', 'LD_PRELOAD=./x npm test', 'ask'],
    ['npm test', 'PATH=. npm test', 'ask'],
    ['npm test', 'x=1; npm test', 'unasked'],
    ['npm test', 'PATH=.; npm test', 'ask'],
    ['npm test', 'npm test | sh', 'ask'],
    ['npm test', 'npm test | tee x', 'ask'],
    ['npm test', 'npm test > out', 'ask'],
    ['npm test', 'cat .env; npm test', 'ask'],
    ['npm test', 'cat ../outside/secret.txt; npm test', 'ask'],
    ['npm test', 'rg KEY; npm test', 'ask'],
    ['cd packages/api && npm test', 'npm test', 'ask'],
    ['cd packages/api && npm test', 'npm test', 'unasked', 'packages/api'],
    ['cd packages/api && npm test', 'cd packages && cd api && npm test', 'unasked'],
    ['node src/cli.js', 'node src/cli.js 2>&1 | head', 'unasked'],
    ['node src/cli.js', 'node src/cli.js x', 'ask'],
    ['node src/cli.js', 'echo x | node src/cli.js', 'ask'],
  ];
  for (const [shown, then, expect, cwd] of kept)
    it(`with the words of ${shown}, ${then}${cwd ? ` in ${cwd}` : ''}: ${expect}`, async () => {
      const found = await asked(then, await exact(shown), cwd);
      assert.equal(found === 'unasked' ? found : 'ask', expect);
    });

  const wide: [shown: string, then: string, expect: 'ask' | 'unasked', cwd?: string][] = [
    ['npm test', 'npm test -- -t x', 'unasked'],
    ['npm test', 'cd packages/web && npx eslint src', 'unasked'],
    ['npm test', 'cd examples/x && npm test', 'ask'],
    ['npm test', 'git status', 'ask'],
    ['npm test', 'npm run deploy', 'ask'],
    ['npm test', 'for i in 1 2 3; do npx jest a -t "$i" || break; done', 'unasked'],
    ['npm test', 'i=0; while [ $i -lt 3 ]; do npx jest a; i=$((i+1)); done', 'unasked'],
    ['npm test', 'for PATH in .; do npx jest a; done', 'ask'],
    ['npm test', "for x in '-c evil.js'; do npx jest $x; done", 'ask'],
    ['npm test', 'for x in -c; do npx jest "$x" evil.js; done', 'ask'],
    ['npm test', 'x=$(cat README.md); npx jest "$x"', 'ask'],
    ['npm test', 'x=$(cat README.md); npx jest -t "$x"', 'ask'],
    ['npm test', 'x=$(cat README.md); node_modules/.bin/jest -t "$x"', 'unasked'],
    ['npm test', 'x=1; x=-u && npx jest "$x"', 'ask'],
    ['npm test', 'false && x=src; npx jest "$x"', 'ask'],
    ['npm test', "x='a[$(touch PWNED)]'; echo $((x)); npm test", 'ask'],
    ['npm test', 'npm test && cat coverage/*.txt', 'unasked'],
    ['npm test', 'npm test && cat */none/*.txt', 'ask'],
    ['npm test', 'npm test && rm coverage/*.txt', 'ask'],
    ['npm test', 'npm test && cat ../*/secret.txt', 'ask'],
    ['npm test', 'npm test && cd cover*; ls', 'ask'],
    ['npm test', 'npx jest --rootDir packages/api', 'unasked'],
    ['npm test', 'npx jest --rootDir examples/x', 'ask'],
    ['npm test', 'npx eslint link/x', 'ask'],
    ['npm test', 'npx depcheck', 'ask'],
    ['npm test', 'npx jest@latest', 'ask'],
    ['npm test', 'npx --yes jest', 'ask'],
    ['git status', 'git log -p | head', 'unasked'],
    ['git status', 'cd examples/x && git status', 'ask'],
    ['git status', 'git status', 'ask', 'examples/x'],
    ['git status', 'diff <(git show HEAD:README.md) README.md', 'unasked'],
    ['git status', 'diff <(git show HEAD:.env) README.md', 'ask'],
    ['git status', 'git log --author="$(git config user.name)"', 'unasked'],
    ['git status', 'git log --author="$(touch PWNED)"', 'ask'],
    ['git status', 'git log $(git config user.name)', 'ask'],
    ['git status', 'GIT_EXTERNAL_DIFF=./evil.sh git diff', 'ask'],
    ['git status', 'GIT_PAGER=cat git diff', 'unasked'],
    ['git status', 'GIT_PAGER=./evil.sh git diff', 'ask'],
    ['git status', 'printf -v PATH .; git status', 'ask'],
    ['git status', "printf '%n' PATH; git status", 'ask'],
    ['git status', 'printf "%s\\n" a; git status', 'unasked'],
    ['git status', 'x=%n; printf "$x" PATH; git status', 'ask'],
    ['git status', 'export PATH=.; git status', 'ask'],
    ['git status', 'hash -p ./evil.sh git; git status', 'ask'],
    ['git status', 'npx git status', 'ask'],
    ['git status', './git status', 'ask'],
    ['git status', 'bin/git status', 'ask'],
    ['git status', 'bin/rails --version', 'ask'],
    ['git status', 'python3 -m shop --version', 'ask'],
    ['git status', 'python3 -m pip list', 'ask'],
    ['git status', 'uv run deploy.py --version', 'ask'],
    ['npm test', 'python3 -m jest', 'ask'],
    ['npm test', 'GOFLAGS=-mod=mod go test ./...', 'ask'],
    ['npm test', 'cd service/internal && go test ./...', 'ask'],
    ['go test ./...', 'cd internal/store && go test .', 'unasked'],
    ['go test ./...', 'cd nested/module && go test .', 'ask'],
    ['go test ./...', 'cd build/debug && ctest -R parse', 'unasked'],
    ['go test ./...', 'cd examples/x/build && ctest', 'ask'],
    ['go test ./...', 'cd src && make test', 'ask'],
    ['npm test', 'DATABASE_URL=postgres://app@localhost/app_test npm test', 'unasked'],
    ['npm test', 'DATABASE_URL=postgres://app@localhost/app npm test', 'ask'],
    ['npm test', 'DATABASE_URL=postgres://app@db.example.com/app_test npm test', 'ask'],
    ['npm test', 'DATABASE_URL=postgres://app@localhost.evil.example/app_test npm test', 'ask'],
    ...[
      'latest',
      'contest_prod',
      'attestations',
      'greatest_hits',
      'app_test_live',
      'test_prod',
      'prod_tests',
      'protest',
    ].map((name): [string, string, 'ask'] => [
      'npm test',
      `DATABASE_URL=postgres://app@localhost/${name} npm test`,
      'ask',
    ]),
    ...['test', 'test_app', 'app_test2', 'app_tests_1', 'app_testing'].map((name): [string, string, 'unasked'] => [
      'npm test',
      `DATABASE_URL=postgres://app@localhost/${name} npm test`,
      'unasked',
    ]),
    ['npm test', 'RUN_INTEGRATION_TESTS=1 npm test', 'unasked'],
    ['npm test', 'UPDATE_INTEGRATION_TESTS=1 npm test', 'ask'],
    ['npm test', 'GODEBUG=execerrdot=0 npm test', 'ask'],
    ['npm test', 'command -v jq >/dev/null && npm test', 'unasked'],
    ['npm test', 'command -p sh; npm test', 'ask'],
    ['npm test', 'command npm test', 'ask'],
    ['npm test', 'npm test | tee /dev/stderr | tail', 'unasked'],
    ['npm test', 'npm test | tee README.md', 'ask'],
    ['npm test', 'npm test | awk \'NR>1 {n+=$1} END {printf "%d", n}\'', 'unasked'],
    ['npm test', 'npm test | awk \'{print > "x"}\'', 'ask'],
    ['npm test', 'npm test | awk \'{print "a;b" > "x"}\'', 'ask'],
    ['npm test', 'npm test | awk \'{system("id")}\'', 'ask'],
    ['npm test', 'npm test | awk \'{print | "sh"}\'', 'ask'],
    ['npm test', 'awk \'BEGIN{ARGV[1]="../outside/secret.txt"; ARGC=2} {print $1}\' README.md; npm test', 'ask'],
    ['npm test', 'awk \'BEGIN{while((getline l < "/etc/passwd")>0) print l}\'; npm test', 'ask'],
    ['npm test', 'xxd README.md out; npm test', 'ask'],
    ['npm test', 'for f in $(ls src); do cat "src/$f"; done', 'ask'],
    ['git status', 'for f in $(ls src); do cat "src/$f"; done', 'unasked'],
    ['git status', 'ls src | xargs -I{} rm src/{}', 'ask'],
    ['git status', 'LC_ALL=C ls src', 'unasked'],
    ['npm test', 'ASAN_OPTIONS=log_path=1 npm test', 'ask'],
  ];
  for (const [shown, then, expect, cwd] of wide)
    it(`with the widest for ${shown}, ${then}${cwd ? ` in ${cwd}` : ''}: ${expect}`, async () => {
      const found = await asked(then, await widest(shown), cwd);
      assert.equal(found === 'unasked' ? found : 'ask', expect);
    });

  it('for what the shell does itself is for its whole line', async () => {
    const rules = [...(await exact('export PATH=.')), ...(await widest('git status'))];
    assert.equal(await asked('export PATH=.', rules), 'unasked');
    assert.notEqual(await asked('export PATH=.; git status', rules), 'unasked');
  });

  it('of before, without a folder, is for its exact words in the root', async () => {
    const before: PermissionRule[] = [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }];
    assert.equal(await asked('npm test', before), 'unasked');
    assert.notEqual(await asked('npm test -- -t x', before), 'unasked');
    assert.notEqual(await asked('npm test', before, 'packages/api'), 'unasked');
    assert.equal(formatRuleCoverage(before[0]!), 'npm test in the workspace’s root');
  });

  it('runs what was judged, not what a folder became that was hidden behind a link', async () => {
    mkdirSync(paths.join(workspace.root, 'here'), { recursive: true });
    symlinkSync('here', paths.join(workspace.root, 'there'));
    assert.notEqual(await asked('cd there && cd .. && git status', await widest('git status')), 'unasked');
  });

  const folder = paths.join(import.meta.dirname, '../../../../shared/cases');
  const file = paths.join(folder, 'grant-cases.json');
  const cases = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { grants: [], offers: [] };
  for (const { shown, then, expect } of cases.grants as { shown: string; then: string; expect: 'ask' | 'any' }[])
    it(`with the widest for ${shown}, ${then}: ${expect}`, async () => {
      const found = await asked(then, await widest(shown));
      if (expect === 'ask') assert.notEqual(found, 'unasked');
    });
  for (const { command, expect } of cases.offers as { command: string; expect: string }[])
    it(`for ${command}: ${expect}`, async () => {
      const found = await made(command);
      if (expect === 'exact-or-none') assert.deepEqual(found.slice(1), []);
    });

  const red = paths.join(folder, 'red-cases.json');
  const reds = existsSync(red) ? JSON.parse(readFileSync(red, 'utf8')).grants : [];
  for (const { shown, then, files } of reds as { shown: string; then: string; files?: Record<string, string> }[])
    it(`with the widest for ${shown}, in a folder that has ${Object.keys(files ?? {})}, asks for ${then}`, async () => {
      const base = workspace;
      const rules = await widest(shown);
      workspace = await temporaryWorkspace({ 'package.json': '{}', 'src/a.ts': '', ...files });
      try {
        for (const file of Object.keys(files ?? {}))
          if (/bin\//.test(file)) chmodSync(paths.join(workspace.root, file), 0o755);
        assert.ok(rules.length > 0, 'no rule is offered');
        assert.notEqual(await asked(then, rules), 'unasked');
      } finally {
        await workspace.cleanup();
        workspace = base;
      }
    });
});

describe('a day of commands', function () {
  this.timeout(600_000);
  for (const day of days())
    it(`on a ${day.id} runs nothing unasked that is marked as dangerous or as a change`, async () => {
      const { dangers, changes, harmless, asked } = await play(day);
      assert.deepEqual({ dangers, changes }, { dangers: [], changes: [] });
      console.log(`      ${asked} of ${harmless} harmless commands were asked about after the first ten`);
    });
});
