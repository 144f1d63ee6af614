import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { type AdapterLimits, createAdapter, type RetryWait } from '../../../src/llm/adapter/adapter.ts';
import { decideRetry, retryDelay } from '../../../src/llm/adapter/retry.ts';
import type { ChatStreamChunk, LLMClient } from '../../../src/llm/core/client.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { reply, startProvider } from '../../support/provider.ts';
import { unsaid } from '../../support/unsaid.ts';
import { clientFor, greeting } from '../serve.ts';

/** What a client does in one call: chunks, errors to throw, `'hang'`, or milliseconds to wait. */
type Deed = Partial<ChatStreamChunk> | Error | 'hang' | number;

/** A client that does one list of deeds per call and does not heed its signal: the adapter has to. */
function deaf(...calls: Deed[][]): LLMClient & { calls: number } {
  const client = {
    calls: 0,
    chat: () => Promise.reject(new Error('not here')),
    async *chatStream(): AsyncGenerator<ChatStreamChunk, void> {
      for (const deed of calls[Math.min(client.calls++, calls.length - 1)]!) {
        if (deed === 'hang') await new Promise(() => {});
        else if (typeof deed === 'number') await new Promise((resolve) => setTimeout(resolve, deed));
        else if (deed instanceof Error) throw deed;
        else yield { done: false, ...deed };
      }
    },
  };
  return client;
}

const text = (content: string) => ({ content });
const read = (fraction: number) => ({ progress: { text: 'Reading', fraction } });
const done = (finishReason: ChatStreamChunk['finishReason'] = 'stop') => ({ done: true, finishReason });
const call = { id: 'c1', name: 'fs.read', arguments: { path: 'a' } };
const retryable = new LLMError('LLM_HTTP_ERROR', 'down', { retryable: true });
const refused = new LLMError('LLM_AUTH_FAILED', 'No API key.');
const broken = new LLMError('LLM_INCOMPLETE', 'broke off', { retryable: true });
const slipped = new LLMError('LLM_BAD_RESPONSE', 'no format', { retryable: 'once' });
const nothing = { code: 'LLM_BAD_RESPONSE', message: 'The model returned an empty answer.', reason: 'empty' };
const off: Partial<AdapterLimits> = { connectMs: 0, firstTokenMs: 0, idleMs: 0, baseDelayMs: 1 };

interface Row {
  says: string;
  calls: Deed[][];
  limits?: Partial<AdapterLimits>;
  /** What a person sees of it; all, unless it says otherwise. */
  shows?(chunk: ChatStreamChunk): boolean;
  gives: { code?: string; says?: RegExp; message?: object; finishReason?: string; attempts?: number };
}

