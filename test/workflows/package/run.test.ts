import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunEvent } from '../../../src/protocol/run.ts';
import { packageRunId } from '../../../src/workflows/package/ids.ts';
import { Shelf } from '../../../src/workflows/package/shelf.ts';
import { Conversation } from '../../engine/conversation.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { sampleFiles } from './sample.ts';

const inProject = Object.fromEntries(
  Object.entries(sampleFiles).map(([file, text]) => [`.towpath/packages/letters/${file}`, text]),
);

/** The frontmatter as the model writes it anew. */
const stateText = (values: Record<string, unknown>) => {
  const state = { stepsCompleted: [], variables: { tone: 'warm' }, decisionLog: [], artifacts: [], ...values };
  const lines = Object.entries({ ...state, updatedAt: '2026-01-02T03:04:05Z' });
  return `---\n${lines.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join('\n')}\n---\n\n# The letter\n`;
};
const state = (values: Record<string, unknown>) =>
  call('fs.write', { path: '@state/workflow.md', content: stateText(values) });

describe('a package run', () => {
  let folder: string;
  let workspace: TemporaryWorkspace;
  let conversation: Conversation;
  afterEach(async () => {
    await conversation.end();
    rmSync(folder, { recursive: true });
  });

  async function talk(replies: ScriptedReply[]): Promise<string> {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'package-')));
    workspace = await temporaryWorkspace(inProject);
    conversation = new Conversation(workspace, replies);
    const shelf = new Shelf({
      project: workspace,
      storage: path.join(folder, 'unpacked'),
      openedFile: path.join(folder, 'opened.json'),
      stateFolder: () => path.join(folder, 'state'),
      autopilot: () => false,
      now: () => new Date('2026-01-01T00:00:00Z'),
    });
    const [shelved] = await shelf.list();
    assert.ok(shelved);
    const id = packageRunId({ key: shelved.key, workflowId: 'write' });
    conversation.workflow = (await shelf.workflow(id))!;
    conversation.build();
    return id;
  }

  const document = () => readFileSync(path.join(folder, 'state', 'workflow.md'), 'utf8');
  const told = () => conversation.client.requests.map(({ messages }) => messages);
  const briefs = async () =>
    (await conversation.kept()).messages.flatMap((message) => (message.role === 'system' ? [message.content] : []));
  const nodes = () =>
    conversation.events.flatMap((event: RunEvent) =>
      event.type === 'node' ? [`${event.status} ${event.node}${event.next ? ` → ${event.next}` : ''}`] : [],
    );

  it('goes from node to node, asks the person, and is complete at its end', async () => {
    await talk([
      { calls: [call('fs.read', { path: '@pkg/write/steps/ask.md' })] },
      { text: 'Whom is it for?' },
      {
        calls: [
          call('fs.write', { path: '@state/artifacts/letter.md', content: 'Dear Ada' }),
          state({ currentNodeId: 'judge', stepsCompleted: ['ask'], artifacts: ['@state/artifacts/letter.md'] }),
        ],
      },
      { calls: [call('fs.write', { path: '@project/letter.md', content: 'Dear Ada' })] },
      { calls: [state({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge'] })] },
      { calls: [state({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge', 'done'] })] },
      { text: 'The letter is written.' },
    ]);
    assert.equal((await conversation.start('A letter, please.')).phase, 'WaitingUser');
    const result = await conversation.continue('For Ada.');
    assert.deepEqual(result, { success: true, phase: 'Completed', assistantText: 'The letter is written.' });
    assert.deepEqual(conversation.questions, ['Create letter.md']);
    assert.equal(conversation.file('letter.md'), 'Dear Ada');
    assert.equal(readFileSync(path.join(folder, 'state/artifacts/letter.md'), 'utf8'), 'Dear Ada');
    assert.deepEqual(nodes(), [
      'start ask',
      'end ask → judge',
      'start judge',
      'end judge → done',
      'start done',
      'end done → ',
    ]);
    assert.equal(document(), stateText({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge', 'done'] }));
    console.log((await briefs()).join('\n=====\n'));
    console.log(told().length);
  });
});
