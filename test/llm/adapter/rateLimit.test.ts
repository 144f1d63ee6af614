import assert from 'node:assert/strict';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { createRateLimiter } from '../../../src/llm/adapter/rateLimit.ts';
import { estimateTokens, type RateLimitWait } from '../../../src/llm/adapter/rateLimitWait.ts';
import { parseRateLimitHeaders } from '../../../src/llm/core/rateLimitHeaders.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { reply, startProvider } from '../../support/provider.ts';
import { clientFor, greeting } from '../serve.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

describe('what headers say of limits', () => {
  const rows: [headers: Record<string, string>, news: object | undefined][] = [
    [{}, undefined],
    [{ 'x-ratelimit-limit-requests': '60' }, undefined],
    [
      { 'x-ratelimit-remaining-requests': '59', 'x-ratelimit-reset-requests': '1s' },
      { requests: { remaining: 59, resetMs: 1000 } },
    ],
    [
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' },
      { tokens: { remaining: 0, resetMs: 360_000 } },
    ],
    [{ 'x-ratelimit-reset-tokens': '7.66s' }, { tokens: { resetMs: 7660 } }],
    [{ 'x-ratelimit-reset-requests': '17ms' }, { requests: { resetMs: 17 } }],
    [{ 'x-ratelimit-reset-requests': '2h59m56.8s' }, { requests: { resetMs: 10_796_800 } }],
    [{ 'x-ratelimit-reset-requests': '12' }, { requests: { resetMs: 12_000 } }],
    [
      {
        'anthropic-ratelimit-requests-remaining': '4',
        'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:05Z',
        'anthropic-ratelimit-tokens-remaining': '1000',
      },
      { requests: { remaining: 4, resetMs: 5000 }, tokens: { remaining: 1000 } },
    ],
    [
      { 'x-ratelimit-remaining-req-minute': '59', 'x-ratelimit-remaining-tokens-minute': '5000' },
      { requests: { remaining: 59 }, tokens: { remaining: 5000 } },
    ],
    [
      { 'x-ratelimit-remaining-requests-day': '9', 'x-ratelimit-reset-tokens-minute': '11.4' },
      { tokens: { resetMs: 11_400 } },
    ],
    [{ 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-reset-requests': 'soon' }, undefined],
    [{ 'x-ratelimit-remaining-requests': '-1', 'x-ratelimit-reset-requests': '' }, undefined],
  ];
  for (const [headers, news] of rows) {
    it(JSON.stringify(headers), () => assert.deepEqual(parseRateLimitHeaders(new Headers(headers), now), news));
  }
});

describe('how many tokens a request is reserved as', () => {
  const text = Buffer.from('word '.repeat(800)).toString('base64');
  const picture = { mediaType: 'image/png', data: 'A'.repeat(400_000) };
  const results = [{ toolCallId: '1', content: 'x'.repeat(400), attachments: [picture] }];
  const rows: [says: string, messages: Message[], tokens: number][] = [
    ['nothing', [], 0],
    ['a picture, whatever its bytes', [{ role: 'user', content: '', attachments: [picture] }], 1200],
    ['a text file', [{ role: 'user', content: '', attachments: [{ mediaType: 'text/plain', data: text }] }], 1000],
    ['a result with a picture', [{ role: 'tool', content: '', toolResults: results }], 1300],
  ];
  for (const [says, messages, tokens] of rows) {
    it(says, () => {
      const estimate = estimateTokens({ model: 'm', messages }) - estimateTokens({ model: 'm', messages: [] });
      assert.ok(Math.abs(estimate - tokens) <= 2, String(estimate));
    });
  }
});

describe('a rate limit', () => {
  const start = (requestsPerMinute: number, tokensPerMinute: number) => {
    const clock = { ms: 0 };
    return { clock, limiter: createRateLimiter({ requestsPerMinute, tokensPerMinute }, () => clock.ms) };
  };

  it('off: nothing waits', () => {
    const { limiter } = start(0, 0);
    for (let count = 0; count < 1000; count++) assert.equal(limiter.reserve(1_000_000).waitMs, 0);
  });
  it('a minute of requests at once, then one after the other', () => {
    const { clock, limiter } = start(3, 0);
    const waits = () => limiter.reserve(0).waitMs;
    assert.deepEqual([waits(), waits(), waits(), waits(), waits()], [0, 0, 0, 20_000, 40_000]);
    clock.ms = 60_000;
    assert.equal(waits(), 0);
  });
  it('tokens are put right when they are known', () => {
    const { limiter } = start(0, 1000);
    const first = limiter.reserve(900);
    assert.equal(first.waitMs, 0);
    first.settle(100);
    assert.equal(limiter.reserve(900).waitMs, 0);
    assert.equal(limiter.reserve(100).waitMs, 6000);
  });
  it('more than a minute allows goes when the bucket is full', () => {
    const { limiter } = start(0, 1000);
    assert.deepEqual([limiter.reserve(50_000).waitMs, limiter.reserve(50_000).waitMs], [0, 60_000]);
  });
  it('a request that did not go gives its place back', () => {
    const { limiter } = start(1, 0);
    limiter.reserve(0);
    const second = limiter.reserve(0);
    assert.equal(second.waitMs, 60_000);
    second.cancel();
    assert.equal(limiter.reserve(0).waitMs, 60_000);
  });
  it("the provider's own count is believed when it is lower", () => {
    const { limiter } = start(60, 0);
    limiter.update({ requests: { remaining: 1 } });
    assert.deepEqual([limiter.reserve(0).waitMs, limiter.reserve(0).waitMs], [0, 1000]);
  });
  it('at nothing left it waits for the reset', () => {
    const { limiter } = start(60, 60_000);
    limiter.update({ tokens: { remaining: 0, resetMs: 5000 } });
    assert.equal(limiter.reserve(1).waitMs, 5000);
  });
  it('what the provider asked to wait is over once it answers one that went all the same', () => {
    const { clock, limiter } = start(0, 0);
    const before = limiter.reserve(0);
    clock.ms = 1000;
    limiter.hold(30_000);
    before.answered();
    assert.equal(limiter.reserve(0).waitMs, 30_000, 'that one had gone before');
    const hurried = limiter.reserve(0);
    clock.ms = 2000;
    hurried.answered();
    assert.equal(limiter.reserve(0).waitMs, 0);
  });
  it('what is left of a day is not waited for', () => {
    const { limiter } = start(60, 0);
    limiter.update({ requests: { remaining: 0, resetMs: 3_600_000 } });
    assert.equal(limiter.reserve(0).waitMs, 0);
  });
});

describe('the adapter under a rate limit', () => {
  const never = new AbortController().signal;
  const limited = async (run: (adapter: ReturnType<typeof createAdapter>) => Promise<void>) => {
    const provider = await startProvider(() => reply.text('Hi'));
    const limiter = createRateLimiter({ requestsPerMinute: 600, tokensPerMinute: 0 });
    for (let count = 0; count < 600; count++) limiter.reserve(0);
    await run(createAdapter(clientFor(provider.url), {}, { limiter }));
    await provider.close();
    return provider.requests.length;
  };

  it('waits, says so, and reports it', async () => {
    const requests = await limited(async (adapter) => {
      const waits: RateLimitWait[] = [];
      const result = await adapter.complete(greeting, { signal: never, onWait: (wait) => waits.push(wait) });
      assert.equal(waits.length, 1);
      assert.ok(waits[0]!.delayMs > 0 && waits[0]!.delayMs <= 100);
      assert.deepEqual([result.success, result.attempts, result.delayMs], [true, 1, waits[0]!.delayMs]);
    });
    assert.equal(requests, 1);
  });

  it('stops at once while it waits, and nothing is sent', async () => {
    const requests = await limited(async (adapter) => {
      for (let count = 0; count < 50; count++) void adapter.complete(greeting, { signal: AbortSignal.abort() });
      const controller = new AbortController();
      const onWait = () => setTimeout(() => controller.abort(), 1);
      const result = await adapter.complete(greeting, { signal: controller.signal, onWait });
      assert.deepEqual([result.success, result.aborted, result.error], [false, true, undefined]);
    });
    assert.equal(requests, 0);
  });

  it('fails at once when the whole call may not take that long', async () => {
    const provider = await startProvider(() => reply.text('Hi'));
    const limiter = createRateLimiter({ requestsPerMinute: 1, tokensPerMinute: 0 });
    limiter.reserve(0);
    const { error } = await createAdapter(clientFor(provider.url), { totalMs: 500 }, { limiter }).complete(greeting, {
      signal: never,
    });
    assert.deepEqual([error?.code, provider.requests.length], ['LLM_RATE_LIMITED', 0]);
    await provider.close();
  });

  it('lets nobody else go while the provider has asked one of them to wait', async () => {
    const provider = await startProvider(() => reply.status(429, {}, { 'retry-after': '30' }));
    const limiter = createRateLimiter({ requestsPerMinute: 60, tokensPerMinute: 0 });
    const stop = new AbortController();
    const asked = { signal: stop.signal, onRetry: () => stop.abort() };
    await createAdapter(clientFor(provider.url), {}, { limiter }).complete(greeting, asked);
    assert.ok(limiter.reserve(0).waitMs > 20_000);
    await provider.close();
  });

  it("hears the provider's headers", async () => {
    const said = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '30s' };
    const script = Object.entries(said).reduce((one, [name, value]) => one.header(name, value), reply.text('Hi'));
    const provider = await startProvider(() => script);
    const limiter = createRateLimiter({ requestsPerMinute: 60, tokensPerMinute: 0 });
    const adapter = createAdapter(clientFor(provider.url), {}, { limiter });
    assert.equal((await adapter.complete(greeting, { signal: never })).delayMs, 0);
    assert.ok(limiter.reserve(0).waitMs > 20_000);
    await provider.close();
  });
});
