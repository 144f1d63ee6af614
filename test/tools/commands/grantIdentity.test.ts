import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import { analyzeCommand } from '../../../src/tools/commands/analyzeCommand.ts';
import { decideCallByPolicy } from '../../../src/tools/policy/policy.ts';
import { alwaysAllowRuleChoices } from '../../../src/tools/policy/rules.ts';
import { useSystemPath } from '../../support/systemPath.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

// A rule is for a program of the system, or for the copy that a project has of a tool, and never for any other file of that name.

const tools = 'git docker ps gh kubectl tar bash pip eslint jest pytest ruff terraform python rspec phpunit yarn'.split(
  ' ',
);
const folders = ['node_modules/.bin', '.venv/bin', 'venv/bin', 'vendor/bin', 'bin', 'tools'];

let workspace: TemporaryWorkspace;
let outside: string;
before(async () => {
  workspace = await temporaryWorkspace({
    'package.json': '{}',
    Gemfile: '',
    'manage.py': '',
    'src/a.ts': '',
    'a.tar': '',
    ...Object.fromEntries(folders.flatMap((folder) => tools.map((tool) => [`${folder}/${tool}`, '#!/bin/sh\n']))),
    'sub/package.json': '{}',
  });
  for (const folder of folders) for (const tool of tools) chmodSync(paths.join(workspace.root, folder, tool), 0o755);
  outside = paths.join(workspace.root, '../outside');
  for (const folder of ['linked', 'shims', 'system']) mkdirSync(paths.join(outside, folder), { recursive: true });
  symlinkSync(paths.join(workspace.root, 'tools/git'), paths.join(outside, 'linked/git'));
  for (const file of ['shims/pip', 'shims/pytest', 'system/git'])
    writeFileSync(paths.join(outside, file), '#!/bin/sh\n', { mode: 0o755 });
});
after(() => workspace.cleanup());

/** The row that covers a command, and its kind. */
async function check(command: string, expected: string, path = '/usr/bin:/bin'): Promise<void> {
  process.env.PATH = path.replaceAll('WS', workspace.root).replaceAll('OUTSIDE', outside);
  const { parts } = await analyzeCommand(workspace.roots, workspace.root, command);
  const found = parts?.length === 1 ? parts[0]!.row : undefined;
  assert.equal(found ? `${found.command}: ${found.kind}` : 'asked', expected);
}

const cases: [command: string, expected: string, path?: string][] = [
  ['git log', 'git log: looks'],
  ['/usr/bin/git log', 'git log: looks'],
  ['eslint src', 'eslint: checks'],
  ['npx eslint src', 'npx eslint: checks'],
  ['npx --no-install eslint src', 'npx eslint: checks'],
  ['npm exec -- eslint src', 'npm exec eslint: checks'],
  ['pnpm exec eslint src', 'pnpm exec eslint: checks'],
  ['pnpm eslint src', 'pnpm eslint: checks'],
  ['node_modules/.bin/eslint src', 'node_modules/.bin/eslint: checks'],
  ['./node_modules/.bin/eslint src', 'node_modules/.bin/eslint: checks'],
  ['cd sub && npx eslint .', 'npx eslint: checks'],
  ['npx eslint --version', 'npx eslint --version: loads'],
  ['uv run pytest', 'uv run pytest: checks'],
  ['uv run python -m pytest', 'uv run python -m pytest: checks'],
  ['.venv/bin/python -m pytest', '.venv/bin/python -m pytest: checks'],
  ['python3 -m pytest', 'python3 -m pytest: checks'],
  ['poetry run python manage.py test', 'poetry run manage.py test: checks'],
  ['python manage.py test', 'manage.py test: checks'],
  ['bundle exec rspec', 'bundle exec rspec: checks'],
  ['bin/rspec', 'bin/rspec: checks'],
  ['vendor/bin/phpunit', 'vendor/bin/phpunit: checks'],
  ['eslint src', 'node_modules/.bin/eslint: checks', 'WS/node_modules/.bin:/usr/bin'],
  ['pytest', '.venv/bin/pytest: checks', 'WS/.venv/bin:/usr/bin'],
  ['pip list', 'pip list: looks'],
  ['pip list', 'pip list: loads', 'OUTSIDE/shims:/usr/bin'],
  ['pytest', 'pytest: checks', 'OUTSIDE/shims:/usr/bin'],
  ['git log', 'git log: looks', 'OUTSIDE/system:WS/node_modules/.bin'],
  ...[
    'npx git log',
    'npm exec git log',
    'pnpm exec docker ps',
    'pnpm docker ps',
    'yarn git status',
    'bunx gh pr list',
    'node_modules/.bin/kubectl get pods',
    '.venv/bin/ps aux',
    'venv/bin/tar tf a.tar',
    '.venv/bin/bash -n src/a.ts',
    'vendor/bin/git log',
    'bin/git log',
    'tools/git log',
    './tools/eslint src',
    'uv run git log',
    'poetry run gh pr list',
    'pdm run git log',
    'rye run git log',
    'pipenv run tar tf a.tar',
    'bundle exec git log',
    'npx terraform validate',
    'npx yarn list',
    'npx pytest',
    'uv run eslint src',
    'vendor/bin/eslint src',
    'bundle exec eslint src',
    'npx git --version',
    '.venv/bin/python --version',
    'npx uv run pytest',
    'uv run npx eslint src',
    'uv run mypy',
    'npx mocha',
    'python3 -m pip list',
    'python3 -m json.tool package.json',
    'journalctl --version',
  ].map((command): [string, string] => [command, 'asked']),
  ...[
    'WS/node_modules/.bin:/usr/bin',
    'WS/tools:/usr/bin',
    'OUTSIDE/linked:/usr/bin',
    'tools:/usr/bin',
    './tools',
    'OUTSIDE/none:WS/.venv/bin',
  ].map((path): [string, string, string] => ['git log', 'asked', path]),
  ['npx eslint src', 'npx eslint: checks', '/usr/bin'],
  ['python3 -m pytest', 'asked', 'WS/interpreters:/usr/bin'],
  ['yarn test', 'asked', 'WS/tools:/usr/bin'],
];