const rows: Row[] = [
  {
    says: 'a reply',
    calls: [
      [{}, { thinking: 'hm' }, text('Hi'), { usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } }, done()],
    ],
    gives: { message: { role: 'assistant', content: 'Hi', thinking: 'hm' }, finishReason: 'stop' },
  },
  {
    says: 'a reply with a call',
    calls: [[{ toolCall: call }, done('tool_calls')]],
    gives: { message: { role: 'assistant', content: '', toolCalls: [call] }, finishReason: 'tool_calls' },
  },
  {
    says: 'down, down, well',
    calls: [[retryable], [retryable], [text('Hi'), done()]],
    gives: { attempts: 3, finishReason: 'stop' },
  },
  { says: 'down for good', calls: [[retryable]], gives: { code: 'LLM_HTTP_ERROR', attempts: 4 } },
  {
    says: 'down, and no retries wanted',
    calls: [[retryable]],
    limits: { retries: 0 },
    gives: { code: 'LLM_HTTP_ERROR' },
  },
  { says: 'refused', calls: [[refused]], gives: { code: 'LLM_AUTH_FAILED', attempts: 1 } },
  { says: 'an error nobody foresaw', calls: [[new TypeError('oops')]], gives: { code: 'UNKNOWN', attempts: 1 } },
  {
    says: 'broken after text: kept, marked, not asked again',
    calls: [[text('Half'), broken]],
    gives: { code: 'LLM_INCOMPLETE', message: { role: 'assistant', content: 'Half', incomplete: true }, attempts: 1 },
  },
  {
    says: 'broken after thinking: the same',
    calls: [[{ thinking: 'hm' }, broken]],
    gives: {
      code: 'LLM_INCOMPLETE',
      message: { role: 'assistant', content: '', thinking: 'hm', incomplete: true },
      attempts: 1,
    },
  },
  {
    says: 'broken after a complete call: the loop is told which',
    calls: [[{ toolCall: call }, broken]],
    gives: {
      code: 'LLM_INCOMPLETE',
      message: { role: 'assistant', content: '', toolCalls: [call], incomplete: true },
      attempts: 1,
    },
  },
  {
    says: 'broken in a call that was shown being written: not asked again',
    calls: [[{ toolCallDelta: { index: 0, name: 'fs.write' } }, broken]],
    gives: { code: 'LLM_INCOMPLETE', attempts: 1 },
  },
  {
    says: 'broken after progress only: asked again',
    calls: [
      [{ progress: { text: 'Loading' } }, broken],
      [text('Hi'), done()],
    ],
    gives: { finishReason: 'stop', attempts: 2 },
  },
  {
    says: 'broken after text that nobody saw: asked again, and nothing of the first is left',
    calls: [
      [text('Half'), { toolCall: call }, broken],
      [text('Hi'), done()],
    ],
    shows: () => false,
    gives: { message: { role: 'assistant', content: 'Hi' }, finishReason: 'stop', attempts: 2 },
  },
  {
    says: 'broken again and again unseen: given up, with what came the last time',
    calls: [
      [text('Hal'), broken],
      [text('Half'), broken],
    ],
    shows: () => false,
    limits: { retries: 1 },
    gives: { code: 'LLM_INCOMPLETE', message: { role: 'assistant', content: 'Half', incomplete: true }, attempts: 2 },
  },
  {
    says: 'broken after thinking, where only text is seen: asked again',
    calls: [
      [{ thinking: 'hm' }, broken],
      [text('Half'), broken],
    ],
    shows: ({ content }) => Boolean(content),
    gives: { code: 'LLM_INCOMPLETE', message: { role: 'assistant', content: 'Half', incomplete: true }, attempts: 2 },
  },
  {
    says: 'silent after text that nobody saw: the idle limit holds, and it is asked again',
    calls: [
      [text('Half'), 'hang'],
      [text('Hi'), done()],
    ],
    limits: { idleMs: 30 },
    shows: () => false,
    gives: { message: { role: 'assistant', content: 'Hi' }, attempts: 2 },
  },
  {
    says: "the model's slip twice, in an unseen answer: one more try, no third",
    calls: [[text('Half'), slipped]],
    shows: () => false,
    gives: { code: 'LLM_BAD_RESPONSE', attempts: 2 },
  },
  {
    says: "the model's slip, the network's, the model's: the one more try was had",
    calls: [[slipped], [retryable], [slipped], [text('Hi'), done()]],
    gives: { code: 'LLM_BAD_RESPONSE', attempts: 3 },
  },
  { says: 'an end without an end', calls: [[text('Half')]], gives: { code: 'LLM_INCOMPLETE', attempts: 1 } },
  {
    says: 'filtered',
    calls: [[text('I'), done('content_filter')]],
    gives: {
      code: 'LLM_CONTENT_FILTERED',
      message: { role: 'assistant', content: 'I', incomplete: true },
      finishReason: 'content_filter',
      attempts: 1,
    },
  },
  {
    says: 'filtered at once: not asked again',
    calls: [[done('content_filter')]],
    gives: { code: 'LLM_CONTENT_FILTERED', attempts: 1 },
  },
  {
    says: 'ended by an error: asked again',
    calls: [[done('error')], [text('Hi'), done()]],
    gives: { finishReason: 'stop', attempts: 2 },
  },
  {
    says: 'nothing, then something',
    calls: [[done()], [text('Hi'), done()]],
    gives: { finishReason: 'stop', attempts: 2 },
  },
  {
    says: 'nothing but thinking',
    calls: [[{ thinking: 'I see.', done: false }, done()]],
    gives: { code: 'LLM_BAD_RESPONSE', attempts: 1, says: /^The model ended after its thinking, without an answer\.$/ },
  },
  { says: 'nothing twice', calls: [[done()]], gives: { code: 'LLM_BAD_RESPONSE', attempts: 2 } },
  { says: 'only thinking', calls: [[{ thinking: 'hm' }, done()]], gives: { code: 'LLM_BAD_RESPONSE', attempts: 1 } },
  { says: 'cut by length before a word', calls: [[done('length')]], gives: { finishReason: 'length', attempts: 1 } },
  {
    says: 'no sign',
    calls: [['hang']],
    limits: { connectMs: 30, retries: 1 },
    gives: { code: 'LLM_TIMEOUT', says: /did not answer for 30 ms\. .*towpath\.timeouts\.connect/, attempts: 2 },
  },
  {
    says: 'signs, and no first word',
    calls: [[{}, { progress: { text: 'Reading' } }, 'hang']],
    limits: { connectMs: 5000, firstTokenMs: 30, retries: 1 },
    gives: {
      code: 'LLM_TIMEOUT',
      says: /did not respond for 30 ms\. .*first token; .*towpath\.timeouts\.firstToken/,
      attempts: 2,
    },
  },
  {
    says: 'reading on for longer than the first word may take',
    // Each step takes a small part of the limit, so that a busy machine keeps it; all together take longer.
    calls: [[...Array.from({ length: 30 }, (_, at): Deed[] => [read(at / 30), 20]).flat(), text('Hi'), done()]],
    limits: { connectMs: 5000, firstTokenMs: 500, retries: 0 },
    gives: { finishReason: 'stop', attempts: 1 },
  },
  {
    says: 'reading that does not get on',
    calls: [[...[0.2, 0.2, 0.2, 0.2, 0.2].flatMap((part): Deed[] => [read(part), 20]), text('Hi'), done()]],
    limits: { connectMs: 5000, firstTokenMs: 30, retries: 0 },
    gives: { code: 'LLM_TIMEOUT', says: /did not respond for 30 ms\./, attempts: 1 },
  },
  {
    says: 'a word, then silence',
    calls: [[text('Half'), 'hang']],
    limits: { connectMs: 5000, firstTokenMs: 5000, idleMs: 30 },
    gives: {
      code: 'LLM_TIMEOUT',
      says: /stopped responding for 30 ms\. That is the limit for silence within an answer; .*towpath\.timeouts\.idle/,
      message: { role: 'assistant', content: 'Half', incomplete: true },
      attempts: 1,
    },
  },
  {
    says: 'a long time without a first word, where that is not limited',
    calls: [[{ progress: { text: 'Loading' } }, 60, text('Hi'), done()]],
    limits: { connectMs: 5000, idleMs: 5000 },
    gives: { finishReason: 'stop', attempts: 1 },
  },
  {
    says: 'no end in sight',
    calls: [[text('a'), 'hang']],
    limits: { totalMs: 40 },
    gives: { code: 'LLM_TIMEOUT', says: /did not finish within 40 ms\. .*towpath\.timeouts\.total/, attempts: 1 },
  },
  {
    says: 'retries end with the time for all of it',
    calls: [[retryable]],
    limits: { totalMs: 50, baseDelayMs: 10_000 },
    gives: { code: 'LLM_HTTP_ERROR', attempts: 1 },
  },
  {
    says: 'a wait the cap forbids fails at once',
    calls: [[new LLMError('LLM_RATE_LIMITED', 'Slow down', { retryable: true, retryAfterMs: 3_600_000 })]],
    gives: { code: 'LLM_RATE_LIMITED', attempts: 1 },
  },
];

