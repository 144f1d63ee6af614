import assert from 'node:assert/strict';
import { workflowFileCompletionsAt, workflowHoverAt } from '../../../src/workflows/write/complete.ts';
import { createWorkflowJsonSchemas, workflowActionSchema } from '../../../src/workflows/write/jsonSchema.ts';
import type { DescribedJsonSchema, WorkflowLanguage } from '../../../src/workflows/write/writing.ts';

const schemas = createWorkflowJsonSchemas();
const language = (kind: 'workflow' | 'agent'): WorkflowLanguage => ({
  schema: schemas[kind] as DescribedJsonSchema,
  agents: ['planner', 'reviewer'],
  action: workflowActionSchema,
});

describe('completion in a workflow file', () => {
  /** `|` is where the person types; what is expected is among what is offered, what is not is not. */
  const cases: [what: string, text: string, offered: string[], not: string[]][] = [
    ['keys of the file', 'name: x\nno|', ['nodes', 'edges', 'settings'], ['name', 'version', 'uses']],
    ['keys of an empty file', '|', ['name', 'nodes'], []],
    ['keys of a node', 'nodes:\n  - name: a\n    |', ['uses', 'with', 'goto', 'agent'], ['name', 'nodes', 'action']],
    ['keys of a node’s beginning', 'nodes:\n  - |\n', ['name', 'uses'], []],
    ['keys between others', 'nodes:\n  - name: a\n    us|\n    output: x\n', ['uses'], ['output']],
    ['a key that is being changed', 'nodes:\n  - name: a\n    us|s: x\n', ['uses'], []],
    ['keys in braces', 'nodes:\n  - {name: a, u|}\n', ['uses', 'goto'], ['name']],
    ['keys of a choice', 'nodes:\n  - name: a\n    goto:\n      - |\n', ['if', 'to'], []],
    ['actions', 'nodes:\n  - name: a\n    uses: fs.|\n', ['fs.read', 'llm.call', 'state.set'], ['name', 'file.read']],
    [
      'keys of the state',
      'initial_state: {n: 1}\nnodes:\n  - name: a\n    uses: shell.run\n    with: {command: x}\n    output: tests\n  - name: b\n    run: {type: expression, value: "state.|", output_key: twice}\n',
      ['input', 'n', 'tests', 'twice'],
      ['exitCode', 'variables'],
    ],
    [
      'what a step gave, in a text of many lines',
      'nodes:\n  - name: a\n    uses: shell.run\n    output: tests\n  - name: b\n    agent: planner\n    prompt: >\n      Mend this:\n      {{ state.tests.|\n',
      ['exitCode', 'output'],
      ['stdout', 'name'],
    ],
    [
      'what a step gave, in a choice',
      'nodes:\n  - name: a\n    uses: mcp.search.query\n    output: found\n    goto:\n      - {if: state.found.t|, to: __end__}\n',
      ['text', 'structured'],
      ['content'],
    ],
    [
      'the result of a step',
      'nodes:\n  - name: a\n    uses: fs.read\n    output:\n      text: "{{ result.| }}"\n',
      ['text', 'totalLines'],
      ['content'],
    ],
    [
      'nothing of one item where a list is meant',
      'nodes:\n  - {name: a, foreach: [1], uses: llm.call, output: all}\n  - {name: b, uses: llm.call, with: {model: state.all.|}}\n',
      [],
      ['content'],
    ],
    [
      'what a loop says of itself',
      'nodes:\n  - {name: a, type: while_loop, body: [{uses: llm.call, output: x}], output: loop}\n  - {name: b, uses: llm.call, with: {model: state.loop.|}}\n',
      ['iterations', 'limit_reached'],
      ['content'],
    ],
    [
      'constants',
      'variables: {most: 3}\nnodes:\n  - name: a\n    goto:\n      - {if: state.n > variables.|, to: __end__}\n',
      ['most'],
      ['n'],
    ],
    [
      'nothing about what nobody knows',
      'nodes:\n  - {name: a, uses: llm.call, with: {model: state.x.|}}\n',
      [],
      ['name'],
    ],
    [
      'what an action takes',
      'nodes:\n  - name: a\n    uses: llm.retry\n    with:\n      m|\n',
      ['messages', 'max_retries'],
      ['tools'],
    ],
    [
      'what an action takes by its other name',
      'nodes:\n  - name: a\n    uses: actions.llm_retry\n    with:\n      m|\n',
      ['messages', 'max_retries'],
      ['tools'],
    ],
    ['what a tool takes', 'nodes:\n  - name: a\n    uses: fs.read\n    with: {|}\n', ['path', 'limit'], ['messages']],
    [
      'what a step’s action takes',
      'nodes:\n  - name: a\n    steps:\n      - uses: shell.run\n        with:\n          |\n',
      ['command'],
      ['path'],
    ],
    [
      'roles of a message',
      'nodes:\n  - name: a\n    uses: llm.call\n    with:\n      messages:\n        - role: |\n',
      ['system', 'user'],
      [],
    ],
    [
      'nodes to go to',
      'nodes:\n  - name: first\n    goto: |\n  - name: second\n',
      ['first', 'second', '__end__'],
      ['uses'],
    ],
    ['nodes of an edge', 'nodes: [{name: first}]\nedges:\n  - {from: |}\n', ['first', '__start__'], ['__end__']],
    ['agents', 'nodes:\n  - name: a\n    agent: |\n', ['planner', 'reviewer'], []],
    ['yes and no', 'nodes:\n  - name: a\n    fan_in: |\n', ['true', 'false'], []],
    ['nothing in a comment', 'name: x # no|\n', [], ['nodes']],
    ['nothing for a name', 'name: |\n', [], ['nodes']],
  ];
  for (const [what, text, offered, not] of cases)
    it(`offers ${what}`, () => {
      const offset = text.indexOf('|');
      const { all } = workflowFileCompletionsAt(text.replace('|', ''), offset, language('workflow'));
      const labels = all.map(({ label }) => label);
      assert.deepEqual(
        [offered.filter((one) => !labels.includes(one)), not.filter((one) => labels.includes(one))],
        [[], []],
      );
      assert.equal(new Set(labels).size, labels.length, 'each once');
    });

  it('offers what an agent’s file can say', () => {
    const { from, all } = workflowFileCompletionsAt('instructions: x\nappr', 20, language('agent'));
    assert.equal(from, 16);
    assert.deepEqual(
      all.map(({ label }) => label),
      ['name', 'description', 'model', 'tools', 'temperature', 'max_turns', 'approval'],
    );
    const { all: values } = workflowFileCompletionsAt('approval: ', 10, language('agent'));
    assert.deepEqual(
      values,
      ['default', 'ask', 'read_only'].map((label) => ({ label, kind: 'value' })),
    );
  });

  it('never throws, wherever the person types, whatever is broken', () => {
    const text = 'nodes:\n  - {name: a, uses: [\n  x: "{{ \n- b: &c\n*d: ? |\n%';
    for (let offset = 0; offset <= text.length; offset++) {
      workflowFileCompletionsAt(text, offset, language('workflow'));
      workflowHoverAt(text, offset, language('workflow'));
    }
  });
});

