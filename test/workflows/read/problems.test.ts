import assert from 'node:assert/strict';
import { loadAgent, loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { toolNames } from '../stage.ts';

const known = { tools: toolNames, agents: ['reader'] };
const told = (all: readonly { line: number; column: number; message: string }[]) =>
  all.map(({ line, column, message }) => `${line}:${column}: ${message}`);
const warnings = (text: string) => {
  const loaded = loadWorkflow(text, known);
  assert.deepEqual(told(loaded.problems), []);
  return told(loaded.warnings);
};
const run = '{name: run, uses: shell.run, with: {command: ls}, output: result}';

describe('a file is told when it is loaded', () => {
  const cases: [what: string, text: string, ...warnings: string[]][] = [
    [
      'that nothing sets a key',
      `initial_state: {score: 1}\nnodes: [{name: a, goto: [{if: state.scor > 3, to: a}, {to: __end__}]}]`,
      '2:31: Nothing sets `scor`. Did you mean "score"?',
    ],
    [
      'that nothing sets a key of a prompt, once',
      'nodes: [{name: a, agent: reader, prompt: "{{ state.question }} {{ state.question }}"}]',
      '1:42: Nothing sets `question`. Declare it in `state_schema` to be asked for it.',
    ],
    [
      'what a step gives, where another key is asked for',
      `nodes:\n  - ${run}\n  - {name: say, uses: state.set, with: {said: "{{ state.result.stdout }}"}}`,
      '3:47: shell.run gives no `stdout`, but `exitCode`, `output`, `signal`, `outputId`, `note`, `stillRunning`, `id`, `running`.',
    ],
    [
      'what a step gives, where its output asks for another key',
      'nodes: [{name: a, uses: fs.find, with: {pattern: "*"}, output: {all: "{{ result.paths }}"}}]',
      '1:70: fs.find gives no `paths`, but `files`, `note`.',
    ],
    [
      'what an agent gives',
      'nodes: [{name: a, agent: reader, output: said, goto: [{if: "state.said.text", to: a}, {to: __end__}]}]',
      '1:60: An agent gives no `text`, but `content`.',
    ],
    [
      'of a variable that is not there',
      'variables: {most: 3}\nnodes: [{name: a, run: {type: expression, value: variables.mosts}}]',
      '2:50: There is no variable `mosts`. Did you mean "most"?',
    ],
    [
      'of a bare name that is nothing’s',
      'initial_state: {n: 1}\nnodes: [{name: a}, {name: b}]\nedges: [{from: a, to: b, when: "m > 1"}, {from: a, to: b}]',
      '3:32: Nothing is named `m` here.',
    ],
    [
      'that a result takes the place of a value that the file declares',
      'state_schema: {path: str}\nnodes: [{name: a, uses: fs.write, with: {path: "{{ state.path }}", content: x}}]',
      '2:25: Without `output`, the `path` of the result replaces the one of the state. Set in `output` what to keep.',
    ],
    [
      'that a comment, a tag or an anchor cuts a text',
      'nodes:\n  - name: a\n    agent: reader\n    prompt: Fix issue #12\n  - name: b\n    agent: reader\n    prompt: !important thing\n  - name: c\n    agent: reader\n    prompt: &name it # now\n',
      '4:13: The text ends before `#12`, which starts a comment in YAML. Put the whole text in quotes.',
      '7:13: `!important` is a tag in YAML, and the value starts after it. Put the whole text in quotes.',
      '10:19: `&name` is an anchor in YAML that nothing repeats, and the value starts after it. Put the whole text in quotes.',
      '10:19: The text ends before `# now`, which starts a comment in YAML. Put the whole text in quotes.',
    ],
    [
      'that a number does not keep its digits, and that braces are no text',
      'nodes:\n  - name: a\n    uses: state.set\n    with: {id: 12345678901234567890, zip: 01234, n: -12, said: {a}}\n',
      '4:16: `12345678901234567890` is read as the number 12345678901234567000. Put it in quotes to keep its digits.',
      '4:43: `01234` is read as the number 1234. Put it in quotes to keep its digits.',
      '4:64: This is read as keys without values. Put a text in quotes.',
    ],
    [
      'that a cache does not work at this temperature',
      'settings: {llm: {temperature: 0.3}}\nnodes: [{name: a, uses: llm.call, with: {cache: true, messages: [{role: user, content: x}]}}]',
      '2:49: `cache` answers calls at temperature 0. At 0.3 each call is sent and paid for.',
    ],
    ...(
      [
        ['git commit -m "{{ state.msg }}"', 'state.msg'],
        ['git tag v{{ state.msg | trim }}', 'state.msg | trim'],
        ["echo {{ state.n }} {{ state.msg | replace('a', 'b') }}", "state.msg | replace('a', 'b')"],
        ["rm -rf out/{% if state.n %}{{ state['msg'] }}{% endif %}", "state['msg']"],
        ["echo {{ state.msg ~ '' | quote }}", "state.msg ~ '' | quote", "(state.msg ~ '')"],
        ["echo {{ state.msg or 'a' | quote }}", "state.msg or 'a' | quote", "(state.msg or 'a')"],
        ['echo {{ state.msg + 1 | int }}', 'state.msg + 1 | int', '(state.msg + 1 | int)'],
        ["echo {{ state.msg | default('a') }}", "state.msg | default('a')"],
        ['echo {{ state.msg | quote | upper }}', 'state.msg | quote | upper'],
      ] as [string, string, string?][]
    ).map(([command, expression, whole = expression]): [string, string, ...string[]] => [
      `that a value becomes part of ${command}`,
      `state_schema: {n: int}\ninitial_state: {msg: x, n: 1}\nnodes:\n  - name: a\n    uses: shell.run\n    with:\n      command: ${JSON.stringify(command)}\n`,
      `7:16: The value of \`${expression}\` becomes part of the command and could run another one. Write \`{{ ${whole} | quote }}\` without quotes around it, or write the command as a list of words.`,
    ]),
    [
      'that a value becomes part of the command of a tool',
      `initial_state: {word: x}\ntools:\n  - name: find\n    description: d\n    action: shell.run\n    with: {command: "grep {{ state.word }} ."}\nnodes: [{name: a}]`,
      '6:21: The value of `state.word` becomes part of the command and could run another one. Write `{{ state.word | quote }}` without quotes around it, or write the command as a list of words.',
    ],
    [
      'of words that are no truth here',
      'initial_state: {flag: no, sure: "no", deep: {on: [Off]}}\nvariables: {ask: yes}\nnodes: [{name: a, uses: state.set, with: {done: yes, said: oh no}}]',
      '1:23: `no` is a text here, not false (YAML 1.2). Write `false`, or `"no"`.',
      '1:51: `Off` is a text here, not false (YAML 1.2). Write `false`, or `"Off"`.',
      '2:18: `yes` is a text here, not true (YAML 1.2). Write `true`, or `"yes"`.',
      '3:49: `yes` is a text here, not true (YAML 1.2). Write `true`, or `"yes"`.',
    ],
    [
      'of such a word where the dialect has another key for it',
      'nodes: [{name: a, action: state.set, params: {done: off}}]',
      '1:53: `off` is a text here, not false (YAML 1.2). Write `false`, or `"off"`.',
    ],
  ];
  for (const [what, text, ...expected] of cases) it(what, () => assert.deepEqual(warnings(text), expected));

  const quiet: [what: string, text: string][] = [
    ...[
      "{{ '-' ~ x | quote }}",
      "{{ (x ~ '') | quote }}",
      "{{ x | default('a') | quote }}",
      '{{ (x | quote) if n else 2 }}',
      '{{ n ~ 1 }}',
      '{{ x | length }}',
      '{{ x == 1 }}',
    ].map((word): [string, string] => [
      `that ${word} is one word of a command`,
      `state_schema: {x: str, n: int}\nnodes: [{name: a, uses: shell.run, with: {command: ${JSON.stringify(`echo ${word}`)}}}]`,
    ]),
    [
      'what may be missing, and says so',
      'nodes: [{name: a, goto: [{if: "state.x is defined or state.y | default(0) > 1 or state.get(\'z\') or state.w.v | d(1)", to: a}, {to: __end__}]}]',
    ],
    [
      'names that a template makes',
      'initial_state: {l: [1]}\nnodes: [{name: a, uses: state.set, with: {x: "{% set n = 1 %}{% for k, v in state.l %}{{ loop.index }}{{ k }}{{ v + n }}{% endfor %}{% macro m(p, q=2) %}{{ p }}{{ q }}{% endmacro %}{{ m(1) }}"}}]',
    ],
    [
      'a step that sets what nobody knows',
      'nodes: [{name: a, uses: mcp.server.look, with: {}}, {name: b, uses: state.set, with: {x: "{{ state.found }}"}}]',
    ],
    [
      'what a result is given without an output',
      `nodes: [{name: a, uses: llm.call, with: {messages: [{role: user, content: hi}]}}, {name: b, uses: state.set, with: {x: "{{ content }} {{ state.usage.total_tokens }}"}}]`,
    ],
    [
      'a key that several steps set',
      `initial_state: {result: {mine: 1}}\nnodes:\n  - ${run}\n  - {name: say, uses: state.set, with: {said: "{{ state.result.mine }} {{ state.input }}"}}`,
    ],
    [
      'the items of a list, and what failed with them',
      'initial_state: {files: [a]}\nnodes: [{name: a, foreach: state.files, uses: fs.read, with: {path: "{{ state.item }}{{ item }}{{ state.index }}"}, on_error: continue}, {name: b, uses: state.set, with: {x: "{{ parallel_results[0].text }} {{ state.error }}"}}]',
    ],
    [
      'words that can only be texts',
      'state_schema: {said: str}\ninitial_state: {said: no}\nnodes: [{name: a, goto: yes}, {name: yes, uses: fs.write, with: {path: on, content: no}, output: done}]',
    ],
  ];
  for (const [what, text] of quiet) it(`nothing of ${what}`, () => assert.deepEqual(warnings(text), []));
});

describe('a file that means harm', () => {
  it('has as many warnings as are told, and is not searched for what each was meant to be', () => {
    const keys = Array.from({ length: 2000 }, (_, index) => `key${index}: 1`).join(', ');
    const nodes = Array.from(
      { length: 300 },
      (_, index) => `  - {name: n${index}, uses: state.set, with: {x: "{{ state.kez${index} }}"}}`,
    );
    const all = warnings(`initial_state: {${keys}}\nnodes:\n${nodes.join('\n')}`);
    assert.equal(all.length, 64);
    assert.match(all.at(-1)!, /There are 237 more in this file/);
  });
});

describe('two tools of one name are refused', () => {
  const ask = 'messages: [{role: user, content: hi}]';
  const own = (name: string) => `{name: ${name}, description: d, action: fs.list}`;
  const cases: [what: string, text: string, problem: string][] = [
    [
      'in a node',
      `nodes: [{name: a, uses: llm.tools, with: {${ask}, tools: [${own('look')}, ${own('look')}]}}]`,
      'Two tools are named `look`.',
    ],
    [
      'which only a model does not tell apart',
      `nodes: [{name: a, uses: llm.tools, with: {${ask}, tools: [fs.*, ${own('fs_read')}]}}]`,
      'Two tools are named `fs_read`: models see both as `fs.read`.',
    ],
    [
      'one of which is the workspace’s',
      `tools: [${own('fs.read')}]\nnodes: [{name: a}]`,
      'Two tools are named `fs.read`.',
    ],
    [
      'one of which is the file’s',
      `tools: [${own('look')}]\nnodes: [{name: a, agent: {instructions: x, tools: [look, ${own('look')}]}}]`,
      'Two tools are named `look`.',
    ],
  ];
  for (const [what, text, problem] of cases)
    it(what, () =>
      assert.deepEqual(
        loadWorkflow(text, known).problems.map(({ message }) => message),
        [problem],
      ),
    );

  it('in an agent', () =>
    assert.deepEqual(
      loadAgent(`instructions: x\ntools: [fs.read, fs.read]\n`, known).problems.map(({ message }) => message),
      ['Two tools are named `fs.read`.'],
    ));
});
