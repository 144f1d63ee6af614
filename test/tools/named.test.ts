import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { Policy, Rule } from '../../src/protocol/policy.ts';
import { namedIn } from '../../src/tools/gate/named.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from './conversation.ts';

let workspace: TemporaryWorkspace;
before(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': '', 'src/private/b.txt': '', 'src/c.txt': '', '.env': 'K=1' });
  symlinkSync('src/private', paths.join(workspace.root, 'link'));
});
after(() => workspace.cleanup());

describe('a command names', () => {
  const cases: [command: string, named: string[]][] = [
    ['cat a.txt', ['cat', 'a.txt']],
    ['cat "src/private/b.txt"', ['cat', 'src/private/b.txt']],
    ['cat ./src/../a.txt', ['cat', 'a.txt']],
    ['cat link/b.txt', ['cat', 'src/private/b.txt']],
    ['cd src && cat private/b.txt', ['cd', 'src/', 'cat', 'private/b.txt', 'src/cd', 'src/src', 'src/cat', 'src/private/b.txt']],
    ['grep x --file=src/c.txt', ['grep', 'x', '--file=src/c.txt', '--file', 'src/c.txt']],
    ['ls src/*.ts', ['ls', 'src/']],
    ['ls *', ['ls', '']],
    ['cat /etc/passwd ../x', ['cat']],
    [`echo ${'x'.repeat(10)} > out.txt`, ['echo', 'xxxxxxxxxx', 'out.txt']],
  ]; // biome-ignore format: a table
  for (const [command, named] of cases)
    it(command, async () => assert.deepEqual((await namedIn(workspace.roots, workspace.root, command)).paths, named));

  it('a path with the separators of Windows, there', async () => {
    const command = 'Set-Content -Path .vscode\\tasks.json -Value x; type src\\private\\b.txt';
    const { paths: named, protected: why } = await namedIn(workspace.roots, workspace.root, command, 'win32');
    assert.deepEqual(
      named.filter((one) => one.includes('/')),
      ['.vscode/tasks.json', 'src/private/b.txt'],
    );
    assert.equal(why, 'It names .vscode/tasks.json. It can change settings of the editor or start programs.');
  });

  it('a path as seen from the folder it runs in', async () => {
    const { paths: named } = await namedIn(workspace.roots, paths.join(workspace.root, 'src'), 'cat private/b.txt');
    assert.deepEqual(named, ['src/cat', 'src/private/b.txt']);
  });
});

describe('a command that would run unasked', () => {
  const effectOf = async (command: string, ...rules: Rule[]) => {
    const policy: Policy = {
      preset: 'autopilot',
      readOnlyCommands: true,
      rules: [...rules, { effect: 'allow' as const, tool: 'shell.run' }].map((rule) => ({ scope: 'user', ...rule })),
    };
    const { call, asked } = conversation(workspace, { policy, answer: 'deny' });
    await call('shell.run', { command });
    return asked[0] ? `${asked[0].plan.grant === undefined ? 'every time' : 'asked'}: ${asked[0].plan.why}` : 'free';
  };
  const guard: Rule = { effect: 'deny', tool: 'fs.read', path: 'src/private/**' };

  const cases: [command: string, rules: Rule[], effect: RegExp][] = [
    ['node -p 1', [guard], /^free$/],
    ['node -p 1 a.txt', [guard], /^free$/],
    ['node -p 1 src/private/b.txt', [guard], /^asked: .*Asked about because of your rule “fs\.read src\/private\/\*\*”\.$/],
    ['node -p 1 src/private/b.txt', [], /^free$/],
    ['node -p 1 link/b.txt', [guard], /^asked/],
    ['cd src; node -p 1 private/b.txt', [guard], /^asked/],
    ['cd .; cd src; node -p 1 private/b.txt', [guard], /^asked/],
    ['node -p 1 src', [guard], /^asked/],
    ['node -p 1 src/p*', [guard], /^asked/],
    ['node -p 1 .', [guard], /^asked/],
    ['node -p 1 SRC/Private/b.txt', [guard], /^asked/],
    ['node -p 1 src/c.txt', [guard], /^free$/],
    ['node -p 1 .env', [], /^every time: .*It names \.env\. It may hold secrets/],
    ['node -p 1 ~/.ssh/id_rsa', [], /^every time: .*It names ~\/\.ssh\/id_rsa\. It may hold secrets/],
    ['node -p 1 "$HOME/.aws/credentials"', [], /^every time: .*It may hold secrets/],
    ['node -p 1 ../../.env', [], /^every time: .*It may hold secrets/],
    ['node -p process.env', [], /^free$/],
    ['node -p 1 > .vscode/tasks.json', [], /^every time: .*settings of the editor/],
    ["node -p 1 > .vs''code/tasks.json", [], /^every time: .*settings of the editor/],
    ['node -p 1 > .vs\\\ncode/tasks.json', [], /^every time: .*settings of the editor/],
    ["node -p 1 > sr'c/private/b'.txt", [guard], /^asked/],
    ['node -p 1 .git/hooks/pre-commit', [], /^every time: .*belongs to Git/],
    ['node -p 1 .github/workflows', [], /^every time: .*continuous integration/],
    [`node -p 1 ${'x '.repeat(600)}`, [], /^free$/],
    [`node -p 1 ${Array.from({ length: 1001 }, (_, index) => index).join(' ')}`, [], /^every time: .*too many words/],
  ]; // biome-ignore format: a table
  for (const [command, rules, effect] of cases)
    it(`${command.slice(0, 60)}${rules.length > 0 ? ' while a rule guards src/private' : ''}`, async () =>
      assert.match(await effectOf(command, ...rules), effect));
});