// Holds adapter-never-throws.
describe('the adapter', () => {
  for (const { says, calls, limits, shows, gives } of rows) {
    it(says, async () => {
      const client = deaf(...calls);
      const waits: RetryWait[] = [];
      const signal = new AbortController().signal;
      const adapter = createAdapter(client, { ...off, ...limits });
      const result = await adapter.complete(greeting, {
        signal,
        onChunk() {},
        ...(shows && { shows }),
        onRetry: (wait) => waits.push(wait),
      });
      const { code, says, message, finishReason, attempts } = gives;
      assert.equal(result.success, code === undefined, JSON.stringify(result));
      assert.equal(result.error?.code, code);
      if (says) assert.match(result.error?.message ?? '', says);
      if (message) assert.deepEqual(result.message, message);
      if (finishReason) assert.equal(result.finishReason, finishReason);
      if (attempts) assert.deepEqual([result.attempts, client.calls], [attempts, attempts]);
      assert.equal(waits.length, result.attempts - 1);
      assert.equal(
        result.delayMs,
        waits.reduce((sum, { delayMs }) => sum + delayMs, 0),
      );
      assert.equal(result.aborted, undefined);
    });
  }

  it('is asked again at once when the person is in a hurry, and waits for no place then', async () => {
    const hurry = new EventTarget();
    const client = deaf([new LLMError('LLM_RATE_LIMITED', 'later', { retryable: true })], [text('Hi'), done()]);
    const { signal } = new AbortController();
    const adapter = createAdapter(client, { ...off, baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 });
    const onRetry = () => setImmediate(() => hurry.dispatchEvent(new Event('now')));
    const result = await adapter.complete(greeting, { signal, hurry, onRetry });
    assert.deepEqual([result.success, result.attempts, result.message?.content], [true, 2, 'Hi']);
    assert.equal(getEventListeners(hurry, 'now').length, 0);
  });

  it('a reply with more calls than there is room for broke off, and says so: none of it is left out silently', async () => {
    const { signal } = new AbortController();
    const calls = Array.from({ length: 4097 }, (_, at) => ({ toolCall: { ...call, id: `c${at}` } }));
    const onChunk = () => {};
    const told = await createAdapter(deaf([...calls, done('tool_calls')]), off).complete(greeting, { signal, onChunk });
    assert.deepEqual(
      [told.success, told.error?.code, told.message?.incomplete, told.message?.toolCalls?.length],
      [false, 'LLM_BAD_RESPONSE', true, 4096],
    );
    const begun = { toolCallDelta: { index: 4096, name: 'fs.read' } };
    const endless = await createAdapter(deaf([begun, 'hang']), off).complete(greeting, { signal });
    assert.match(endless.error?.message ?? '', /more than 4096 calls in one answer/);
  });

  it('where nobody listens nothing was shown: a reply that breaks off is asked for again', async () => {
    const { signal } = new AbortController();
    const adapter = createAdapter(deaf([text('Half'), broken], [text('Hi'), done()]), off);
    const { message, attempts } = await adapter.complete(greeting, { signal });
    assert.deepEqual([message?.content, attempts], ['Hi', 2]);
  });

  it('says nothing of what was asked again', async () => {
    const result = await createAdapter(deaf([done()]), off).complete(greeting, {
      signal: new AbortController().signal,
    });
    assert.deepEqual(unsaid(result), {
      success: false,
      finishReason: 'stop',
      error: nothing,
      attempts: 2,
      delayMs: result.delayMs,
    });
  });

  it('an exception of its listener is a failure, not a crash', async () => {
    const onChunk = () => {
      throw new Error('the panel is gone');
    };
    const adapter = createAdapter(deaf([text('a'), done()]), off);
    const result = await adapter.complete(greeting, { signal: new AbortController().signal, onChunk });
    assert.deepEqual(result.error, { code: 'UNKNOWN', message: 'the panel is gone' });
  });
});

