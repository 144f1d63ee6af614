import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { type ProviderReply, reply, type WireRequest } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

const given = 'messages: [{role: user, content: Append three lines.}]';
const tools = (more = '', list = 'shell.run') => `
nodes:
  - name: work
    uses: llm.tools
    with: {tools: [${list}], ${given}}
    output: r${more}
`;
const own =
  '{name: shell_run, description: Runs, parameters: {command: {type: string, required: true}}, action: shell.run}';
const each = tools().replace('uses:', 'foreach: [1, 2]\n    max_workers: 1\n    uses:');
const parallel = `
nodes:
  - {name: begin}
  - {name: work, uses: llm.tools, with: {tools: [shell.run], ${given}}, output: r}
  - {name: other, uses: state.set, with: {a: 1}}
  - {name: join, uses: state.set, with: {r: "{{ parallel_results[0].r }}"}}
edges:
  - {from: begin, to: work, parallel: true, fan_in: join}
  - {from: begin, to: other, parallel: true, fan_in: join}
`;
const nested = 'nodes: [{name: outer, uses: workflow.run, with: {workflow: inner}}]';

/** Three commands, then the answer; `breaks` are replies that take the place of an answer to so many results. */
const script =
  (breaks: Record<number, ProviderReply> = {}) =>
  ({ messages }: WireRequest): ProviderReply => {
    const done = messages.filter(({ role }) => role === 'tool').length;
    const broken = breaks[done];
    delete breaks[done];
    return (
      broken ?? (done < 3 ? reply.call('shell_run', { command: `echo e${done} >> log.txt` }) : reply.text('Done.'))
    );
  };
const failing = () => reply.status(400, { error: { message: 'overloaded today' } });

describe('a step that lets a model work with tools, and is interrupted', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const log = () => stage.workspace.read('log.txt').trim().split('\n').join(' ');
  const result = async () => {
    const { r } = (await stage.state()) as { r: Record<string, unknown> & { tool_calls: unknown[] } };
    const results = r.tool_results as { result: { exitCode: number } }[];
    return [r.content, r.rounds, r.tool_calls.length, results.map((one) => one.result.exitCode).join()];
  };
  const whole = ['Done.', 3, 3, '0,0,0'];

  for (const [what, yaml] of [
    ['of the run', tools()],
    ['with a tool of the file', tools('', own)],
    ['in a parallel branch', parallel],
    ['in another workflow', nested],
  ] as const)
    it(`goes on in its conversation after an error: ${what}`, async () => {
      stage = await Stage.of(yaml, script({ 2: failing() }));
      stage.others = { inner: tools() };
      assert.equal((await stage.start()).error?.code, 'LLM_HTTP_ERROR');
      assert.equal(log(), 'e0 e1');
      assert.equal((await stage.continue()).phase, 'Completed');
      assert.equal(log(), 'e0 e1 e2');
      assert.deepEqual(await result(), whole);
      assert.deepEqual(
        [stage.provider.requests.length, stage.questions.length],
        [5, 3],
        'nothing is paid or asked twice',
      );
    });

  it('goes on in it at another attempt of the rule of its file', async () => {
    stage = await Stage.of(tools('\n    on_error: {retry: 2, wait: 0}'), script({ 2: failing() }));
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual([log(), stage.provider.requests.length, stage.questions.length], ['e0 e1 e2', 5, 3]);
    assert.deepEqual(await result(), whole);
  });

  it('goes on in it for each item of a list', async () => {
    stage = await Stage.of(each, (request, count) => (count === 2 ? failing() : script()(request)));
    assert.equal((await stage.start()).phase, 'Failed');
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(log().split(' ').sort(), ['e0', 'e0', 'e1', 'e1', 'e2', 'e2']);
    assert.equal(stage.provider.requests.length, 9);
  });

  it('goes on in it after Stop', async () => {
    stage = await Stage.of(tools(), script({ 2: reply.endless() }));
    const running = stage.start();
    await eventually('the third reply is asked for', () => stage.provider.requests.length === 3);
    await stage.engine.stop(stage.runId);
    assert.equal((await running).error?.code, 'ENGINE_ABORTED');
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual([log(), stage.questions.length], ['e0 e1 e2', 3]);
    assert.deepEqual(await result(), whole);
  });

  for (const round of [1, 2, 3])
    it(`goes on in it after the editor’s end, with the outcome of command ${round}`, async () => {
      stage = await Stage.of(tools(), script());
      let ends = 0;
      await stage.crashAt((event) => event.type === 'tool-end' && ++ends === round);
      const [lines, requests] = [log(), stage.provider.requests.length]; // the window that is gone went on, too
      assert.equal((await stage.continue()).phase, 'Completed');
      const again = ['e0', 'e1', 'e2'].slice(round);
      assert.equal(log(), [lines, ...again].join(' '));
      assert.equal(stage.provider.requests.length - requests, 4 - round);
      assert.deepEqual(await result(), whole);
    });

  it('has its answer where the editor ended before the node had it', async () => {
    stage = await Stage.of(tools(), script());
    await stage.crashAt(
      (event) =>
        event.type === 'node-message' && event.message.role === 'assistant' && event.message.content === 'Done.',
    );
    const requests = stage.provider.requests.length;
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal(stage.provider.requests.length, requests);
    assert.deepEqual(await result(), whole);
  });

  it('has as many rounds in all as its file says', async () => {
    stage = await Stage.of(tools().replace(given, `${given}, max_tool_rounds: 2`), script({ 1: failing() }));
    await stage.start();
    assert.equal((await stage.continue()).phase, 'Completed');
    const { warning, rounds } = ((await stage.state()) as { r: Record<string, unknown> }).r;
    assert.deepEqual([log(), rounds, warning], ['e0 e1', 2, 'The limit of 2 tool rounds is reached.']);
  });

  it('is asked with what its file says by then, if the model has not answered yet', async () => {
    stage = await Stage.of(tools(), script({ 0: failing() }));
    await stage.start();
    stage.rewrite(tools().replace('three', '3'));
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal(stage.provider.requests.at(-1)!.body.messages[0]!.content, 'Append 3 lines.');
  });

  it('begins a conversation of its own each time that a loop comes by', async () => {
    const loop = `
initial_state: {n: 0}
nodes:
  - {name: count, run: {type: expression, value: state.n + 1, output_key: n}}
  - name: work
    uses: llm.tools
    with: {tools: [shell.run], ${given}}
    goto: [{if: state.n < 2, to: count}, {to: end}]
  - {name: end}
`;
    stage = await Stage.of(loop, script());
    assert.equal((await stage.start()).phase, 'Completed');
    assert.equal(log(), 'e0 e1 e2 e0 e1 e2');
    assert.equal((await stage.kept()).graph!.main.conversations, undefined);
  });
});

