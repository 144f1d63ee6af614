import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import path from 'node:path';
import { call } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('a call with arguments that are larger than any tool takes', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  it('is refused, and is neither stored nor sent again as a whole', async () => {
    const huge = call('fs.write', { path: 'a', content: 'x'.repeat(20_000_000) });
    const small = call('fs.write', { path: 'b', content: 'B' });
    talk = new Conversation(await temporaryWorkspace({}), [
      { calls: [huge, small] },
      { text: 'In parts, then.' },
      { text: 'Yes.' },
    ]);
    await talk.start();
    await talk.continue('And?');
    assert.deepEqual([talk.file('a'), talk.file('b')], [undefined, 'B']);
    for (const { messages } of talk.client.requests.slice(1))
      assert.ok(JSON.stringify(messages).length < 20_000, 'what is sent is small');
    const results = talk.client.requests[1]!.messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults : [],
    );
    assert.deepEqual(
      results.map(({ toolCallId, error }) => [toolCallId, error]),
      [
        [huge.id, 'TOOL_ARGS_INVALID'],
        [small.id, undefined],
      ],
    );
    const journal = path.join(talk.folder, 'runs', talk.runId, 'journal.jsonl');
    assert.ok(statSync(journal).size < 100_000, 'the journal is small');
    // Messages that were sent are sent again as they were.
    const sent = talk.client.requests.map(({ messages }) => messages.map((message) => JSON.stringify(message)));
    assert.deepEqual(sent[2]!.slice(0, sent[1]!.length), sent[1]);
  });
});
