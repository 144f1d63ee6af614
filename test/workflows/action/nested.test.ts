import assert from 'node:assert/strict';
import { loadNestedWorkflows } from '../../../src/workflows/action/nested.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { eventually } from '../../support/eventually.ts';
import { type ProviderScript, reply, type WireRequest } from '../../support/provider.ts';
import { Stage, toolNames } from '../stage.ts';

const outer = `
initial_state: {file: a.md, note: mine}
nodes:
  - name: begin
    uses: shell.run
    with: {command: "echo begin >> log"}
    output: begun
  - name: review
    uses: workflow.run
    with: {workflow: lint, inputs: {path: "{{ state.file }}"}}
    output: review
  - {name: all, uses: state.set, with: {all: "{{ state.review.verdict }} {{ state.note }}"}}
`;
const lint = `
state_schema: {path: str}
initial_state: {note: theirs}
nodes:
  - {name: look, uses: shell.run, with: {command: "echo look {{ state.path }} >> log"}, output: {looked: true}}
  - name: judge
    uses: llm.call
    with: {messages: [{role: user, content: "Judge {{ state.path }}, {{ state.file }}"}]}
    output: {verdict: "{{ result.content }}"}
  - {name: left, uses: state.set, with: {side: left}}
  - {name: right, foreach: [1, 2], run: {type: expression, value: item * 2, output_key: n}, output: sums}
  - {name: join, uses: shell.run, with: {command: "echo join {{ parallel_results[0].side }} {{ parallel_results[1].sums[1].n }} >> log"}, output: {joined: true}}
edges:
  - {from: look, to: judge}
  - {from: judge, to: left, parallel: true, fan_in: join}
  - {from: judge, to: right, parallel: true, fan_in: join}
`;
const log = 'begin\nlook a.md\njoin left 4\n';

describe('a workflow as a step of another', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const begin = async (script: ProviderScript, yaml = outer, others: Record<string, string> = { lint }) => {
    stage = await Stage.of(yaml, script);
    stage.others = others;
    return stage;
  };

  it('begins with its inputs alone, and gives what its state holds at its end', async () => {
    await begin([reply.text('Fine.')]);
    assert.equal((await stage.start()).phase, 'Completed');
    const state = await stage.state();
    assert.deepEqual(state.review, { note: 'theirs', looked: true, verdict: 'Fine.', joined: true });
    assert.equal(state.all, 'Fine. mine');
    assert.equal(stage.provider.requests[0]!.body.messages[0]!.content, 'Judge a.md, ');
    assert.equal(stage.workspace.read('log'), log);
  });

  it('tells how its own nodes stand, each under the name of the step', async () => {
    await begin([reply.text('Fine.')]);
    await stage.start();
    const { nodes, branches } = (await stage.kept()).graph!;
    const known = Object.entries(nodes).map(([name, { status }]) => `${name} ${status}`);
    assert.ok(
      ['review/look completed', 'review/join completed', 'review/right[1] completed'].every((one) =>
        known.includes(one),
      ),
    );
    assert.equal(Object.keys(branches).length, 0);
    assert.deepEqual(stage.questions.length, 3, 'its gate is the run’s');
  });

  it('goes on inside of it after a kill', async () => {
    await begin([reply.hang()]);
    const running = stage.start();
    await eventually('the model is asked', () => stage.provider.requests.length === 1);
    await stage.crash(running);
    stage.provider.script = () => reply.text('Fine.');
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).all, 'Fine. mine');
    assert.equal(stage.workspace.read('log'), log);
  });

  it('tells what it said last, also after a kill when it had come to its end', async () => {
    const inner = 'nodes: [{name: word, uses: state.set, with: {content: The last word.}}]';
    await begin([], 'nodes: [{name: do, uses: workflow.run, with: {workflow: inner}, output: done}]', { inner });
    await stage.crashAt((event) => event.type === 'node' && event.node === 'do/word' && event.status === 'end');
    assert.equal((await stage.continue()).assistantText, 'The last word.');
  });

  it('goes on inside of it after a stop, a failure and a reload', async () => {
    await begin([reply.hang()]);
    const running = stage.start();
    await eventually('the model is asked', () => stage.provider.requests.length === 1);
    await stage.engine.stop(stage.runId);
    await running;
    stage.build();
    stage.provider.script = () => reply.status(400);
    const { error } = await stage.continue();
    assert.match(error!.message, /^Node review: Node review\/judge: /);
    stage.build();
    stage.provider.script = () => reply.text('Fine.');
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal(stage.workspace.read('log'), log);
  });

  it('rests inside of it', async () => {
    await begin(() => {
      stage.engine.pause(stage.runId);
      return reply.text('Fine.');
    });
    assert.equal((await stage.start()).phase, 'WaitingUser');
    assert.deepEqual(stage.steps.at(-1), 'end review/judge');
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal(stage.workspace.read('log'), log);
  });

  it('can be done for each item, in a loop, by on_error, and eight deep', async () => {
    const one = 'state_schema: {n: int}\nnodes: [{name: a, uses: state.set, with: {m: "{{ state.n + 1 }}"}}]\n';
    const level = (name: string) =>
      `state_schema: {n: int}\nnodes: [{name: a, steps: [{uses: workflow.run, with: {workflow: ${name}, inputs: {n: "{{ state.n + 1 }}"}}}]}]\n`;
    const others = Object.fromEntries(
      ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7'].map((name, index) => [name, level(`w${index + 2}`)]),
    );
    await begin(
      [],
      `nodes: [{name: go, foreach: [0, 10], uses: workflow.run, with: {workflow: w1, inputs: {n: "{{ item }}"}}, output: all}]`,
      { ...others, w8: one },
    );
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual((await stage.state()).all, [
      { item: 0, index: 0, m: 8 },
      { item: 10, index: 1, m: 18 },
    ]);
  });

  const asks = `nodes: [{name: ask, agent: {instructions: You ask.}, prompt: Ask., output: {said: "{{ result.content }}"}}]`;
  it('has agents that talk for themselves, and ask the person', async () => {
    const script = ({ messages }: WireRequest) =>
      reply.text(messages.length > 2 ? `${messages.at(-1)!.content}!` : 'Which one?');
    await begin(script, 'nodes: [{name: inner, uses: workflow.run, with: {workflow: asks}}]', { asks });
    assert.equal((await stage.start()).assistantText, 'inner/ask: Which one?');
    stage.build();
    assert.equal((await stage.continue('the red')).phase, 'Completed');
    assert.equal((await stage.state()).said, 'the red!');
  });

  const wrong: [what: string, inputs: string, message: string][] = [
    ['without what it needs', '{}', 'Node review: The workflow lint requires `path`. Set it in `inputs`.'],
    [
      'with what it does not take',
      '{path: a, pathh: b}',
      'Node review: The workflow lint has no input `pathh`. Did you mean "path"?',
    ],
    ['with another type', '{path: [1]}', 'Node review: The run cannot start: `path` must be `str`, not [1].'],
  ];
  for (const [what, inputs, message] of wrong)
    it(`does not begin ${what}`, async () => {
      await begin([], outer.replace('{path: "{{ state.file }}"}', inputs));
      assert.equal((await stage.start()).error!.message, message);
    });
});