/** Holds the invariant `kinds-without-project-code`: each of these was seen to run, or to load, a file of the folder. */
const loading = [
  'yarn list',
  'yarn why a',
  'yarn --version',
  'yarn info a',
  'pnpm list',
  'pnpm why a',
  'pnpm outdated',
  'pnpm audit',
  'pnpm view a',
  'lein deps :tree',
  'bundle outdated',
  'mix hex.audit',
  'mix deps.audit',
  'composer outdated',
  'composer audit',
  'composer fund',
  'terraform validate',
  'terraform graph',
  'terraform fmt -check',
  'tofu show',
  'cargo --version',
  'cargo --list',
  'cargo pkgid',
  'cargo audit',
  'poetry show',
  'pdm list',
  'uv pip list',
  'uv tree',
  'rebar3 outdated',
  'checkov ./src',
  'trivy config ./src',
  'dotnet list package',
  'dotnet --version',
  'mvn --version',
  'rspec --version',
  'tox --version',
];

describe('a command that looks or asks, and runs code of the project to do so,', () => {
  useSystemPath();
  for (const command of loading)
    it(`${command} is in the rules of no other kind`, async () => {
      const { parts } = await analyzeCommand(workspace.roots, workspace.root, command);
      assert.deepEqual(
        parts?.map(({ row }) => row?.kind),
        ['loads'],
      );
    });
});

describe('the identity of a program that a rule covers', () => {
  useSystemPath();
  before(() => {
    const file = paths.join(workspace.root, 'interpreters/python3');
    mkdirSync(paths.dirname(file), { recursive: true });
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  });
  for (const [command, expected, path] of cases)
    it(`${command}${path ? ` with the path ${path}` : ''} is ${expected}`, () => check(command, expected, path));
});

/** A rule as it is offered for the first command, and what it covers of the others. */
const copies: [command: string, rule: string, covered: readonly string[], asked: readonly string[]][] = [
  [
    'npx eslint src',
    'npm: eslint',
    ['pnpm exec eslint src', 'yarn exec eslint src', 'node_modules/.bin/eslint src/a.ts', 'bunx eslint .'],
    ['eslint src', 'pnpm eslint src', 'yarn eslint src', 'uv run eslint src', 'bin/eslint src', 'npx eslint -c a.js'],
  ],
  [
    'uv run pytest',
    'uv: pytest',
    ['.venv/bin/pytest', '.venv/bin/python -m pytest -q', 'uv run python -m pytest', 'poetry run pytest'],
    ['pytest', 'python3 -m pytest', 'pipenv run pytest', 'venv/bin/pytest', 'docker compose exec web pytest'],
  ],
  [
    '.venv/bin/pytest',
    'venv: pytest',
    ['poetry run pytest -q'],
    ['uv run pytest', 'uv run python -m pytest', 'pytest'],
  ],
];

describe('a rule for the copy that a project has of a tool', () => {
  useSystemPath();
  for (const [command, rule, covered, asked] of copies)
    it(`made for ${command} covers each launcher of that file and no other`, async () => {
      const partsOf = async (line: string) => (await analyzeCommand(workspace.roots, workspace.root, line)).parts ?? [];
      const parts = await partsOf(command);
      const plan = { what: '', where: '', why: '', grant: command, run: async () => {}, command, parts };
      const [, offered = []] = alwaysAllowRuleChoices({ call: { id: '1', name: 'shell.run', arguments: {} }, plan });
      assert.deepEqual(offered, [{ effect: 'allow', tool: 'shell.run', command: rule, varies: true }]);
      const policy = {
        preset: 'ask-everything' as const,
        readOnlyCommands: false,
        rules: offered.map((one) => ({ scope: 'workspace' as const, ...one })),
      };
      const effect = async (line: string) =>
        decideCallByPolicy(policy, {
          tool: 'shell.run',
          risk: 'execute',
          readsOnly: false,
          always: false,
          trusted: true,
          paths: [],
          command: line,
          folder: '.',
          parts: await partsOf(line),
        }).effect;
      for (const line of covered) assert.equal(await effect(line), 'allow', line);
      for (const line of asked) assert.equal(await effect(line), 'ask', line);
    });
  it('stored before rules were for copies covers what is started as it says', async () => {
    const { parts } = await analyzeCommand(workspace.roots, workspace.root, 'npx eslint src');
    assert.equal(parts![0]!.row!.command, 'npx eslint');
  });
});