describe('hover in a workflow file', () => {
  const cases: [what: string, text: string, told: RegExp | undefined][] = [
    ['a key', 'nodes:\n  - name: a\n    go|to: b\n', /^Next node/],
    ['a key of the dialect’s other hosts', 'settings:\n  auto_|trace: true\n', /leaves it out/],
    ['an action', 'nodes:\n  - name: a\n    uses: llm.re|try\n', /tried again/],
    [
      'a tool, with what it gives',
      'nodes:\n  - name: a\n    uses: fs.re|ad\n',
      /^Read text .*It gives `\{path, text\?/,
    ],
    ['a parameter of a tool', 'nodes:\n  - {name: a, uses: fs.read, with: {off|set: 1}}\n', /^The first line, from 1/],
    [
      'a parameter of a model call',
      'nodes:\n  - {name: a, uses: llm.retry, with: {base_|delay: 2}}\n',
      /^Seconds before the first retry.*: 1 without it\.$/,
    ],
    [
      'a parameter of a model with tools',
      'nodes:\n  - {name: a, uses: llm.tools, with: {max_tool_|rounds: 2}}\n',
      /: 10 without it\.$/,
    ],
    ['an action by its other name', 'nodes:\n  - name: a\n    uses: actions.llm_re|try\n', /tried again/],
    ['a value', 'initial_state: {a: some|thing}\n', undefined],
  ];
  for (const [what, text, told] of cases)
    it(`tells about ${what}`, () => {
      const known = workflowHoverAt(text.replace('|', ''), text.indexOf('|'), language('workflow'));
      if (told) assert.match(known ?? '', told);
      else assert.equal(known, undefined);
    });
});
