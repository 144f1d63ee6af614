import assert from 'node:assert/strict';
import { openApprovals } from '../../../src/protocol/pending.ts';
import { eventually } from '../../support/eventually.ts';
import { reply } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

describe('a workflow whose approval waited when its window ended', () => {
  let stage: Stage;
  afterEach(() => stage.end());

  /** Begins, and ends the window while the approval waits. */
  const interrupted = async (how: 'killed' | 'closed') => {
    stage.answers = ['wait'];
    const running = stage.start();
    await eventually('it asks', () => stage.questions.length === 1);
    if (how === 'killed') await stage.crash(running);
    else {
      await stage.engine.close();
      await running;
    }
    stage.build();
    return stage.provider.requests.length;
  };
  const resume = () => stage.engine.continue({ runId: stage.runId, onlyApprovals: true });

  for (const how of ['killed', 'closed'] as const) {
    it(`${how} at a node: it is asked again, also under Autopilot, and done once`, async () => {
      stage = await Stage.of('nodes:\n  - {name: write, uses: fs.write, with: {path: a, content: x}}\n');
      await interrupted(how);
      assert.equal(openApprovals(await stage.kept()).length, 1);
      stage.presets.set(stage.runId, 'autopilot');
      assert.equal((await resume()).phase, 'Completed');
      assert.deepEqual([stage.questions.length, stage.workspace.read('a')], [2, 'x']);
      assert.deepEqual(openApprovals(await stage.kept()), []);
    });

    it(`${how} at a node: a denial fails it as ever`, async () => {
      stage = await Stage.of('nodes:\n  - {name: write, uses: fs.write, with: {path: a, content: x}}\n');
      await interrupted(how);
      stage.answers = [{ decision: 'deny' }];
      assert.equal((await resume()).error?.code, 'TOOL_DENIED');
      assert.equal(stage.workspace.exists('a'), false);
    });

    for (const [where, yaml] of [
      ['an agent in the conversation', 'nodes: [{name: work, agent: coder}]'],
      [
        'an agent in a parallel branch',
        `nodes:
  - {name: begin, uses: state.set, with: {x: 1}}
  - {name: work, agent: coder}
  - {name: other, uses: state.set, with: {y: 1}}
  - {name: sum, uses: state.set, with: {z: 1}}
edges:
  - {from: begin, to: work, parallel: true, fan_in: sum}
  - {from: begin, to: other, parallel: true, fan_in: sum}
`,
      ],
    ] as const)
      it(`${how} in ${where}: asked again without a request to the model, and gone on with`, async () => {
        stage = await Stage.of(yaml, ({ messages }) =>
          messages.at(-1)!.role === 'tool'
            ? reply.text('Done.')
            : reply.call('fs_write', { path: 'a', content: 'x' }, { id: 'functions.fs_write:0' }),
        );
        stage.agent('coder', 'instructions: You code.\ntools: [fs.write]\n');
        stage.build();
        const before = await interrupted(how);
        stage.answers = ['wait'];
        const running = resume();
        await eventually('it asks', () => stage.questions.length === 2);
        assert.equal(stage.provider.requests.length, before);
        await stage.engine.close();
        await running;
        stage.build();
        assert.equal((await resume()).phase, 'Completed');
        assert.deepEqual(
          [stage.questions.length, stage.provider.requests.length, stage.workspace.read('a')],
          [3, before + 1, 'x'],
        );
      });
  }
});
