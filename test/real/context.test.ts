import assert from 'node:assert/strict';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { firstContextVariable, Talk } from '../llm/local/setup.ts';
import { describeTrained } from './trained.ts';

const long = (from: number) =>
  Array.from({ length: 60 }, (_, at) => `Boat ${from + at} is pulled along the canal.`).join(' ');
const chat: Partial<ChatRequest> = { tools: [], temperature: 0, maxTokens: 8, systemPrompt: 'You answer in one line.' };

describeTrained('the context of a trained model', (model) => {
  it('grows with a conversation, beyond a sliding window, and nothing is read again', async () => {
    process.env[firstContextVariable] = '1024';
    try {
      const talk = new Talk(await model.client(), chat);
      const turns: string[] = [];
      let grown = 0;
      let known = 0;
      for (const from of [1, 101, 201]) {
        await talk.ask(`${long(from)} Which boat is the last one?`);
        const { promptTokens, completionTokens, cachedTokens = 0 } = talk.last.usage!;
        assert.ok(cachedTokens >= known - 2, `${cachedTokens} of ${known} known tokens were not read again`);
        turns.push(`${promptTokens - cachedTokens} of ${promptTokens}`);
        known = promptTokens + completionTokens;
        if (talk.chunks.some(({ progress }) => progress?.text.startsWith('Extending the context'))) grown++;
      }
      assert.ok(grown > 0, 'it has grown');
      model.figure('tokens evaluated while the context grows', ...turns);
    } finally {
      delete process.env[firstContextVariable];
    }
  });
});
