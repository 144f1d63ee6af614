import assert from 'node:assert/strict';
import { createLLMClient } from '../../../src/llm/createClient.ts';
import { type ProviderReply, reply, startProvider } from '../../support/provider.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const half = reply.text('Half of it.');
const ends: [says: string, answer: ProviderReply, words: RegExp][] = [
  ['a finish reason of its own', half.finish('repetition'), /repetition/],
  ['a reason that nobody knows', half.finish('insufficient_system_resource'), /insufficient_system_resource/],
  ['an error in fields of its own', half.event({ choices: null, error_type: 'x', error_message: 'Gone.' }), /Gone\./],
  ['an error as a text', half.event({ error: 'Gone.' }), /Gone\./],
  ['a code with words', half.event({ code: 50_505, message: 'Gone.' }), /Gone\./],
  ['a status of its own', half.event({ base_resp: { status_code: 1013, status_msg: 'Gone.' } }), /Gone\./],
];

describe('an answer that its server ends early', () => {
  for (const [says, answer, words] of ends)
    it(`keeps its text, and runs nothing: ${says}`, async () => {
      const provider = await startProvider([answer]);
      const talk = new Conversation(await temporaryWorkspace({ a: 'A' }), []);
      talk.model = createLLMClient({ provider: 'openai-compatible', baseUrl: provider.url, model: 'one' });
      try {
        const { success, phase, error } = await talk.start('look');
        assert.deepEqual([success, phase], [false, 'Failed']);
        assert.match(error!.message, words);
        const last = (await talk.kept()).messages.at(-1)!;
        assert.deepEqual([last.content, last.role === 'assistant' && last.incomplete], ['Half of it.', true]);
        assert.equal(provider.requests.length, 1);
      } finally {
        await talk.end();
        await provider.close();
      }
    });

  it('gives no call of it that was not over', async () => {
    const provider = await startProvider([half.call('fs_delete', { path: 'a' }).finish('abort')]);
    const workspace = await temporaryWorkspace({ a: 'A' });
    const talk = new Conversation(workspace, []);
    talk.model = createLLMClient({ provider: 'openai-compatible', baseUrl: provider.url, model: 'one' });
    try {
      await talk.start('look');
      assert.deepEqual([talk.questions, workspace.exists('a')], [[], true]);
    } finally {
      await talk.end();
      await provider.close();
    }
  });
});