describe('an agent whose own tool lets a model work, and is interrupted', () => {
  let stage: Stage;
  afterEach(() => stage.end());

  it('hears that a part of it was done', async () => {
    stage = await Stage.of(
      `
tools:
  - name: helper
    description: Does it
    action: llm.tools
    with: {tools: [shell.run], ${given}}
nodes: [{name: plan, agent: {instructions: You plan., tools: [helper]}, prompt: Plan.}]
`,
      ({ messages }) => {
        if (messages.some(({ content }) => content === 'Append three lines.'))
          return script()({ messages } as WireRequest);
        return messages.at(-1)!.role === 'tool' ? reply.text('I see.') : reply.call('helper', {});
      },
    );
    await stage.crashAt((event) => event.type === 'tool-end');
    await stage.continue();
    const { content } = stage.provider.requests.at(-1)!.body.messages.at(-1)!;
    assert.match(content!, /TOOL_INTERRUPTED.*Some of what it does was done/);
  });
});

describe('a step whose effect is on record, and that is interrupted before its node has it', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const deploy = (more = '') => `
nodes:
  - name: deploy
    uses: shell.run
    with: {command: "echo deployed >> log.txt && echo v1"}
    output: d${more}
  - {name: note, uses: state.set, with: {said: "{{ state.d.exitCode }} {{ state.d.output }}"}}
`;
  const log = () => stage.workspace.read('log.txt').trim().split('\n').length;

  it('is not done again: the node goes on with its result', async () => {
    stage = await Stage.of(deploy());
    await stage.crashAt((event) => event.type === 'tool-end');
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual([log(), stage.questions.length], [1, 1]);
    assert.equal((await stage.state()).said, '0 v1\n');
    assert.deepEqual(Object.keys((await stage.kept()).outcomes!), []);
  });

  it('is not done again where its node failed after it', async () => {
    const broken = deploy().replace('output: d', 'output: {d: "{{ result.output + 1 | items | first }}"}');
    stage = await Stage.of(broken);
    assert.equal((await stage.start()).phase, 'Failed');
    stage.rewrite(deploy());
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual([log(), stage.questions.length], [1, 1]);
  });

  it('fails as it failed, and is tried again as its file says', async () => {
    const yaml = deploy('\n    on_error: {retry: 1, wait: 0}').replace('command:', 'timeoutSeconds: 1, command:');
    stage = await Stage.of(yaml.replace('echo v1', 'sleep 20'));
    await stage.crashAt((event) => event.type === 'tool-end');
    const before = log(); // the window that is gone tried it again, too
    stage.rewrite(yaml);
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal(log(), before + 1);
    const begun = stage.events.flatMap((event) => (event.type === 'tool-start' ? [event.toolCallId] : []));
    assert.equal(begun.at(-1), 'deploy:1:0r1');
  });
});