describe('stop', () => {
  const states: [says: string, calls: Deed[][], message: object | undefined][] = [
    ['before the first sign', [['hang']], undefined],
    ['while the prompt is read', [[{ progress: { text: 'Reading' } }, 'hang']], undefined],
    ['in the middle of the text', [[text('Half'), 'hang']], { role: 'assistant', content: 'Half', incomplete: true }],
    [
      'after a complete call',
      [[{ toolCall: call }, 'hang']],
      { role: 'assistant', content: '', toolCalls: [call], incomplete: true },
    ],
    ['while it waits to ask again', [[retryable]], undefined],
  ];
  for (const [says, calls, message] of states) {
    it(`${says}: ended, and nothing comes after`, async () => {
      const controller = new AbortController();
      const client = deaf(...calls);
      const adapter = createAdapter(client, { ...off, baseDelayMs: 60_000 });
      let chunks = 0;
      let waits = 0;
      const running = adapter.complete(greeting, {
        signal: controller.signal,
        onChunk: () => chunks++,
        onRetry: () => waits++,
      });
      const [deed] = calls[0]!;
      await eventually('it is there', () =>
        deed instanceof Error ? waits > 0 : deed === 'hang' ? client.calls > 0 : chunks > 0,
      );
      controller.abort();
      const result = await running;
      assert.deepEqual(result, { success: false, aborted: true, ...(message && { message }), attempts: 1, delayMs: 0 });
      const heard = chunks;
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(chunks, heard);
    });
  }

  it('before the start: nothing is asked', async () => {
    const client = deaf([done()]);
    const result = await createAdapter(client, off).complete(greeting, { signal: AbortSignal.abort() });
    assert.deepEqual([result.aborted, client.calls], [true, 0]);
  });

  for (const [says, script] of [
    ['before the headers', reply.late(Number.POSITIVE_INFINITY)],
    ['in the middle of an endless answer', reply.endless()],
    ['in a flood', reply.endless('and on ', 0)],
    ['in a hang', reply.text('Half').hang()],
  ] as const) {
    it(`${says}: the socket is closed`, async () => {
      const provider = await startProvider(() => script);
      const controller = new AbortController();
      const running = createAdapter(clientFor(provider.url)).complete(greeting, { signal: controller.signal });
      while (provider.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, 30));
      controller.abort();
      const result = await running;
      assert.deepEqual([result.aborted, result.error], [true, undefined]);
      await eventually('the socket is closed', () => provider.openSockets === 0);
      assert.equal(provider.requests[0]?.abandoned, true);
      await provider.close();
    });
  }

  it('a client throws the reason it was stopped with', async () => {
    const provider = await startProvider(() => reply.text('Half').hang());
    const reason = new Error('enough');
    const controller = new AbortController();
    const chunks = clientFor(provider.url).chatStream(greeting, controller.signal);
    await chunks.next();
    controller.abort(reason);
    await assert.rejects(async () => {
      for await (const _ of chunks);
    }, reason);
    await provider.close();
  });

  it('a hundred calls leave no listener behind', async () => {
    const provider = await startProvider(() => reply.text('Hi'));
    const { signal } = new AbortController();
    const client = clientFor(provider.url);
    for (let count = 0; count < 100; count++) assert.equal((await client.chat(greeting, signal)).content, 'Hi');
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    await provider.close();
  });
});

