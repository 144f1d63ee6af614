import assert from 'node:assert/strict';
import type { ChatStreamChunk } from '../../../src/llm/core/client.ts';
import { createLLMClient } from '../../../src/llm/createClient.ts';
import type { ProviderId } from '../../../src/llm/models/providers.ts';
import { anywhere, greeting, hear, served, slicings } from '../serve.ts';
import { expectHeard, type Hears } from './wireCases.ts';

/** Each case is a stream as some provider really writes it, with the symptom it causes in a careless client. */
interface WireCase {
  says: string;
  /** Events in order; objects are sent as JSON. */
  stream: (object | string)[];
  /** `[DONE]` is left out. */
  unmarked?: boolean;
  hears: Hears;
}

const delta = (content: object, finish: string | null = null, more: object = {}, beside: object = {}) => ({
  model: 'm',
  choices: [{ index: 0, delta: content, finish_reason: finish, ...more }],
  ...beside,
});
const call = (content: object) => delta({ tool_calls: [content] });
const named = (name: string, text: string, more: object = {}) => call({ ...more, function: { name, arguments: text } });
const rest = (text: string, more: object = {}) => call({ ...more, function: { arguments: text } });
const end = (finish: string) => delta({}, finish);
const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
const read = (path: string): [string, object] => ['fs.read', { path }];

