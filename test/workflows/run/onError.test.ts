import assert from 'node:assert/strict';
import { requiredWorkflowInputs } from '../../../src/workflows/plan/inputs.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { eventually } from '../../support/eventually.ts';
import { reply } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

const call = (more: string, goto = '') => `
initial_state: {answer: before}
nodes:
  - name: ask
    uses: llm.call
    with: {messages: [{role: user, content: Hi}]}
    output: answer
    on_error: ${more}
${goto}
  - {name: after, uses: state.set, with: {told: "{{ state.error.message if state.error else 'none' }}"}, goto: __end__}
  - {name: mend, uses: state.set, with: {mended: "{{ state.error.node }} {{ state.error.code }}"}}
`;
const bad = reply.status(400);

describe('a step that fails', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const run = async (...given: Parameters<typeof Stage.of>) => {
    stage = await Stage.of(...given);
    const { phase, error } = await stage.start();
    return (error ?? { phase, ...(await stage.state()) }) as Record<string, unknown>;
  };
  const retries = () => stage.events.flatMap((event) => (event.type === 'progress' ? [event.text] : []));

  it('is gone on from: its error stands in the state, and nothing of before in its key', async () => {
    const state = await run(call('continue'), [bad]);
    assert.match(String(state.told), /400/);
    assert.equal(state.answer, null);
    const { status, warnings } = (await stage.kept()).graph!.nodes.ask!;
    assert.equal(status, 'completed');
    assert.match(warnings![0]!, /^Failed, and continued: /);
  });

  it('and then works has no error any more', async () => {
    const { told, error } = await run(call('continue'), [reply.text('Hello')]);
    assert.deepEqual([told, error], ['none', null]);
  });

  it('is tried again as often as it says, then fails', async () => {
    const error = await run(call('{retry: 2, wait: 0}'), [bad, bad, bad]);
    assert.equal(error.code, 'LLM_HTTP_ERROR');
    assert.equal(stage.provider.requests.length, 3);
    assert.deepEqual(retries(), ['ask failed: trying again (1 of 2)', 'ask failed: trying again (2 of 2)']);
  });

  it('is tried again until it works', async () => {
    const state = await run(call('{retry: 2, wait: 0}'), [bad, reply.text('Hello')]);
    assert.equal((state.answer as { content: string }).content, 'Hello');
  });

  it('leads to another node when trying again did not help', async () => {
    const { mended, told } = await run(call('{retry: 1, wait: 0, goto: mend}'), [bad, bad]);
    assert.deepEqual([mended, told], ['ask LLM_HTTP_ERROR', undefined]);
    assert.deepEqual(
      stage.events.flatMap((event) => (event.type === 'node' && event.next ? [event.next] : [])),
      [['mend'], []],
    );
  });

  it('of several is gone on from at the next one, or leads its node away', async () => {
    const steps = (rule: string, own: string) => `
nodes:
  - name: a
    on_error: ${rule}
    steps:
      - {uses: fs.read, with: {path: none.txt}, output: text${own}}
      - {uses: state.set, with: {second: true}}
  - {name: b, uses: state.set, with: {third: "{{ state.error.code | default(none) }}"}}
`;
    assert.deepEqual(await run(steps('{goto: b}', '')), {
      phase: 'Completed',
      error: { node: 'a', code: 'ENOENT', message: '"none.txt" does not exist. Use fs.find to look for it.' },
      third: 'ENOENT',
    });
    await stage.end();
    const { second } = await run(steps('retry', ', on_error: continue'));
    assert.equal(second, true);
  });

  it('ends its node all the same when the person said no: nobody is asked again', async () => {
    stage = await Stage.of(
      'nodes: [{name: a, uses: fs.write, with: {path: a, content: x}, on_error: {retry: 3, wait: 0, continue: true}}]',
    );
    stage.answers = [{ decision: 'deny' }];
    assert.equal((await stage.start()).error?.code, 'TOOL_DENIED');
    assert.deepEqual(stage.questions, ['Create a']);
  });

  it('is asked about each time that it is tried', async () => {
    const yaml = `nodes: [{name: a, uses: fs.edit, with: {path: a, edits: [{oldText: x, newText: "y"}]}, on_error: {retry: 1, wait: 0}}]`;
    await run(yaml, [], { files: { a: 'z' } });
    const ids = stage.events.flatMap((event) => (event.type === 'tool-end' ? [event.toolCallId] : []));
    assert.deepEqual(ids, ['a:1:0', 'a:1:0r1']);
  });

  it('can be stopped while it waits', async () => {
    stage = await Stage.of(call('{retry: 1, wait: 600}'), [bad]);
    const running = stage.start();
    await eventually('it waits', () => retries().length === 1);
    await stage.engine.stop(stage.runId);
    assert.equal((await running).error?.code, 'ENGINE_ABORTED');
    stage.provider.script = () => reply.text('Hello');
    assert.equal((await stage.continue()).phase, 'Completed');
  });
});

describe('a while_loop', () => {
  it('sets what a file declares and asks for without a warning', () => {
    const yaml = `${loop(2)}  - {name: after, uses: state.set, with: {said: "{{ state.iterations }}"}}\nstate_schema: {limit_reached: bool}\n`;
    const { value, warnings } = loadWorkflow(yaml, { tools: [] });
    assert.deepEqual([requiredWorkflowInputs(value!), warnings], [[], []]);
  });

  const loop = (most: number, more = '') => `
initial_state: {n: 0}
nodes:
  - name: count
    type: while_loop
    condition: state.n < 3
    max_iterations: ${most}
    ${more}
    body: [{uses: state.set, with: {n: "{{ state.n + 1 }}"}}]
`;
  const cases: [what: string, yaml: string, state: object][] = [
    ['that came to its end', loop(5), { n: 3, iterations: 3, limit_reached: false }],
    ['at its limit, and at its end', loop(3), { n: 3, iterations: 3, limit_reached: false }],
    ['that was cut off', loop(2), { n: 2, iterations: 2, limit_reached: true }],
    ['with a key for it', loop(2, 'output: loop'), { n: 2, loop: { iterations: 2, limit_reached: true } }],
    [
      'of a file that has the name for something else',
      loop(2).replace('n: 0}', 'n: 0, iterations: mine}'),
      { n: 2, iterations: 'mine', limit_reached: true },
    ],
  ];
  for (const [what, yaml, state] of cases)
    it(`says how often it was done: ${what}`, async () => {
      const stage = await Stage.of(yaml);
      await stage.start();
      const kept = await stage.state();
      await stage.end();
      assert.deepEqual(kept, state);
    });
});