describe('workflows that stand in each other', () => {
  const file = (...names: string[]) => {
    const nodes = names.map((name, index) => `{name: n${index}, uses: workflow.run, with: {workflow: ${name}}}`);
    return loadWorkflow(`nodes: [{name: first}${nodes.map((node) => `, ${node}`).join('')}]`, { tools: toolNames })
      .value!;
  };
  const from = (all: Record<string, string[]>) => {
    const load = async (name: string) => {
      if (!all[name]) throw new Error(`There is no workflow ${name} in .towpath/workflows.`);
      return file(...all[name]);
    };
    return loadNestedWorkflows('a', file(...all.a!), load);
  };
  const deep = Object.fromEntries(
    [...'abcdefghi'].map((name, index) => [name, [...'bcdefghij'].slice(index, index + 1)]),
  );

  it('do not run themselves, by whatever way', async () => {
    await assert.rejects(from({ a: ['a'] }), /^Error: The workflow a runs itself: a → a\.$/);
    await assert.rejects(
      from({ a: ['b', 'c'], b: ['c'], c: ['d'], d: ['b'] }),
      /The workflow b runs itself: a → b → c → d → b\./,
    );
  });

  it('stand eight deep at most, and the same one may run twice', async () => {
    assert.equal((await from({ ...deep, i: [] })).size, 8);
    await assert.rejects(from({ ...deep, j: [] }), /Workflows can be nested 8 levels deep/);
    assert.equal((await from({ a: ['b', 'c', 'c'], b: ['c'], c: [] })).size, 2);
  });

  it('are looked at once each, however often they run', async () => {
    const layers = Array.from({ length: 8 }, (_, layer) => [...'abcdefghij'].map((one) => `${one}${layer}`));
    const all = Object.fromEntries(
      layers.flatMap((layer, index) => layer.map((name) => [name, layers[index + 1] ?? []])),
    );
    assert.equal((await from({ a: layers[0]!, ...all })).size, 80);
  });

  const problems: [what: string, step: string, message: string][] = [
    [
      'a name that is not there',
      'uses: workflow.run, with: {workflow: linnt}',
      'There is no workflow `linnt` in `.towpath/workflows`. Did you mean "lint"?',
    ],
    [
      'a template for a name',
      'uses: workflow.run, with: {workflow: "{{ state.which }}"}',
      '`workflow` is the name of a file, not a template.',
    ],
    ['no name', 'uses: workflow.run', 'workflow.run needs `workflow`.'],
    [
      'a tool of a model',
      'uses: llm.tools, with: {messages: [{role: user, content: x}], tools: [{name: t, description: d, action: workflow.run, with: {workflow: lint}}]}',
      '`workflow.run` is a step of a workflow, not a tool for models.',
    ],
  ];
  for (const [what, step, message] of problems)
    it(`are checked when they are loaded: ${what}`, () => {
      const { problems } = loadWorkflow(`nodes: [{name: a, ${step}}]`, { tools: toolNames, workflows: ['lint'] });
      assert.deepEqual(
        problems.map((one) => one.message),
        [message],
      );
    });
});
