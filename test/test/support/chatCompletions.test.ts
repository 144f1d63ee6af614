import assert from 'node:assert/strict';
import { type ChatCompletionsConfig, chatCompletions } from '../../support/chatCompletions.ts';
import { reply, startProvider } from '../../support/provider.ts';
import { canary, fakeProviders } from '../../support/providers.ts';
import { unsaid } from '../../support/unsaid.ts';

const tool = {
  type: 'function',
  function: { name: 'fs.read', description: 'Reads.', parameters: { type: 'object', properties: {} } },
};
const hi = { role: 'user', content: 'hi' };
const call = { id: 'c1', type: 'function', function: { name: 'fs_read', arguments: '{"path":"a"}' } };

describe('chat completions over every provider', () => {
  for (const fake of fakeProviders) {
    it(fake.name, async () => {
      const provider = await fake.start([
        { parts: [{ text: 'Reading.' }, { call: 'fs_read', args: { path: 'a' } }] },
        { parts: [{ text: 'Done.' }] },
      ]);
      try {
        const { choice } = provider;
        const clientChoice = { baseUrl: '', apiKey: '', ...choice };
        const config: ChatCompletionsConfig = { ...clientChoice, model: 'scripted', timeoutSeconds: 10 };
        const first = await chatCompletions({ messages: [hi], tools: [tool], config });
        assert.equal(first.success, true, JSON.stringify(first));
        const { tool_calls: calls = [], native: _, ...message } = first.message!;
        assert.deepEqual(message, { role: 'assistant', content: 'Reading.' });
        assert.deepEqual(
          calls.map(({ type, function: wanted }) => ({ type, wanted })),
          [{ type: 'function', wanted: { name: 'fs_read', arguments: '{"path":"a"}' } }],
        );
        assert.deepEqual(first.usage, { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 });
        const result = { role: 'tool', tool_call_id: calls[0]!.id, content: '{"ok":true,"data":"x"}' };
        const second = await chatCompletions({ messages: [hi, first.message, result], tools: [tool], config });
        assert.equal(second.message?.content, 'Done.', JSON.stringify(second));
      } finally {
        await provider.close();
      }
    });
  }
});

describe('chat completions', () => {
  const configFor = (baseUrl: string, more: Partial<ChatCompletionsConfig> = {}): ChatCompletionsConfig => ({
    provider: 'openai-compatible',
    baseUrl,
    model: 'm',
    apiKey: canary,
    timeoutSeconds: 5,
    ...more,
  });

  it('ask at {baseUrl}/chat/completions, with the key, the messages and the tools', async () => {
    const provider = await startProvider([reply.text('Hi')]);
    const messages = [
      { role: 'system', content: 'Be good.' },
      hi,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '{"ok":true,"data":1}' },
    ];
    await chatCompletions({ messages, tools: [tool], config: configFor(provider.url) });
    const [asked] = provider.requests;
    await provider.close();
    assert.deepEqual([asked?.path, asked?.headers.authorization], ['/v1/chat/completions', `Bearer ${canary}`]);
    assert.deepEqual(asked?.body.messages, messages);
    assert.deepEqual(
      [asked?.body.model, asked?.body.tool_choice, asked?.body.tools?.[0]?.function.name],
      ['m', 'auto', 'fs_read'],
    );
  });

  it('send no key when there is none', async () => {
    const provider = await startProvider([reply.text('Hi')]);
    await chatCompletions({ messages: [hi], config: configFor(provider.url, { apiKey: '' }) });
    await provider.close();
    assert.deepEqual(
      [provider.requests[0]?.headers.authorization, provider.requests[0]?.body.tool_choice],
      [undefined, undefined],
    );
  });

  const failures: [says: string, script: typeof reply, config: Partial<ChatCompletionsConfig>, code: string][] = [
    ['the wrong key', reply.status(401, { error: { message: `No ${canary}` } }), {}, 'LLM_AUTH_FAILED'],
    ['a limit', reply.status(429, {}, { 'retry-after': '3600' }), {}, 'LLM_RATE_LIMITED'],
    ['a refusal', reply.status(400, { error: { message: 'no' } }), {}, 'LLM_HTTP_ERROR'],
    ['silence', reply.late(Number.POSITIVE_INFINITY), { timeoutSeconds: 0.05 }, 'LLM_TIMEOUT'],
    ['no JSON', reply.status(200, '{"choices": [', { 'content-type': 'application/json' }), {}, 'LLM_BAD_RESPONSE'],
    ['JSON of another shape', reply.status(200, { hello: 1 }), {}, 'LLM_BAD_RESPONSE'],
    ['a cut in a call', reply.text('Half').call('fs_read', { path: 'a' }).finish(null), {}, 'LLM_INCOMPLETE'],
    ['no address', reply, { baseUrl: '' }, 'LLM_HTTP_ERROR'],
  ];
  for (const [says, script, config, code] of failures) {
    it(`give ${says} as ${code}`, async () => {
      const provider = await startProvider(() => script);
      const result = await chatCompletions({ messages: [hi], config: configFor(provider.url, config) });
      await provider.close();
      assert.deepEqual([result.success, result.error?.code, result.message?.tool_calls], [false, code, undefined]);
      assert.ok(!JSON.stringify(result).includes(canary));
    });
  }

  it('give malformed arguments as they were written', async () => {
    const provider = await startProvider([reply.call('fs_read', '{"path')]);
    const { message } = await chatCompletions({ messages: [hi], tools: [tool], config: configFor(provider.url) });
    await provider.close();
    assert.deepEqual(message?.tool_calls?.[0]?.function, { name: 'fs_read', arguments: '{"path' });
  });

  it('end when they are stopped', async () => {
    const provider = await startProvider([reply.text('Half').hang()]);
    const result = await chatCompletions({
      messages: [hi],
      config: configFor(provider.url),
      signal: AbortSignal.timeout(100),
    });
    await provider.close();
    const stopped = { code: 'ENGINE_ABORTED', message: 'Stopped.' };
    assert.deepEqual([result.success, result.aborted, unsaid(result.error)], [false, true, stopped]);
  });

  it('say which message is none', async () => {
    const result = await chatCompletions({
      messages: [hi, { role: 'ghost' }],
      config: configFor('http://127.0.0.1:1/v1'),
    });
    assert.deepEqual(result, {
      success: false,
      error: { code: 'UNKNOWN', message: 'messages[1] is no message with the role system, user, assistant or tool.' },
    });
  });

  it('take images that are in the message', async () => {
    const provider = await startProvider([reply.text('A cat.')]);
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const content = [picture, { type: 'text', text: 'What is it?' }];
    await chatCompletions({ messages: [{ role: 'user', content }], config: configFor(provider.url) });
    await provider.close();
    assert.deepEqual(provider.requests[0]?.body.messages[0]?.content, content);
  });
});
