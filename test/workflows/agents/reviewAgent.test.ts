import assert from 'node:assert/strict';
import { agentName, chatWorkflowId, reviewAgent, workAgent } from '../../../src/protocol/content/agents.ts';
import { Conversation } from '../../engine/conversation.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';

describe('the reviewer of *Review My Changes*', () => {
  let conversation: Conversation;
  afterEach(() => conversation.end());

  it('reads and searches, also under Autopilot, and changes nothing', async () => {
    conversation = new Conversation(await temporaryWorkspace({ a: 'A' }), [
      {
        calls: [
          { id: 'r', name: 'fs.read', arguments: { path: 'a' } },
          { id: 'w', name: 'fs.write', arguments: { path: 'a', content: 'B' } },
          { id: 's', name: 'shell.run', arguments: { command: 'touch b' } },
        ],
      },
      { text: 'There is no problem.' },
      { text: 'Done.' },
    ]);
    conversation.preset = 'autopilot';
    conversation.build();
    await conversation.engine.start({ runId: conversation.runId, userInput: 'Review', agentId: reviewAgent });
    const [first] = conversation.client.requests;
    const offered = first!.tools!.map(({ name }) => name);
    assert.ok(offered.includes('fs.search'), offered.join());
    for (const name of offered) assert.match(name, /^(fs\.(read|search|find|list)|output\.read|code\.\w+)$/);
    assert.match(first!.systemPrompt ?? '', /code reviewer/);
    const run = await conversation.kept();
    const results = run.messages.flatMap((one) => (one.role === 'tool' ? one.toolResults : []));
    const refused = results.filter(({ content }) => content.includes('TOOL_NOT_AVAILABLE'));
    assert.deepEqual(
      refused.map(({ toolCallId }) => toolCallId),
      ['w', 's'],
    );
    assert.deepEqual([conversation.file('a'), conversation.file('b')], ['A', undefined]);
    assert.equal(agentName(run), 'Reviewer');

    assert.equal(await conversation.engine.chooseAgent(conversation.runId, workAgent), undefined);
    await conversation.continue('Fix it');
    assert.doesNotMatch(conversation.client.requests[2]!.systemPrompt ?? '', /code reviewer/);
    assert.equal(agentName({ workflowId: chatWorkflowId, agentId: workAgent }), 'Work');
  });
});
