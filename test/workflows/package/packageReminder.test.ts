import assert from 'node:assert/strict';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { sampleFiles } from './sample.ts';
import { playPackage, type Stage } from './stage.ts';

const state = (frontmatter: Record<string, unknown>) =>
  call('fs.apply_patch', { path: '@state/workflow.md', frontmatter });
const letter = (text = 'Dear Ada') => call('fs.write', { path: '@state/artifacts/letter.md', content: text });
const other = (text = 'x') => call('fs.write', { path: '@project/other.md', content: text });
const toJudge = () => state({ currentNodeId: 'judge', stepsCompleted: ['ask'] });

const atAsk = `NODE_REMINDER
- nodeId: ask
- missing: add ask to stepsCompleted; set currentNodeId to judge; add @state/artifacts/letter.md to artifacts
- how: one fs.apply_patch with frontmatter on @state/workflow.md once the node is done; until then go on, or ask`;
const unmade = atAsk.replace('add ask', 'write @state/artifacts/letter.md; add ask').replace(/; add @state[^\n]*/, '');
const atJudge = atAsk
  .replaceAll('ask', 'judge')
  .replace('or judge', 'or ask')
  .replace('currentNodeId to judge', 'currentNodeId to ask (not good) or done (good)')
  .replace(/; add @state[^\n]*/, '');

/** What the model does; how many requests it takes; where the run stops; what it was reminded of. */
const runs: [what: string, replies: ScriptedReply[], requests: number, phase: string, reminders: string[]][] = [
  ['asks before it works', [{ text: 'Whom is it for?' }], 1, 'WaitingUser', []],
  ['looks around, and asks', [{ calls: [call('fs.list', {})] }, { text: 'Whom is it for?' }], 2, 'WaitingUser', []],
  ['works and says so', [{ calls: [letter(), toJudge()] }, { text: 'Is it good?' }], 2, 'WaitingUser', []],
  [
    'has made what the node makes, is told, and says so',
    [{ calls: [letter()] }, { calls: [toJudge()] }, { text: 'Is it good?' }],
    3,
    'WaitingUser',
    [atAsk],
  ],
  [
    'was told and stops all the same: it is the person’s turn',
    [{ calls: [letter()] }, { text: 'Done.' }],
    2,
    'WaitingUser',
    [atAsk],
  ],
  [
    'has worked at something else and stops: it is told and goes on',
    [{ calls: [other()] }, { text: 'Done.' }, { calls: [letter(), toJudge()] }, { text: 'Is it good?' }],
    4,
    'WaitingUser',
    [unmade],
  ],
  [
    'stops again at once: not twice at one node',
    [{ calls: [other()] }, { text: 'Done.' }, { text: 'Really.' }],
    3,
    'WaitingUser',
    [unmade],
  ],
  [
    'has said that a node is done and does not leave it',
    [
      { calls: [letter(), toJudge()] },
      { calls: [state({ stepsCompleted: ['judge'] })] },
      { text: 'Good.' },
      { text: 'Hm.' },
    ],
    4,
    'WaitingUser',
    [atJudge.replace('add judge to stepsCompleted; ', '')],
  ],
  [
    'works at two nodes: once at each',
    [{ calls: [letter()] }, { calls: [toJudge()] }, { calls: [other()] }, { text: 'Good.' }, { text: 'Hm.' }],
    5,
    'WaitingUser',
    [atAsk, atJudge],
  ],
  [
    'is refused, and has made nothing',
    [{ calls: [call('fs.write', { path: '@pkg/x.md', content: 'x' })] }, { text: 'No.' }],
    2,
    'WaitingUser',
    [],
  ],
  [
    'is complete without a word about its node',
    [{ calls: [letter(), state({ variables: { workflowStatus: 'complete' } })] }, { text: 'Done.' }],
    2,
    'Completed',
    [],
  ],
];

describe('a model that works at a node and does not update the state', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const reminders = async () => (await stage.told()).filter((text) => text.startsWith('NODE_REMINDER'));

  for (const [what, replies, requests, phase, expected] of runs)
    it(what, async () => {
      stage = await playPackage(sampleFiles, replies);
      const result = await stage.conversation.start('A letter, please.');
      assert.deepEqual(await reminders(), expected);
      assert.deepEqual([result.phase, stage.conversation.client.requests.length], [phase, requests]);
    });

  it('is told once, also over a reload and with the person’s words in between', async () => {
    stage = await playPackage(sampleFiles, [
      { calls: [letter()] },
      { text: 'Done.' },
      { calls: [letter('Dear Eve')] },
      { text: 'Done again.' },
    ]);
    await stage.conversation.start();
    stage.conversation.build();
    assert.equal((await stage.conversation.continue('For Eve.')).phase, 'WaitingUser');
    assert.deepEqual(await reminders(), [atAsk]);
  });

  it('is told at the node’s next turn again when the graph leads back to it', async () => {
    stage = await playPackage(sampleFiles, [
      { calls: [letter(), toJudge()] },
      { calls: [state({ currentNodeId: 'ask', stepsCompleted: ['judge'] })] },
      { calls: [letter('Dear Eve')] },
      { calls: [state({ currentNodeId: 'judge' })] },
      { text: 'Is it good?' },
    ]);
    await stage.conversation.start();
    assert.deepEqual(await reminders(), [atAsk.replace('add ask to stepsCompleted; ', '')]);
  });

  it('is not told while the run is to rest', async () => {
    stage = await playPackage(sampleFiles, [{ calls: [letter()] }, { text: 'Done.' }]);
    const running = stage.conversation.start();
    stage.conversation.engine.pause(stage.conversation.runId);
    assert.equal((await running).phase, 'WaitingUser');
    assert.deepEqual(await reminders(), []);
    await stage.conversation.continue();
    assert.deepEqual(await reminders(), [atAsk]);
  });

  it('is not told of work that the person has undone', async () => {
    stage = await playPackage(sampleFiles, [
      { calls: [other()] },
      { text: 'Done.' },
      { text: 'Hm.' },
      { text: 'What now?' },
    ]);
    const { conversation } = stage;
    const running = conversation.start();
    conversation.engine.pause(conversation.runId);
    await running;
    const toolCallIds = undoableCallIds(await conversation.kept(), 'run');
    await conversation.engine.undo(conversation.runId, { toolCallIds }, conversation.workspace, async () => 'all');
    await conversation.continue('Not that.');
    assert.deepEqual(await reminders(), []);
  });
});
