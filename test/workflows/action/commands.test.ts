import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { quoteShellWord, toCommandLine } from '../../../src/tools/shell/quote.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { renderTemplate } from '../../../src/workflows/template/template.ts';
import { Stage, toolNames } from '../stage.ts';

const nasty = [
  '',
  ' ',
  "it's",
  '"',
  '$(touch x)',
  '`id`',
  'a;b|c&d',
  '*',
  '~',
  '-n',
  'a=b',
  '--a=b',
  'if',
  '!',
  '#',
  'é\n\t',
  '\\',
  "'\\''",
  '{a,b}',
  '<x>',
  '%',
  '$HOME',
  '@x',
];

describe('a command', () => {
  let stage: Stage | undefined;
  afterEach(async () => {
    await stage?.end();
    stage = undefined;
  });

  it('hands each quoted text on as one word, whatever is in it', () => {
    const line = toCommandLine(['printf', '%s\\0', ...nasty], 'linux');
    for (const shell of ['/bin/bash', '/bin/sh'])
      assert.deepEqual(execFileSync(shell, ['-c', line]).toString().split('\0').slice(0, -1), nasty);
  });

  it('begins with a program and nothing else', () => {
    const lines = [
      ['if', 'a'],
      ['A=1', 'b'],
      ['my tool', '-x'],
      ['git', 'log', '--format=%h', 'a b'],
    ];
    assert.deepEqual(
      lines.map((words) => toCommandLine(words, 'linux')),
      ["'if' a", "'A=1' b", "'my tool' -x", "git log --format=%h 'a b'"],
    );
    for (const words of [[], [''], [' ']]) assert.throws(() => toCommandLine(words), /A command begins with a program/);
  });

  it('is quoted for PowerShell, which is refused what it would not hand on', () => {
    assert.equal(toCommandLine(['git', "it's", '$x ’'], 'win32'), "& 'git' 'it''s' '$x ’’'");
    for (const text of ['', 'a"b', 'a\nb', 'C:\\'])
      assert.throws(() => quoteShellWord(text, 'win32'), /PowerShell does not hand .* on to a program as it is/);
    for (const platform of ['linux', 'win32'] as const)
      assert.throws(() => quoteShellWord('a\0', platform), /character 0/);
  });

  it('has a filter for it, also of a list', () => {
    const state = { base: "hi; echo 'INJECTED", files: ['a b', 'c', 3], empty: [], map: {} };
    assert.equal(renderTemplate('git diff {{ state.base | quote }}', { state }), `git diff 'hi; echo '\\''INJECTED'`);
    assert.equal(renderTemplate('cat {{ state.files | quote }}', { state }), "cat 'a b' c 3");
    for (const name of ['gone', 'map'])
      assert.throws(() => renderTemplate(`cat {{ state.${name} | quote }}`, { state }));
  });

  it('as a list is shown as what runs, and runs just that', async () => {
    stage = await Stage.of(`
initial_state: {base: "x; touch hacked", more: [a, "b c"]}
nodes:
  - {name: a, uses: shell.run, with: {command: [printf, "%s|", "{{ state.base }}", "{{ state.more }}", 7]}, output: said}
`);
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual(stage.commands, ["printf '%s|' 'x; touch hacked' a 'b c' 7"]);
    assert.equal(((await stage.state()) as { said: { output: string } }).said.output, 'x; touch hacked|a|b c|7|');
    assert.equal(stage.workspace.exists('hacked'), false);
  });

  const refused: [what: string, command: string, message: RegExp][] = [
    ['nothing as a word', '[ls, "{{ state.gone }}"]', /^Node a: shell\.run: command: word 2 is neither a text nor a number\.$/],
    ['nothing as a program', '["{{ state.none }}"]', /^Node a: shell\.run: command: word 1 is neither/],
    ['an empty program', '["{{ state.input }}"]', /A command begins with a program\.$/],
    ['the character 0', '[ls, "{{ state.zero }}"]', /A command cannot hold the character 0\.$/],
  ]; // biome-ignore format: a table
  for (const [what, command, message] of refused)
    it(`as a list has not ${what}`, async () => {
      stage = await Stage.of(
        `initial_state: {none: null, zero: "a\\0"}\nnodes: [{name: a, uses: shell.run, with: {command: ${command}}}]`,
      );
      const { error } = await stage.start(' ');
      assert.match(error!.message, message);
      assert.deepEqual(stage.questions, []);
    });

  const problems: [what: string, command: string, problem: string | undefined][] = [
    ['quotes around what is quoted', `"git commit -m '{{ state.input | quote }}'"`, "`quote` adds quotes. Remove the ' around it."],
    ['other quotes', `'echo "it is \\" {{ state.input | trim | quote }}"'`, '`quote` adds quotes. Remove the " around it.'],
    ['quotes in a list', '[echo, "{{ state.input | quote }}"]', 'A list of words needs no `quote`: each word is passed on as it is.'],
    ['quotes before it', `"echo 'a' \\\\' {{ state.input | quote }}"`, undefined],
    ['a program that is a map', '[{a: 1}]', '`command`'],
  ]; // biome-ignore format: a table
  for (const [what, command, problem] of problems)
    it(`${problem ? 'is refused' : 'is taken'} with ${what}`, () => {
      const found = loadWorkflow(`nodes: [{name: a, uses: shell.run, with: {command: ${command}}}]`, {
        tools: toolNames,
      }).problems;
      assert.equal(found.length, problem ? 1 : 0);
      if (problem)
        assert.ok(found[0]!.message.startsWith(problem) || found[0]!.message.includes('must be'), found[0]!.message);
    });
});
