import assert from 'node:assert/strict';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { loadAgent, loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { templateProblem } from '../../../src/workflows/template/template.ts';
import { toolNames } from '../stage.ts';

const nodes = (text: string) => `nodes:\n${text}`;
const known = { tools: toolNames, agents: ['reviewer'] };
const noPython =
  'Towpath does not run Python. Use an action (`uses:`), `run: {type: expression, value: …}` with a Jinja expression, or `shell.run` for a program.';
const noCode = 'Towpath does not run code of a workflow file. Use an action (`uses:`), or `shell.run` for a program.';

describe('a workflow file is checked when it is loaded', () => {
  const ask = '{messages: [{role: user, content: hi}]}';
  const cases: [what: string, text: string, ...problems: string[]][] = [
    ['nothing in it', '', '1:1: This file has to be a list of keys with values: `name: …`.'],
    ['a list', '- a', '1:1: This file has to be a list of keys with values: `name: …`.'],
    ['no nodes', 'name: x', '1:1: `nodes` is missing.'],
    [
      'a syntax error',
      'nodes: [\nname: x',
      '2:1: Flow sequence in block collection must be sufficiently indented and end with a ].',
    ],
    ['a key twice', nodes('  - name: a\n    name: b\n'), '3:5: This key occurs twice. Keep one.'],
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nnodes: [*c,*c,*c]`,
      '1:1: Aliases (`*name`) repeat too much here. Write the parts out.',
    ],
    ['a key that is none', 'nam: x\nnodes: [{name: a}]', '1:1: There is no key `nam` here.'],
    ['a key of a node that is none', nodes('  - name: a\n    use: x\n'), '3:5: There is no key `use` here.'],
    [
      'a key that every object has',
      nodes('  - name: a\n    constructor: x\n'),
      '3:5: There is no key `constructor` here.',
    ],
    [
      'everything that is wrong, at once',
      'nam: x\nnodes:\n  - name: a\n    run: |\n      return {}\n  - {name: b, uses: fs.raed, goto: elsewhere}\n',
      '1:1: There is no key `nam` here.',
      `4:5: ${noPython}`,
      '6:21: There is no action `fs.raed`. Did you mean "fs.read"?',
      '6:36: There is no node `elsewhere`.',
    ],
    ['inline Python', nodes('  - name: a\n    run: |\n      return {}\n'), `3:5: ${noPython}`],
    ['a script', nodes('  - name: a\n    script: echo\n'), `3:5: ${noCode}`],
    ['another language', nodes('  - name: a\n    language: lua\n'), `3:5: ${noCode}`],
    [
      'imports',
      'imports: [{path: ./actions.py}]\nnodes: [{name: a}]',
      '1:1: Towpath does not load Python modules. Use the tools of the workspace, or an MCP server.',
    ],
    [
      'a lambda',
      nodes('  - name: a\n    uses: state.set\n    with:\n      x: "{{ (lambda y: y)(1) }}"\n'),
      '5:10: `lambda` is Python, which Towpath does not run. Use Jinja: filters, `if … else`, `{% for %}`.',
    ],
    [
      'a call that only Python has',
      nodes('  - name: a\n    goto:\n      - if: int(state.n) > 1\n        to: a\n'),
      '4:13: `int()` is Python, which Towpath does not run. Use `| int` instead.',
    ],
    [
      'a list comprehension',
      nodes('  - name: a\n    run: {type: expression, value: "[x for x in state.l]"}\n'),
      '3:36: `for` is Python, which Towpath does not run. Use Jinja: filters, `{% for %}`.',
    ],
    [
      'secrets',
      nodes('  - name: a\n    uses: state.set\n    with: {key: "{{ secrets.key }}"}\n'),
      '4:17: There is no `secrets` here. Keys stay in the editor’s secret storage and are never passed to a workflow.',
    ],
    [
      'a template with a mistake',
      nodes('  - name: a\n    uses: state.set\n    with: {x: "{{ state.x "}\n'),
      '4:15: This is not a Jinja template (Unexpected end of input).',
    ],
    [
      'an action that is none',
      nodes('  - name: a\n    uses: fs.raed\n'),
      '3:11: There is no action `fs.raed`. Did you mean "fs.read"?',
    ],
    [
      'a parameter that is none',
      nodes(`  - name: a\n    uses: llm.call\n    with: {messages: [{role: user, content: hi}], temprature: 1}\n`),
      '4:51: llm.call takes no `temprature`. Did you mean "temperature"?',
    ],
    [
      'a parameter that is missing',
      nodes('  - name: a\n    uses: llm.tools\n    with: {messages: [{role: user, content: hi}]}\n'),
      '3:11: llm.tools needs `tools`.',
    ],
    [
      'a parameter out of bounds',
      nodes(`  - name: a\n    uses: llm.retry\n    with: {messages: [{role: user, content: hi}], max_retries: -1}\n`),
      '4:64: `max_retries` is too small or empty.',
    ],
    [
      'a parameter of a tool that is none',
      nodes('  - name: a\n    uses: fs.read\n    with: {pth: x}\n'),
      '3:11: fs.read needs `path`.',
      '4:12: fs.read takes no `pth`. Did you mean "path"?',
    ],
    [
      'an abbreviation of a parameter',
      nodes('  - name: a\n    uses: shell.run\n    with: {cmd: x}\n'),
      '3:11: shell.run needs `command`.',
      '4:12: shell.run takes no `cmd`. Did you mean "command"?',
    ],
    [
      'what is asked for, under another name',
      'inputs: {file: str}\nnodes: [{name: a}]',
      '1:1: Declare inputs in `state_schema`, or with their rules in `input_schema`.',
    ],
    [
      'an agent in a loop',
      nodes('  - {name: a, type: while_loop, condition: true, max_iterations: 2, body: [{agent: reviewer}]}\n'),
      '2:77: An `agent` works at a node of its own. Use `goto` to go there and back.',
    ],
    [
      'a parameter of a tool of another kind',
      nodes('  - name: a\n    uses: fs.read\n    with: {path: x, limit: many}\n'),
      '4:28: `limit` must be a number.',
    ],
    [
      'a message of nobody',
      nodes('  - name: a\n    uses: llm.call\n    with:\n      messages:\n        - {role: bot, content: x}\n'),
      '6:18: `role` can only be `system`, `user`, `assistant`.',
    ],
    [
      'a format that is none',
      nodes('  - name: a\n    uses: llm.call\n    with: {prompt: x, response_format: {type: xml}}\n'),
      '4:47: `type` can only be `text`, `json_object`, `json_schema`.',
    ],
    [
      'a schema of no type',
      nodes(
        '  - name: a\n    uses: llm.call\n    with: {prompt: x, response_format: {type: json_schema, json_schema: {schema: {type: objct}}}}\n',
      ),
      '4:82: `schema`: This JSON schema is invalid: Unsupported type: objct.',
    ],
    [
      'a list of no type that a tool asks for',
      'tools: [{name: t, description: d, action: fs.read, parameters: {path: {type: array, items: {type: sting}}}}]\nnodes: [{name: a}]',
      '1:64: This JSON schema is invalid: Unsupported type: sting.',
    ],
    [
      'a block that is not closed',
      nodes('  - name: a\n    uses: state.set\n    with:\n      x: |\n        {% if state.y %}\n        yes\n'),
      '5:10: This is not a Jinja template (something is not closed).',
    ],
    [
      'a filter that is none',
      nodes('  - name: a\n    uses: state.set\n    with: {x: "{{ state.x | nope }}"}\n'),
      `4:15: ${toEnglishText(templateProblem('{{ x | nope }}')!)}`,
    ],
    [
      'a tool twice',
      'tools:\n  - {name: t, description: d, action: fs.list}\n  - {name: t, description: e, action: fs.list}\nnodes: [{name: a}]\n',
      '3:12: Two tools are named `t`.',
    ],
    [
      'several documents',
      'nodes: [{name: a}]\n---\nnodes: []\n',
      '2:1: There are several documents here (`---`): keep one a file.',
    ],
    [
      'a template that YAML takes for a mapping',
      nodes('  - name: a\n    uses: state.set\n    with:\n      x: {{ state.y }}\n'),
      '5:10: Put a template in quotes: `"{{ … }}"`.',
    ],
    [
      'a template that YAML takes for a mapping and something behind it',
      nodes('  - name: a\n    uses: fs.read\n    with:\n      path: {{ state.folder }}/a.txt\n'),
      '5:13: Put a template in quotes: `"{{ … }}"`.',
    ],
    [
      'a block that YAML takes for a directive',
      nodes('  - name: a\n    uses: fs.read\n    with: {path: {% if state.x %}a{% endif %}}\n'),
      '4:19: Put a template in quotes: `"{{ … }}"`.',
    ],
    ['tabs', 'nodes:\n\t- name: a\n', '2:1: Tabs are not allowed as indentation.'],
    ['a node that is a word', nodes('  - a\n'), '2:5: This must be keys with values.'],
    ['an edge from nowhere', 'nodes: [{name: a}]\nedges:\n  - to: a\n', '3:5: An edge needs `from`.'],
    ['a choice that leads nowhere', nodes('  - name: a\n    goto: [{if: state.x}]\n'), '3:12: `to` is missing.'],
    [
      'an agent of the node without instructions',
      nodes('  - name: a\n    agent: {name: x}\n'),
      '3:12: `instructions` is missing.',
    ],
    [
      'a tool whose action is none',
      nodes(
        '  - name: a\n    uses: llm.tools\n    with:\n      messages: [{role: user, content: hi}]\n      tools:\n        - {name: t, description: d, action: look.up}\n',
      ),
      '7:45: There is no action `look.up`.',
    ],
    [
      'a tool that asks for what its action does not take, and not for what it needs',
      'nodes: [{name: a}]\ntools:\n  - {name: t, description: d, action: fs.read, parameters: {pth: {required: true}}}\n',
      '3:39: fs.read needs `path`, which this tool has neither as an argument nor in `with`.',
      '3:61: fs.read takes no `pth`. Did you mean "path"?',
    ],
    [
      'a tool written in a node that gives what its action does not take',
      nodes(
        '  - name: a\n    uses: llm.tools\n    with:\n      messages: [{role: user, content: hi}]\n      tools:\n        - {name: t, description: d, action: fs.read, with: {path: x, mode: y}}\n',
      ),
      '7:70: fs.read takes no `mode`.',
    ],
    [
      'another name for a tool',
      nodes('  - name: a\n    uses: actions.fs_read\n'),
      '3:11: There is no action `actions.fs_read`. Did you mean "fs.read"?',
    ],
    [
      'a slip in the other name of an action',
      nodes('  - name: a\n    uses: actions.llm_cal\n'),
      '3:11: There is no action `actions.llm_cal`. Did you mean "llm.call"?',
    ],
    [
      'conditions by the other word',
      'nodes: [{name: a, goto: [{when: state.x, to: a}]}, {name: b}]\nedges:\n  - {from: b, to: a, if: state.x}\n',
      '1:27: Use `when` in `edges`; in a `goto` use `if`.',
      '3:22: Use `if` in a `goto`; in `edges` use `when`.',
    ],
    [
      'an end that is no node',
      'nodes: [{name: first, goto: END}]\n',
      '1:29: There is no node `END`. Use `__end__` for the end.',
    ],
    [
      'a way to nowhere',
      nodes('  - name: a\n    goto: elsewhere\n  - name: b\n'),
      '3:11: There is no node `elsewhere`.',
    ],
    [
      'an edge to nowhere',
      'nodes: [{name: first}]\nedges:\n  - {from: first, to: fisrst}\n',
      '3:23: There is no node `fisrst`. Did you mean "first"?',
    ],
    ['a name twice', 'nodes:\n  - name: a\n  - name: a\n', '3:11: Two nodes are named `a`.'],
    [
      'a name that is not possible',
      nodes('  - name: a b\n'),
      '2:11: `name`: Use letters, digits, `_`, `-` and `.`, at most 64 of them.',
    ],
    [
      'two things at once',
      nodes(`  - name: a\n    uses: llm.call\n    with: ${ask}\n    steps: [{uses: state.set}]\n`),
      '5:5: A node does one thing: `uses` or `steps`.',
    ],
    [
      'a loop without a bound',
      nodes('  - name: a\n    type: while_loop\n    condition: true\n    body: [{uses: state.set}]\n'),
      '2:5: A `while_loop` needs `max_iterations`.',
    ],
    [
      'a loop without an end in sight',
      nodes(
        '  - name: a\n    type: while_loop\n    condition: true\n    max_iterations: 5000\n    body: [{uses: state.set}]\n',
      ),
      '5:21: `max_iterations` can be at most 1000.',
    ],
    [
      'a list of which nothing is done',
      nodes('  - name: a\n    foreach: []\n'),
      '3:5: Set what is done for each item: `uses`, `steps`, `run` or `agent`.',
    ],
    [
      'what goes with a list, without one',
      nodes('  - {name: a, uses: state.set, max_workers: 2}\n'),
      '2:32: `max_workers` requires `foreach`.',
    ],
    [
      'an item that a step would overwrite',
      nodes(
        '  - name: a\n    foreach: []\n    item: file\n    steps:\n      - {uses: fs.read, with: {path: a}, output: file}\n',
      ),
      '6:9: `file` is reserved for the item. Give this another name.',
    ],
    [
      'a list of a loop',
      nodes(
        '  - {name: a, foreach: [], type: while_loop, condition: false, max_iterations: 1, body: [{uses: state.set}]}\n',
      ),
      '2:15: A loop cannot also iterate over a list. Use a separate node.',
    ],
    [
      'a failure that leads nowhere',
      nodes('  - {name: a, uses: state.set, on_error: {goto: b}}\n'),
      '2:49: There is no node `b`. Did you mean "a"?',
    ],
    [
      'a failure without anything to do',
      nodes('  - {name: a, uses: state.set, on_error: {wait: 1}}\n'),
      '2:42: `on_error`: Write `retry`, `continue` or `goto`.',
    ],
    [
      'a step that leaves its node',
      nodes('  - {name: a, steps: [{uses: state.set, on_error: {goto: a}}]}\n'),
      '2:41: A step cannot have `goto`. Set `on_error` on its node.',
    ],
    [
      'a list that is taken for one item',
      'nodes:\n  - {name: a, foreach: [1], uses: llm.call, with: {messages: [{role: user, content: x}]}, output: {text: "{{ result.content }}"}}\n',
      '2:106: Over a list, `result` is the list of what each item set. Write `output: text` for that list, or `{{ result | map(attribute="content") | list }}`.',
    ],
    [
      'a text that is an alias',
      'nodes:\n  - {name: a, agent: {instructions: x}, prompt: *bold*}\n',
      '2:49: `*bold*` repeats an anchor that does not exist. Put a text in quotes.',
    ],
    [
      'an agent that may fail',
      nodes('  - {name: a, agent: {instructions: x}, on_error: continue}\n'),
      '2:41: A failed agent needs your decision. `on_error` works with actions only.',
    ],
    [
      'branches without an end',
      'nodes: [{name: a}, {name: b}]\nedges:\n  - {from: a, to: b, type: parallel}\n',
      '3:5: A parallel edge needs `fan_in`, the node where the branches end.',
    ],
    [
      'a parallel part that ends with the one around it',
      'nodes: [{name: a}, {name: b}, {name: c}, {name: d}]\nedges:\n  - {from: a, to: b, parallel: true, fan_in: d}\n  - {from: b, to: c, parallel: true, fan_in: d}\n',
      '4:46: The parallel part around this one also ends at `d`. Let this one end at its own node.',
    ],
    [
      'an agent that is none',
      nodes('  - name: a\n    agent: reviwer\n'),
      '3:12: There is no agent `reviwer` in `.towpath/agents`. Did you mean "reviewer"?',
    ],
    [
      'a type that is none',
      'state_schema: {n: nmber}\nnodes: [{name: a}]',
      '1:19: `nmber` is not a type. Use `str`, `int`, `float`, `bool`, `list`, `dict` or `any`.',
    ],
    [
      'a type in a type that is none',
      'input_schema:\n  tags: {type: list, items: {type: wrod}}\nnodes: [{name: a}]',
      '2:9: This is not a type. Use `str`, `int`, `float`, `bool`, `list`, `dict` or `any`.',
    ],
    ['a value of the wrong kind', 'nodes: {}\n', '1:8: `nodes` must be a list.'],
    [
      'a choice that is none',
      'tools: [{name: t, description: d, action: fs.read, parameters: {path: {type: text}}}]\nnodes: [{name: a}]',
      '1:78: `type` can only be `string`, `integer`, `number`, `boolean`, `array`, `object`.',
    ],
    [
      'a key that means something to an object',
      'initial_state: {constructor: 1}\nnodes: [{name: a}]',
      '1:17: `constructor`: Use letters, digits and `_`.',
    ],
  ];
  for (const [what, text, ...problems] of cases)
    it(`${what}: ${problems[0]}`, () => {
      const loaded = loadWorkflow(text, known);
      assert.deepEqual(
        loaded.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`),
        problems,
      );
      assert.equal(loaded.value, undefined);
    });

  it('can say the same for several nodes by an anchor', () => {
    const text = nodes('  - &all {name: a, uses: state.set, with: {x: 1}}\n  - {<<: *all, name: b}\n');
    assert.deepEqual(
      loadWorkflow(text, known).value?.nodes.map(({ name, uses }) => [name, uses]),
      [
        ['a', 'state.set'],
        ['b', 'state.set'],
      ],
    );
  });

  it('is not read when it is too long', () => {
    const [problem] = loadWorkflow(`# ${'x'.repeat(500_001)}\nnodes: [{name: a}]`, known).problems;
    assert.equal(problem?.message, 'The file is larger than 256 KiB.');
  });
});

describe('an agent file is checked when it is loaded', () => {
  const cases: [what: string, text: string, problem: string][] = [
    ['no instructions', 'name: x\n', '1:1: `instructions` is missing.'],
    [
      'a tool that is none',
      'instructions: x\ntools: [fs.raed]\n',
      '2:9: There is no tool `fs.raed`. Did you mean "fs.read"?',
    ],
    ['a temperature that is none', 'instructions: x\ntemperature: 3\n', '2:14: `temperature` can be at most 2.'],
    ['no turn at all', 'instructions: x\nmaxTurns: 0\n', '2:11: `maxTurns` is too small or empty.'],
    ['what only a model call has', 'instructions: x\ntop_p: 0.2\n', '2:1: There is no key `top_p` here.'],
    [
      'a policy that would widen',
      'instructions: x\napproval: autopilot\n',
      '2:11: `approval` can only be `default`, `ask`, `read_only`.',
    ],
  ];
  for (const [what, text, expected] of cases)
    it(`${what}: ${expected}`, () => {
      const problems = loadAgent(text, known).problems.map(
        ({ line, column, message }) => `${line}:${column}: ${message}`,
      );
      assert.deepEqual(problems, [expected]);
    });
});