describe('when to try again', () => {
  const backoff = { baseMs: 1000, maxMs: 60_000, jitter: false };
  it('doubles up to the limit', () => {
    const delays = [0, 1, 2, 3, 6, 60, 5000].map((attempt) => retryDelay(attempt, backoff, Math.random));
    assert.deepEqual(delays, [1000, 2000, 4000, 8000, 60_000, 60_000, 60_000]);
  });
  it('a quarter more or less with jitter', () => {
    const delays = [0, 0.5, 1].map((random) => retryDelay(1, { ...backoff, jitter: true }, () => random));
    assert.deepEqual(delays, [1500, 2000, 2500]);
  });

  const policy = { ...backoff, retries: 3, retryAfterCapMs: 60_000 };
  const limited = (retryAfterMs?: number) =>
    new LLMError('LLM_RATE_LIMITED', 'Slow down', { retryable: true, retryAfterMs });
  const give = (message: string) => ({ giveUp: { code: 'LLM_RATE_LIMITED', message } });
  const decisions: [says: string, error: LLMError, attempt: number, decision: object][] = [
    ['our own wait', limited(), 1, { delayMs: 2000 }],
    ['the wait asked for', limited(2500), 0, { delayMs: 2500 }],
    ['a wait of nothing is our own', limited(0), 0, { delayMs: 1000 }],
    ['a wait in the past is our own', limited(-5), 0, { delayMs: 1000 }],
    ['just what the cap allows', limited(60_000), 0, { delayMs: 60_000 }],
    [
      'more than the cap',
      limited(300_000),
      0,
      give('Slow down. It requires a wait of 5 min. Try again after that time.'),
    ],
    [
      'more than a timer can hold',
      limited(1e15),
      0,
      give('Slow down. It requires a wait of 31,688.1 years. Try again after that time.'),
    ],
    ['enough tries', limited(), 3, give('Slow down')],
    ['what will not get better', refused, 0, { giveUp: { code: 'LLM_AUTH_FAILED', message: 'No API key.' } }],
  ];
  for (const [says, error, attempt, decision] of decisions) {
    it(says, () => assert.deepEqual(unsaid(decideRetry(error, attempt, policy, () => 0.5)), decision));
  }
});

describe('two hundred thousand chunks', () => {
  it('are all heard, and others have their turn meanwhile', async () => {
    const count = 200_000;
    const event = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
    const events = Array.from({ length: count / 10 }, (_, at) => [...String(at).padStart(10)].map(event).join(''));
    const provider = await startProvider(() => reply.raw(events.join('')).raw(reply.text('').bytes()));
    let turns = 0;
    const beat = setInterval(() => turns++, 1);
    const { signal } = new AbortController();
    const result = await createAdapter(clientFor(provider.url)).complete(greeting, { signal });
    clearInterval(beat);
    await provider.close();
    assert.equal(result.message?.content.length, count);
    assert.ok(turns > 10, `${turns} turns`);
  });
});
