import assert from 'node:assert/strict';
import { pendingApprovalIds } from '../../../src/protocol/run/pending.ts';
import { eventually } from '../../support/eventually.ts';
import { reply } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

const tools = 'uses: llm.tools, with: {tools: [fs.write, fs.edit], messages: [{role: user, content: go}]}';

/** Places in a workflow at which a model calls a tool. */
const byModel: [where: string, yaml: string][] = [
  ['an agent in the conversation', 'nodes: [{name: work, agent: coder}]'],
  ['a call of llm.tools', `nodes: [{name: work, ${tools}}]`],
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
];

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
      assert.equal(pendingApprovalIds(await stage.kept()).length, 1);
      stage.presets.set(stage.runId, 'autopilot');
      assert.equal((await resume()).phase, 'Completed');
      assert.deepEqual([stage.questions.length, stage.workspace.read('a')], [2, 'x']);
      assert.deepEqual(pendingApprovalIds(await stage.kept()), []);
    });

    it(`${how} at a node: a denial fails it as ever`, async () => {
      stage = await Stage.of('nodes:\n  - {name: write, uses: fs.write, with: {path: a, content: x}}\n');
      await interrupted(how);
      stage.answers = [{ decision: 'deny' }];
      assert.equal((await resume()).error?.code, 'TOOL_DENIED');
      assert.equal(stage.workspace.exists('a'), false);
    });

    for (const [where, yaml] of byModel)
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

  const places: [where: string, yaml: string][] = [
    ['a node', 'nodes: [{name: write, uses: fs.write, with: {path: a, content: x}}]'],
    ...byModel,
  ];
  for (const [where, yaml] of places)
    it(`${where}: a window that is not trusted leaves it open, a trusted one asks it again`, async () => {
      stage = await Stage.of(yaml, ({ messages }) =>
        messages.at(-1)!.role === 'tool' ? reply.text('Done.') : reply.call('fs_write', { path: 'a', content: 'x' }),
      );
      stage.agent('coder', 'instructions: You code.\ntools: [fs.write]\n');
      stage.build();
      const before = await interrupted('killed');
      stage.workspace.trusted = false;
      assert.equal((await resume()).error?.code, 'ENGINE_UNTRUSTED');
      assert.deepEqual([stage.questions.length, pendingApprovalIds(await stage.kept()).length], [1, 1]);
      assert.equal(stage.provider.requests.length, before);
      stage.workspace.trusted = true;
      assert.equal((await resume()).phase, 'Completed');
      assert.deepEqual([stage.questions.length, stage.workspace.read('a')], [2, 'x']);
    });

  const edit = 'uses: fs.edit, with: {path: a, edits: [{oldText: one, newText: two}]}';
  const stale: [where: string, yaml: string][] = [
    [
      'a node whose on_error continues with a request',
      `nodes:
  - {name: change, ${edit}, on_error: continue}
  - {name: tell, uses: llm.call, with: {messages: [{role: user, content: hi}]}}
`,
    ],
    [
      'a node whose on_error continues with an agent',
      `nodes: [{name: change, ${edit}, on_error: continue}, {name: tell, agent: coder}]`,
    ],
    [
      'a node whose on_error leads to llm.tools',
      `nodes: [{name: change, ${edit}, on_error: {goto: work}}, {name: work, ${tools}}]`,
    ],
    ['a call of llm.tools', `nodes: [{name: work, ${tools}}]`],
  ];
  for (const [where, yaml] of stale)
    it(`${where}: an edit that no longer applies sends no request until the user continues`, async () => {
      stage = await Stage.of(
        yaml,
        (_, count) =>
          where === 'a call of llm.tools' && count === 0
            ? reply.call('fs_edit', { path: 'a', edits: [{ oldText: 'one', newText: 'two' }] })
            : reply.text('I see.'),
        { files: { a: 'one\n' } },
      );
      stage.agent('coder', 'instructions: You code.\ntools: [fs.write]\n');
      stage.build();
      const before = await interrupted('killed');
      stage.workspace.write('a', 'other\n');
      assert.deepEqual(await resume(), { success: true, phase: 'WaitingUser', assistantText: null });
      assert.deepEqual([stage.questions.length, stage.provider.requests.length], [1, before]);
      assert.equal((await stage.continue()).phase, 'Completed');
      assert.deepEqual([stage.provider.requests.length, stage.workspace.read('a')], [before + 1, 'other\n']);
    });
});
