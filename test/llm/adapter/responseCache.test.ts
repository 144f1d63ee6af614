import assert from 'node:assert/strict';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { cacheKeyOf, createResponseCache } from '../../../src/llm/adapter/responseCache.ts';
import type { ChatRequest, ChatStreamChunk } from '../../../src/llm/core/client.ts';
import { reply, startProvider } from '../../support/provider.ts';
import { clientFor, greeting } from '../serve.ts';

const cold: ChatRequest = { ...greeting, temperature: 0 };

describe('when two requests are one', () => {
  const key = (more: Partial<ChatRequest>, provider = 'here') => cacheKeyOf(provider, { ...cold, ...more });
  it('whatever the order of keys and the run', () => {
    const { messages, model, ...rest } = cold;
    assert.equal(cacheKeyOf('here', { ...rest, cacheKey: 'run-2', model, messages }), key({ cacheKey: 'run-1' }));
  });
  it('not at another place, of another model, with another word', () => {
    const other = [key({}, 'there'), key({ model: 'other' }), key({ messages: [{ role: 'user', content: 'ho' }] })];
    assert.equal(new Set([...other, key({})]).size, 4);
  });
  it('never, where chance has a say', () => {
    assert.deepEqual([key({ temperature: 0.1 }), key({ temperature: undefined })], [undefined, undefined]);
  });
});

describe('the replies that are kept', () => {
  const said = (content: string) => ({ message: { role: 'assistant', content }, finishReason: 'stop' }) as const;
  it('are the most recently used', () => {
    const cache = createResponseCache({ entries: 2 });
    cache.set('a', said('a'));
    cache.set('b', said('b'));
    cache.get('a');
    cache.set('c', said('c'));
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => cache.get(key)?.message.content),
      ['a', undefined, 'c'],
    );
  });
  it('are good for a time', () => {
    const clock = { ms: 0 };
    const cache = createResponseCache({ ttlMs: 1000, now: () => clock.ms });
    cache.set('a', said('a'));
    clock.ms = 999;
    assert.equal(cache.get('a')?.message.content, 'a');
    clock.ms = 1000;
    assert.equal(cache.get('a'), undefined);
  });
});

describe('the adapter with a cache', () => {
  const signal = new AbortController().signal;
  const script = () => reply.thinking('hm').text('Hello').call('fs_read', { path: 'a' });

  it('asks once, and says that it did', async () => {
    const provider = await startProvider(script);
    const cache = { replies: createResponseCache(), provider: 'here' };
    const adapter = createAdapter(clientFor(provider.url), {}, { cache, priceOf: () => ({ input: 1, output: 1 }) });
    const first = await adapter.complete(cold, { signal, cache: true });
    const chunks: ChatStreamChunk[] = [];
    const second = await adapter.complete(
      { ...cold, cacheKey: 'another run' },
      { signal, cache: true, onChunk: (chunk) => chunks.push(chunk) },
    );
    await provider.close();
    assert.equal(provider.requests.length, 1);
    const { attempts: _, ...same } = first;
    assert.ok(first.usage!.cost! > 0);
    assert.deepEqual(second, { ...same, usage: { ...same.usage, cost: 0 }, cached: true, attempts: 0 });
    assert.deepEqual(
      chunks.map(({ thinking, content, toolCall, done }) => thinking ?? content ?? toolCall?.name ?? done),
      ['hm', 'Hello', 'fs.read', true],
    );
  });

  const asked: [says: string, request: ChatRequest, cache: boolean | undefined][] = [
    ['when nobody wants it', cold, undefined],
    ['at a temperature', { ...cold, temperature: 0.7 }, true],
  ];
  for (const [says, request, cache] of asked) {
    it(`asks again ${says}`, async () => {
      const provider = await startProvider(script);
      const parts = { cache: { replies: createResponseCache(), provider: 'here' } };
      const adapter = createAdapter(clientFor(provider.url), {}, parts);
      for (let count = 0; count < 2; count++) await adapter.complete(request, { signal, cache });
      await provider.close();
      assert.equal(provider.requests.length, 2);
    });
  }

  it('keeps no failure', async () => {
    const provider = await startProvider([reply.status(400, { error: { message: 'no' } }), reply.text('Hello')]);
    const parts = { cache: { replies: createResponseCache(), provider: 'here' } };
    const adapter = createAdapter(clientFor(provider.url), {}, parts);
    const results = [];
    for (let count = 0; count < 3; count++) results.push(await adapter.complete(cold, { signal, cache: true }));
    await provider.close();
    assert.deepEqual(
      results.map(({ success, cached }) => [success, cached]),
      [
        [false, undefined],
        [true, undefined],
        [true, true],
      ],
    );
  });
});
