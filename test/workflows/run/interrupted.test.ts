import assert from 'node:assert/strict';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { interruptedWork, nodeWithUndeliveredOutcome } from '../../../src/protocol/run/interruptions.ts';
import { eventually } from '../../support/eventually.ts';
import { reply, type WireRequest } from '../../support/provider.ts';
import { unsaid } from '../../support/unsaid.ts';
import { Stage } from '../stage.ts';

const command = "node -e \"require('fs').appendFileSync('log.txt', 'ran ');setTimeout(Object, WAIT)\"";
const run = (wait: number) =>
  `uses: shell.run, with: {command: ${JSON.stringify(command.replace('WAIT', String(wait)))}}`;
const note = `{name: note, uses: state.set, with: {said: "{{ state.d.version | default(0) }}"}}`;

describe('a step that was interrupted, and of which nothing says whether it ran', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const log = () => stage.workspace.read('log.txt').trim();
  const deploy = (wait: number, more = '') =>
    `nodes:\n  - {name: deploy, ${run(wait)}, output: d${more}}\n  - ${note}\n`;

  /** The window is gone while the commands of these nodes run. */
  const interrupted = async (yaml: string, begun: number, others: Record<string, string> = {}, ended?: string) => {
    stage = await Stage.of(yaml);
    stage.others = others;
    const running = stage.start();
    const marks = () => (stage.workspace.exists('log.txt') ? log().split(' ').length : 0);
    await eventually('the commands run', () => marks() === begun && (!ended || stage.steps.includes(`end ${ended}`)));
    await stage.crash(running);
  };

  it('rests until the person decides, and has the result that they give', async () => {
    await interrupted(deploy(60_000), 1);
    const [before] = interruptedWork(await stage.kept());
    assert.deepEqual([before!.label, before!.calls], ['deploy', ['deploy:1:0']], 'known before it is gone on with');
    const { phase, error } = await stage.continue();
    assert.deepEqual([phase, error?.code], ['WaitingUser', 'TOOL_INTERRUPTED']);
    const [after] = interruptedWork(await stage.kept());
    assert.equal(after!.at, before!.at, 'the time is that of the last sign of life');
    assert.equal((await stage.choose('after', { version: 'v2' })).phase, 'Completed');
    const { d, said } = await stage.state();
    assert.deepEqual([d, said, log(), stage.questions.length], [{ version: 'v2' }, 'v2', 'ran', 1]);
    assert.deepEqual(Object.keys((await stage.kept()).outcomes!), []);
  });

  it('keeps the decision over the editor’s end', async () => {
    await interrupted(deploy(60_000), 1);
    const toolCallIds = interruptedWork(await stage.kept())[0]!.calls;
    await stage.engine.chooseAfterInterruption(stage.runId, {
      toolCallIds,
      choice: 'after',
      result: { version: 'v3' },
    });
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).said, 'v3');
  });

  it('takes no decision about what is not open', async () => {
    await interrupted(deploy(60_000), 1);
    const toolCallIds = ['other:1:0'];
    await stage.engine.chooseAfterInterruption(stage.runId, { toolCallIds, choice: 'after', result: 1 });
    assert.equal(stage.events.filter(({ type }) => type === 'interruption-choice').length, 0);
  });

  it('runs again with its approval, once the person wants it', async () => {
    await interrupted(deploy(60_000), 1);
    stage.rewrite(deploy(0));
    assert.equal((await stage.choose('again')).phase, 'Completed');
    assert.deepEqual([log(), stage.questions.length], ['ran ran', 2]);
  });

  it('is interrupted again when the editor ends again', async () => {
    await interrupted(deploy(60_000), 1);
    const running = stage.choose('again');
    await eventually('it runs again', () => log() === 'ran ran');
    await stage.crash(running);
    assert.equal((await stage.continue()).error?.code, 'TOOL_INTERRUPTED');
    assert.equal((await stage.choose('after')).phase, 'Completed');
    assert.equal((await stage.state()).d, null);
  });

  it('of a list is one decision for all items that were interrupted', async () => {
    const list = `nodes:\n  - {name: deploy, foreach: [1, 2, 3], ${run(60_000)}, output: d}\n`;
    await interrupted(list.replace('60000', '{{ 0 if item == 2 else 60000 }}'), 3, {}, 'deploy[1]');
    assert.deepEqual(unsaid((await stage.continue()).error), {
      code: 'TOOL_INTERRUPTED',
      message: '2 of 3 items were interrupted. They may have run.',
    });
    assert.equal((await stage.choose('after', { exitCode: 7 })).phase, 'Completed');
    const { d } = (await stage.state()) as { d: { exitCode: number }[] };
    assert.deepEqual(
      d.map(({ exitCode }) => exitCode),
      [7, 0, 7],
    );
  });

  it('in another workflow rests there', async () => {
    const outer = `nodes:\n  - {name: outer, uses: workflow.run, with: {workflow: inner}}\n  - ${note}\n`;
    await interrupted(outer, 1, { inner: `nodes: [{name: deploy, ${run(60_000)}, output: d}]` });
    assert.equal((await stage.continue()).error?.message, '“outer/deploy” was interrupted. It may have run.');
    assert.equal((await stage.choose('after', { version: 1 })).phase, 'Completed');
    assert.equal((await stage.state()).said, 1);
  });

  it('of a model’s call in llm.tools, the result goes to the model', async () => {
    const script = ({ messages }: WireRequest) =>
      messages.some(({ role }) => role === 'tool')
        ? reply.text('Deployed.')
        : reply.call('shell_run', { command: command.replace('WAIT', '60000') });
    const yaml = `nodes: [{name: work, uses: llm.tools, with: {tools: [shell.run], messages: [{role: user, content: go}]}, output: r}]`;
    stage = await Stage.of(yaml, script);
    const running = stage.start();
    await eventually('it runs', () => stage.workspace.exists('log.txt'));
    await stage.crash(running);
    const { error } = await stage.continue();
    assert.match(error!.message, /^“node -e .*” was interrupted\. It may have run\.$/);
    stage.answers = [{ decision: 'deny' }];
    assert.equal((await stage.choose('again')).error?.code, 'TOOL_INTERRUPTED', 'a no leaves it open');
    assert.equal((await stage.choose('after', { version: 'v1' })).phase, 'Completed');
    const { r } = (await stage.state()) as { r: { content: string; tool_results: { result: unknown }[] } };
    assert.deepEqual([r.content, r.tool_results[0]!.result], ['Deployed.', { version: 'v1' }]);
    assert.deepEqual([log(), stage.provider.requests.length], ['ran', 2]);
  });

  describe('where no person has the run before them', () => {
    const decided = async (rule: string) => {
      await interrupted(deploy(60_000, `, on_error: ${rule}`), 1);
      stage.isAttended = false;
      const result = await stage.continue();
      assert.equal(log(), 'ran', 'never again');
      return result;
    };

    it('goes on where its file says so', async () => {
      assert.equal((await decided('{retry: 3, continue: true}')).phase, 'Completed');
      const { d, error } = (await stage.state()) as { d: unknown; error: { node: string; code: string } };
      assert.deepEqual([d, error.node, error.code], [null, 'deploy', 'TOOL_INTERRUPTED']);
    });

    it('goes where its file says', async () => {
      assert.equal((await decided('{goto: note}')).phase, 'Completed');
    });

    it('rests where its file only says to try again, or nothing', async () => {
      assert.equal((await decided('{retry: 3, wait: 0}')).error?.code, 'TOOL_INTERRUPTED');
    });
  });

  it('rests where a person has the run before them, whatever its file says', async () => {
    await interrupted(deploy(60_000, ', on_error: continue'), 1);
    assert.equal((await stage.continue()).error?.code, 'TOOL_INTERRUPTED');
  });

  it('is told as finished where its end is on record', async () => {
    stage = await Stage.of(deploy(0));
    await stage.crashAt((event: RunEvent) => event.type === 'tool-end');
    const kept = await stage.kept();
    assert.deepEqual([nodeWithUndeliveredOutcome(kept), interruptedWork(kept)], ['deploy', []]);
  });
});
