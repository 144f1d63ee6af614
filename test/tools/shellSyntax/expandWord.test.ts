import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expandBraces, expandWord, matchesBashGlob } from '../../../src/tools/shellSyntax/expandWord.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

let workspace: TemporaryWorkspace;
before(async () => {
  workspace = await temporaryWorkspace({
    'a.ts': '',
    'b.ts': '',
    'c d.ts': '',
    '[x].ts': '',
    '.env': '',
    '.vscode/tasks.json': '',
    'src/a.ts': '',
    'src/.hidden': '',
    'src/deep/a.ts': '',
  });
});
after(() => workspace.cleanup());

/** Its braces are no choice. */
const variable = '$'.concat('{HOME}');

describe('a word of a command', () => {
  const words: [word: string, expanded: string[]][] = [
    ['a.ts', ['a.ts']],
    ['*.ts', ['[x].ts', 'a.ts', 'b.ts', 'c d.ts']],
    ['[ab].ts', ['a.ts', 'b.ts']],
    ['[!a].ts', ['b.ts']],
    ['[[:alpha:]].ts', ['a.ts', 'b.ts']],
    ['?.ts', ['a.ts', 'b.ts']],
    ['*', ['[x].ts', 'a.ts', 'b.ts', 'c d.ts', 'src']],
    ['.e*', ['.env']],
    ['.vscod?/*', ['.vscode/tasks.json']],
    ['.vscod?/settings.json', ['.vscod?/settings.json']],
    ['src/*/a.ts', ['src/deep/a.ts']],
    ['src/*/', ['src/deep/']],
    ['./s*/a.ts', ['./src/a.ts']],
    ['src/../*.md', ['src/../*.md']],
    ['{a,b}.ts', ['a.ts', 'b.ts']],
    ['x{a,b{1,2}}y', ['xay', 'xb1y', 'xb2y']],
    ['{a}', ['{a}']],
    ['{a,b', ['{a,b']],
    [`${variable}/{a,b}`, [`${variable}/a`, `${variable}/b`]],
    ['x{1..3}', ['x1', 'x2', 'x3']],
    ['x{03..1}', ['x03', 'x02', 'x01']],
    ['{c..a}', ['c', 'b', 'a']],
    ['.{e,x}nv', ['.env', '.xnv']],
    ['\\*.ts', ['*.ts']],
    ['\\{a,b}', ['{a,b}']],
    ['\\[x\\].t?', ['[x].ts']],
    ['c\\ d.*', ['c d.ts']],
    ['**/a.ts', ['src/a.ts']],
  ]; // biome-ignore format: a table
  for (const [word, expanded] of words)
    it(`${word} is ${expanded.join(' ')}`, async () =>
      assert.deepEqual((await expandWord(word, workspace.root))?.sort(), [...expanded].sort()));

  for (const [word] of words)
    it(`${word} is what bash makes of it`, async () => {
      if (!existsSync('/bin/bash')) return;
      const options = { cwd: workspace.root, env: { HOME: variable, LC_ALL: 'C' } };
      const said = execFileSync('/bin/bash', ['--norc', '-c', `printf '%s\\n' ${word}`], options);
      const bash = said.toString().trimEnd().split('\n');
      const ours = (await expandWord(word, workspace.root))!;
      // bash leaves out files where a folder is asked for; to be looked at, one too many is no harm.
      assert.deepEqual(
        bash.filter((one) => !ours.includes(one)),
        [],
      );
    });

  it('that means too much is not looked through', async () => {
    for (const word of ['{1..100000}', '{a,b}'.repeat(40), '{1..9}{1..9}{1..9}', `{${'a,'.repeat(600)}}`])
      assert.equal(await expandWord(word, workspace.root), undefined, word);
    assert.equal(expandBraces(`${'{'.repeat(5000)}a,b`), undefined);
  });

  it('takes no time for stars', () => {
    assert.equal(matchesBashGlob(`${'*a'.repeat(100)}b`, 'a'.repeat(255)), false);
    assert.equal(matchesBashGlob('**', ''), true);
  });
});