const cases: WireCase[] = [
  {
    says: 'text, then a call in fragments',
    stream: [
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Let me ' }),
      delta({ content: 'see 🙂.' }),
      named('fs_read', '', { index: 0, id: 'c1', type: 'function' }),
      rest('{"pa', { index: 0 }),
      rest('th":"日本"}', { index: 0 }),
      end('tool_calls'),
      { model: 'm', choices: [], usage },
    ],
    hears: {
      text: 'Let me see 🙂.',
      calls: [{ id: 'c1', name: 'fs.read', arguments: { path: '日本' } }],
      finish: 'tool_calls',
      usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
      model: 'm',
    },
  },
  {
    says: 'an error inside HTTP 200 comes before choices',
    stream: [delta({ content: 'par' }), { error: { message: 'upstream died', code: 502 }, choices: [{ delta: {} }] }],
    hears: { text: 'par', error: { code: 'LLM_HTTP_ERROR', retryable: true, status: 502 } },
  },
  {
    says: 'an error inside HTTP 200 as plain text',
    stream: [{ error: 'model crashed' }],
    hears: { error: { code: 'LLM_HTTP_ERROR', retryable: true } },
  },
  {
    says: 'an error inside HTTP 200 that is a rate limit',
    stream: [{ error: { message: 'slow down', type: 'rate_limit_exceeded' } }],
    hears: { error: { code: 'LLM_RATE_LIMITED', retryable: true } },
  },
  {
    says: 'an error inside the choice (OpenRouter)',
    stream: [delta({ content: '' }, null, { error: { code: 400, message: 'bad tool' } })],
    hears: { error: { code: 'LLM_HTTP_ERROR', retryable: false } },
  },
  {
    says: 'an error inside HTTP 200 that is the whole event (DashScope)',
    stream: [delta({ content: 'par' }), { code: 'InvalidParameter', message: 'bad tool', request_id: 'r' }],
    hears: { text: 'par', error: { code: 'LLM_HTTP_ERROR' } },
  },
  {
    says: 'an error inside HTTP 200 beside empty choices',
    stream: [{ choices: null, success: false, msg: 'the quota is gone' }],
    hears: { error: { code: 'LLM_HTTP_ERROR' } },
  },
  {
    says: 'a full window told inside HTTP 200',
    stream: [{ error: { message: 'the request exceeds the available context size' } }],
    hears: { error: { code: 'LLM_CONTEXT_OVERFLOW', retryable: false } },
  },
  {
    says: 'finish_reason "error" runs no call',
    stream: [named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }), end('error')],
    hears: { calls: [], finish: 'error' },
  },
  {
    says: 'finish_reason "stop" while the upstream broke (OpenRouter)',
    stream: [delta({ content: 'ha' }), delta({}, 'stop', { native_finish_reason: 'network_error' })],
    hears: { text: 'ha', finish: 'error' },
  },
  {
    says: 'Gemini’s malformed call behind a gateway',
    stream: [delta({}, 'stop', { native_finish_reason: 'MALFORMED_FUNCTION_CALL' })],
    hears: { finish: 'error' },
  },
  {
    says: 'finish_reason "stop" after calls means calls',
    stream: [named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }), end('stop')],
    hears: { calls: [read('a')], finish: 'tool_calls' },
  },
  {
    says: 'finish_reason "tool_calls" without any is a stop',
    stream: [delta({ content: 'done' }), end('tool_calls')],
    hears: { text: 'done', calls: [], finish: 'stop' },
  },
  {
    says: 'no finish_reason, but an end mark (Snowflake)',
    stream: [delta({ content: 'done' })],
    hears: { text: 'done', finish: 'stop' },
  },
  {
    says: 'an unknown finish_reason after text',
    stream: [delta({ content: 'done' }), end('because')],
    hears: { text: 'done', finish: 'error', finishMessage: 'because' },
  },
  { says: 'an unknown finish_reason after nothing', stream: [end('because')], hears: { finish: 'error' } },
  {
    says: 'parallel calls all with index 0, each with id and name',
    stream: [
      named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }),
      named('fs_read', '{"path":"b"}', { index: 0, id: 'c2' }),
      end('tool_calls'),
    ],
    hears: { calls: [read('a'), read('b')], finish: 'tool_calls' },
  },
  {
    says: 'parallel calls all with index 0 and glued arguments',
    stream: [named('fs_read', '', { index: 0, id: 'c1' }), rest('{"path":"a"}{"pa'), rest('th":"}{"}'), end('stop')],
    hears: { calls: [{ id: 'c1', arguments: { path: 'a' } }, ['fs.read', { path: '}{' }]], finish: 'tool_calls' },
  },
  {
    says: 'calls without index and without id, names apart',
    stream: [named('fs_read', '{"path":"a"}'), named('fs_write', '{"path":"b"}'), end('stop')],
    hears: { calls: [read('a'), ['fs.write', { path: 'b' }]], finish: 'tool_calls' },
  },
  {
    says: 'no index, everything in one chunk (Mistral)',
    stream: [
      delta({
        tool_calls: [
          { id: 'abcdefghi', function: { name: 'fs_read', arguments: '{"path":"a"}' } },
          { id: 'bcdefghij', function: { name: 'fs_read', arguments: '{"path":"b"}' } },
        ],
      }),
      end('tool_calls'),
    ],
    hears: { calls: [{ id: 'abcdefghi', arguments: { path: 'a' } }, read('b')], finish: 'tool_calls' },
  },
  {
    says: 'whole calls in one chunk, without index and without id',
    stream: [
      delta({
        tool_calls: [
          { function: { name: 'fs_read', arguments: '{}' } },
          { function: { name: 'fs_read', arguments: '{"path":"a"}' } },
          { function: { name: 'fs_read', arguments: '{"path":"a"}' } },
        ],
      }),
      end('tool_calls'),
    ],
    hears: { calls: [['fs.read', {}], read('a'), read('a')], finish: 'tool_calls' },
  },
  {
    says: 'continuations with empty id and name',
    stream: [
      named('fs_read', '{"path":', { index: 0, id: 'c1' }),
      call({ index: 0, id: '', function: { name: '', arguments: '"a"}' } }),
      end('tool_calls'),
    ],
    hears: { calls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
  },
  {
    says: 'continuations with null id and name',
    stream: [
      named('fs_read', '{"path":', { index: 0, id: 'c1' }),
      call({ index: 0, id: null, function: { name: null, arguments: '"a"}' } }),
      end('tool_calls'),
    ],
    hears: { calls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
  },
  {
    says: 'continuations that repeat id and name',
    stream: [
      named('fs_read', '{"path":', { index: 0, id: 'c1' }),
      named('fs_read', '"a"}', { index: 0, id: 'c1' }),
      end('tool_calls'),
    ],
    hears: { calls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
  },
  {
    says: 'a new id in every fragment',
    stream: [
      named('fs_read', '{"path":', { index: 0, id: 'c1' }),
      rest('"a"', { index: 0, id: 'c2' }),
      rest('}', { index: 0, id: 'c3' }),
      end('tool_calls'),
    ],
    hears: { calls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
  },
  {
    says: 'indexes that begin at 1 and skip',
    stream: [
      named('fs_read', '{"path":"a"}', { index: 1, id: 'c1' }),
      named('fs_read', '{"path":"b"}', { index: 3, id: 'c2' }),
      end('tool_calls'),
    ],
    hears: { calls: [read('a'), read('b')] },
  },
  {
    says: 'all calls announced first, then written in turns',
    stream: [
      named('fs_read', '', { index: 0, id: 'c1' }),
      named('fs_write', '{}', { index: 1, id: 'c2' }),
      rest('{"path":"a"}', { index: 0 }),
      rest('{"path":"b"}', { index: 1 }),
      end('tool_calls'),
    ],
    hears: { calls: [read('a'), ['fs.write', { path: 'b' }]] },
  },
  {
    says: '`{}` before the real arguments (LiteLLM)',
    stream: [named('fs_read', '{}', { index: 0, id: 'c1' }), rest('{"path":"a"}', { index: 0 }), end('tool_calls')],
    hears: { calls: [read('a')] },
  },
  {
    says: 'no arguments at all',
    stream: [named('fs_read', '', { index: 0, id: 'c1' }), end('tool_calls')],
    hears: { calls: [['fs.read', {}]], finish: 'tool_calls' },
  },
  {
    says: 'arguments as an object',
    stream: [call({ index: 0, id: 'c1', function: { name: 'fs_read', arguments: { path: 'a' } } }), end('stop')],
    hears: { calls: [read('a')] },
  },
  {
    says: 'arguments that are cut are a malformed call, not a crash',
    stream: [named('fs_read', '{"path":"a', { index: 0, id: 'c1' }), end('tool_calls')],
    hears: { calls: [{ id: 'c1', name: 'fs.read', arguments: {}, malformed: '{"path":"a' }], finish: 'tool_calls' },
  },
  {
    says: 'the same chunk twice is a malformed call',
    stream: [
      named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }),
      named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }),
      end('tool_calls'),
    ],
    hears: { calls: [{ id: 'c1', name: 'fs.read', arguments: {}, malformed: '{"path":"a"}{"path":"a"}' }] },
  },
  {
    says: 'more of a call that was complete',
    stream: [
      named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }),
      named('fs_read', '{"path":"b"}', { index: 1, id: 'c2' }),
      rest('{"path":"c"}', { index: 0 }),
      end('tool_calls'),
    ],
    hears: { calls: [read('a')], error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'the call before tool_calls existed',
    stream: [
      delta({ function_call: { name: 'fs_read', arguments: '{"path"' } }),
      delta({ function_call: { arguments: ':"a"}' } }),
      end('function_call'),
    ],
    hears: { calls: [read('a')], finish: 'tool_calls' },
  },
  {
    says: 'an id twice: the second call gets one of ours',
    stream: [
      named('fs_read', '{"path":"a"}', { index: 0, id: 'same' }),
      named('fs_read', '{"path":"b"}', { index: 1, id: 'same' }),
      end('tool_calls'),
    ],
    hears: { calls: [{ id: 'same', arguments: { path: 'a' } }, read('b')] },
  },
  {
    says: 'an id of 10 KB',
    stream: [named('fs_read', '{"path":"a"}', { index: 0, id: 'x'.repeat(10_000) }), end('tool_calls')],
    hears: { calls: [read('a')] },
  },
  {
    says: 'a call numbered four billion',
    stream: [named('fs_read', '{}', { index: 4_000_000_000, id: 'c1' }), end('tool_calls')],
    hears: { error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'unknown tools and the names of objects stay what they are',
    stream: [
      named('constructor', '{}', { index: 0, id: 'c1' }),
      named('__proto__', '{}', { index: 1, id: 'c2' }),
      end('tool_calls'),
    ],
    hears: {
      calls: [
        ['constructor', {}],
        ['__proto__', {}],
      ],
    },
  },
  {
    says: 'calls of nothing (Snowflake)',
    stream: [delta({ content: 'hi', function_call: { name: '', arguments: '' }, tool_calls: null }), end('stop')],
    hears: { text: 'hi', calls: [], finish: 'stop' },
  },
  {
    says: 'events without choices, without delta, with nothing known',
    stream: [
      { model: 'm', choices: [], prompt_filter_results: [] },
      { object: 'ping' },
      { choices: [{ index: 0, finish_reason: null, content_filter_results: {} }] },
      '[1,2]',
      'null',
      delta({ content: 'hi' }),
      { choices: [null, 7] },
      { choices: 'none', model: 7, usage: 'none' },
      end('stop'),
    ],
    hears: { text: 'hi', finish: 'stop', model: 'm' },
  },
  {
    says: 'wrong types everywhere',
    stream: [
      { model: 7, choices: [{ index: 0, delta: { role: 3, content: 4, tool_calls: { a: 1 } }, finish_reason: 5 }] },
      delta({ content: null, tool_calls: [null, 'x', { index: 'a', function: 3 }] }),
      delta({ content: 'hi' }),
      end('stop'),
    ],
    hears: { text: 'hi', calls: [], finish: 'stop' },
  },
  {
    says: 'thinking as reasoning_content (DeepSeek, vLLM)',
    stream: [delta({ reasoning_content: 'hm' }), delta({ reasoning_content: 'm', content: 'ok' }), end('stop')],
    hears: { thinking: 'hmm', text: 'ok', order: ['thinking', 'text'] },
  },
  {
    says: 'thinking as reasoning (OpenRouter, Groq)',
    stream: [delta({ reasoning: 'hmm', reasoning_details: [{ text: 'hmm' }] }), delta({ content: 'ok' }), end('stop')],
    hears: { thinking: 'hmm', text: 'ok' },
  },
  {
    says: 'thinking in both fields is heard once',
    stream: [delta({ reasoning: 'hmm', reasoning_content: 'hmm' }), delta({ content: 'ok' }), end('stop')],
    hears: { thinking: 'hmm', text: 'ok' },
  },
  {
    says: 'thinking and text as parts of content (Mistral)',
    stream: [
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hmm' }] }] }),
      delta({ content: [{ type: 'thinking', thinking: 'm' }, { type: 'text', text: 'o' }, 7] }),
      delta({ content: 'k' }),
      end('stop'),
    ],
    hears: { thinking: 'hmmm', text: 'ok' },
  },
  {
    says: 'a refusal is said',
    stream: [delta({ refusal: 'I will not.' }), end('stop')],
    hears: { text: 'I will not.' },
  },
  {
    says: 'text, thinking and calls in turns keep their order',
    stream: [
      delta({ reasoning_content: 'a' }),
      delta({ content: 'b' }),
      delta({ reasoning_content: 'c' }),
      named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }),
      delta({ content: 'd' }),
      named('fs_write', '{"path":"b"}', { index: 1, id: 'c2' }),
      end('tool_calls'),
    ],
    hears: {
      text: 'bd',
      thinking: 'ac',
      order: ['thinking', 'text', 'thinking', 'text', 'call fs.read', 'call fs.write'],
    },
  },
  {
    says: 'cut by length: the call before stays, the last one is not complete',
    stream: [
      named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }),
      named('fs_read', '{"path":"b"}', { index: 1, id: 'c2' }),
      end('length'),
    ],
    hears: { calls: [read('a')], finish: 'length' },
  },
  {
    says: 'filtered',
    stream: [delta({ content: 'I' }), end('content_filter')],
    hears: { text: 'I', finish: 'content_filter' },
  },
  {
    says: 'the last usage counts; cached and thinking tokens are inside',
    stream: [
      { ...delta({ content: 'hi' }), usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } },
      end('stop'),
      {
        choices: [],
        usage: {
          ...usage,
          prompt_tokens_details: { cached_tokens: 8 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
    ],
    hears: {
      usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14, cachedTokens: 8, thinkingTokens: 3 },
    },
  },
  {
    says: 'cached tokens by DeepSeek’s name, usage in the choice (Moonshot)',
    stream: [delta({ content: 'hi' }, 'stop', { usage: { ...usage, prompt_cache_hit_tokens: 6 } })],
    hears: { usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14, cachedTokens: 6 } },
  },
  {
    says: 'usage in x_groq',
    stream: [delta({ content: 'hi' }), { ...end('stop'), x_groq: { usage } }],
    hears: { usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 } },
  },
  {
    says: 'a second choice is not ours',
    stream: [
      { choices: [{ index: 1, delta: { content: 'other' } }] },
      {
        choices: [
          { index: 1, delta: { content: 'other' } },
          { index: 0, delta: { content: 'ours' } },
        ],
      },
      end('stop'),
    ],
    hears: { text: 'ours' },
  },
  {
    says: 'finish_reason in every chunk',
    stream: [
      delta(
        {
          content: 'a',
          tool_calls: [{ index: 0, id: 'c1', function: { name: 'fs_read', arguments: '{"path":"a"}' } }],
        },
        'tool_calls',
      ),
      delta(
        {
          content: 'b',
          tool_calls: [{ index: 1, id: 'c2', function: { name: 'fs_read', arguments: '{"path":"b"}' } }],
        },
        'tool_calls',
      ),
    ],
    hears: { text: 'ab', calls: [read('a'), read('b')], finish: 'tool_calls' },
  },
  {
    says: 'a second answer behind the end of the first, as a gateway writes it that tried again',
    stream: [
      { id: 'a', ...delta({ content: 'hi' }) },
      { id: 'a', ...end('stop') },
      { id: 'b', ...delta({ content: 'hi' }) },
      { id: 'b', ...end('stop') },
    ],
    hears: { text: 'hi', error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'a call under another id behind the end',
    stream: [
      { id: 'a', ...end('stop') },
      { id: 'b', ...named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' }) },
    ],
    hears: { calls: [], error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'another id in every event (Groq), and in the one with the usage behind the end',
    stream: [
      { id: 'a', ...delta({ content: 'h' }) },
      { id: 'b', ...delta({ content: 'i' }) },
      { id: 'c', ...end('stop') },
      { id: 'd', ...delta({ role: 'assistant', content: '' }, 'stop'), usage },
    ],
    hears: { text: 'hi', finish: 'stop', usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 } },
  },
  {
    says: 'finish_reason without an end mark is whole',
    stream: [delta({ content: 'hi' }), end('stop')],
    unmarked: true,
    hears: { text: 'hi', finish: 'stop' },
  },
  {
    says: 'neither finish_reason nor end mark: cut, and the last call is not complete',
    stream: [delta({ content: 'hi' }), named('fs_read', '{"path":"a"}', { index: 0, id: 'c1' })],
    unmarked: true,
    hears: { text: 'hi', calls: [], error: { code: 'LLM_INCOMPLETE', retryable: true } },
  },
  {
    says: 'only an end mark',
    stream: [],
    hears: { error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'an event that is not JSON',
    stream: [delta({ content: 'hi' }), 'hello', end('stop')],
    hears: { text: 'hi', error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'an event a million levels deep',
    stream: [`{"a":${'['.repeat(1_000_000)}`, end('stop')],
    hears: { error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'keys that reach for the prototype',
    stream: [
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"choices":[]}',
      delta({ content: 'hi' }),
      end('stop'),
    ],
    hears: { text: 'hi', finish: 'stop' },
  },
];

describe('what providers write', () => {
  for (const wire of cases) {
    it(wire.says, async () => {
      const events = wire.stream.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
      const body = [...events, ...(wire.unmarked ? [] : ['[DONE]'])].map((event) => `data: ${event}\n\n`).join('');
      for (const slicing of body.length < 20_000 ? slicings : (['whole', 'random'] as const)) {
        const heard = await served({ headers, body }, slicing, () => hear(anywhere.chatStream(greeting)));
        expectHeard(heard, wire.hears);
      }
      assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    });
  }

  it('500 calls are heard', async () => {
    const stream = Array.from({ length: 500 }, (_, at) =>
      named('fs_read', `{"path":"${at}"}`, { index: at, id: `c${at}` }),
    );
    const body = [...stream, end('tool_calls')].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const { calls, finish } = await served({ headers, body }, 'random', () => hear(anywhere.chatStream(greeting)));
    assert.deepEqual([calls.length, calls[499]?.arguments, finish], [500, { path: '499' }, 'tool_calls']);
  });

  it('ids of earlier calls are not given again', async () => {
    const body = [named('fs_read', '{"path":"a"}', { index: 0, id: 'call_0' }), end('stop'), '[DONE]']
      .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
      .join('');
    const earlier = { id: 'call_0', name: 'fs.read', arguments: {} };
    const messages = [...greeting.messages, { role: 'assistant' as const, content: '', toolCalls: [earlier] }];
    const heard = await served({ headers, body }, 'whole', () => hear(anywhere.chatStream({ ...greeting, messages })));
    assert.match(heard.calls[0]!.id, /^call_[0-9a-f]{20}$/);
  });

  it('a call is complete as soon as the next one begins', async () => {
    const body = [
      named('fs_read', '{"path":"a"}', { index: 0 }),
      named('fs_read', '', { index: 1 }),
      delta({ content: 'more' }),
    ];
    const stream = body.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const { order } = await served({ headers, body: stream }, 'whole', () => hear(anywhere.chatStream(greeting)));
    assert.deepEqual(order, ['call fs.read', 'text']);
  });
});

describe('how far llama-server is with reading', () => {
  const progress = (total: number, cache: number, processed: number, ms: number) =>
    delta(
      { role: 'assistant', content: null },
      null,
      {},
      { prompt_progress: { total, cache, processed, time_ms: ms } },
    );
  const chunksOf = async (...events: object[]) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    return served({ headers, body: `${body}data: [DONE]\n\n` }, 'sevens', async () => {
      const chunks: ChatStreamChunk[] = [];
      for await (const chunk of anywhere.chatStream(greeting)) chunks.push(chunk);
      return chunks;
    });
  };

  it('is told as of a model on this machine: of what it does not know from before', async () => {
    const chunks = await chunksOf(
      progress(1000, 200, 200, 0),
      progress(1000, 200, 400, 10_000),
      progress(1000, 200, 1000, 39_000),
      delta({ content: 'Hi' }),
      end('stop'),
    );
    assert.deepEqual(
      chunks.flatMap(({ progress }) => (progress ? [{ text: progress.text, fraction: progress.fraction }] : [])),
      [
        { text: 'Reading prompt', fraction: 0 },
        { text: 'Reading prompt: 25%, about 30 s left', fraction: 0.25 },
        { text: 'Reading prompt', fraction: 1 },
      ],
    );
    assert.equal(chunks.map(({ content = '' }) => content).join(''), 'Hi');
  });

  const odd: object[] = [
    progress(1000, 1000, 1000, 5),
    progress(10, 20, 5, 5),
    progress(10, 0, 20, 5),
    { ...delta({ content: null }), prompt_progress: 'half' },
    { ...delta({ content: null }), prompt_progress: { total: '9', processed: -1 } },
  ];
  for (const event of odd)
    it(`nonsense is not told: ${JSON.stringify((event as { prompt_progress: unknown }).prompt_progress)}`, async () => {
      const chunks = await chunksOf(event, delta({ content: 'Hi' }, 'stop'));
      assert.ok(chunks.every((chunk) => chunk.progress === undefined));
    });

  it('is asked of llama-server alone', async () => {
    const asked = async (provider: ProviderId) => {
      const bodies: Record<string, unknown>[] = [];
      const fetchBefore = globalThis.fetch;
      globalThis.fetch = async (_, init) => {
        bodies.push(JSON.parse(String(init?.body)));
        return new Response('', { status: 418 });
      };
      try {
        await hear(createLLMClient({ provider, model: 'm', baseUrl: 'http://127.0.0.1:1/v1' }).chatStream(greeting));
        return bodies[0]!.return_progress;
      } finally {
        globalThis.fetch = fetchBefore;
      }
    };
    assert.deepEqual(
      [await asked('llama-server'), await asked('openai-compatible'), await asked('vllm'), await asked('openai')],
      [true, undefined, undefined, undefined],
    );
  });
});

describe('a stream under another name', () => {
  for (const type of ['application/json', 'text/plain', 'application/octet-stream', '']) {
    for (const before of ['', ': welcome\n\n', 'event: message\n']) {
      it(`is read (content type "${type}", ${JSON.stringify(before)} before it)`, async () => {
        const body = `${before}data: ${JSON.stringify(delta({ content: 'Hi' }, 'stop'))}\n\ndata: [DONE]\n\n`;
        const answered = { headers: { ...(type && { 'content-type': type }) }, body };
        for (const slicing of slicings) {
          const heard = await served(answered, slicing, () => hear(anywhere.chatStream(greeting)));
          expectHeard(heard, { text: 'Hi', finish: 'stop' });
        }
      });
    }
  }
});

describe('a whole answer where a stream was asked for', () => {
  const message = {
    content: 'Reading 日本語🙂.',
    reasoning_content: 'hm',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'fs_read', arguments: '{"path":"a"}' } }],
  };
  const answer = JSON.stringify({ model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage });
  for (const type of ['application/json; charset=utf-8', 'text/plain', '', 'text/event-stream']) {
    it(`is taken (content type "${type}")`, async () => {
      const answered: Record<string, string> = type === '' ? {} : { 'content-type': type };
      const body = new TextEncoder().encode(answer);
      const response = await served({ headers: answered, body }, 'sevens', () => anywhere.chat(greeting));
      assert.deepEqual(response, {
        content: 'Reading 日本語🙂.',
        thinking: 'hm',
        toolCalls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }],
        native: { provider: 'openai-compatible', content: { thinkingField: 'reasoning_content' } },
        usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
        model: 'm',
        finishReason: 'tool_calls',
      });
    });
  }
  it('has each of its calls, without ids and with the same arguments', async () => {
    const wanted = { type: 'function', function: { name: 'fs_read', arguments: '{"path":"a"}' } };
    const same = { ...wanted, id: 'same', index: 0 };
    const choices = [{ message: { content: null, tool_calls: [wanted, wanted, same, same] }, finish_reason: 'stop' }];
    const answered = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ choices }) };
    const heard = await served(answered, 'whole', () => hear(anywhere.chatStream(greeting)));
    expectHeard(heard, { calls: [read('a'), read('a'), read('a'), read('a')], finish: 'tool_calls' });
  });
  for (const body of ['{"ok":true}', '[]', 'null', '{"choices":', '']) {
    it(`that is none is refused: ${body || 'nothing'}`, async () => {
      const served1 = { headers: { 'content-type': 'application/json' }, body };
      const { error } = await served(served1, 'whole', () => hear(anywhere.chatStream(greeting)));
      assert.equal(error?.code, 'LLM_BAD_RESPONSE');
    });
  }
});

const headers = { 'content-type': 'text/event-stream' };
