import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createAnthropicClient } from '../../../src/llm/anthropic/client.ts';
import { createAnthropicReader } from '../../../src/llm/anthropic/reader.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { type Block, call, events, type StreamOptions, sse, text, thinking, whole } from '../../support/anthropic.ts';
import { expectHeard, type Hears } from '../openai/wireCases.ts';
import { greeting, hear, served, slicings } from '../serve.ts';

/** Each case is a stream as Anthropic or a gateway really writes it, with the symptom it causes in a careless client. */
interface WireCase {
  says: string;
  stream: (object | string)[];
  hears: Hears;
}

const client = createAnthropicClient({ apiKey: 'sk-ant-CANARYKEY1234567890' });
const said = (blocks: Block[], options?: StreamOptions) => events(blocks, options);
/** The events between the beginning of the message and its end, as they are. */
const raw = (...between: object[]) => [...said([], { stop: null }), ...between, ...said([]).slice(-2)];
const begin = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, content: object) => ({ type: 'content_block_delta', index, delta: content });
const piece = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const use = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'fs_read', input });
const read = (path: string, id: string) => ({ id, name: 'fs.read', arguments: { path } });

const cases: WireCase[] = [
  {
    says: 'text, then a call in fragments, then one more',
    stream: said([
      text('Let me see 🙂.'),
      call('fs_read', { path: '日本' }, 'a'),
      call('fs_write', { path: 'b' }, 'b'),
    ]),
    hears: {
      text: 'Let me see 🙂.',
      calls: [read('日本', 'a'), { id: 'b', name: 'fs.write', arguments: { path: 'b' } }],
      order: ['text', 'call fs.read', 'call fs.write'],
      finish: 'tool_calls',
      usage: { promptTokens: 12, completionTokens: 5, totalTokens: 17 },
      model: 'claude-scripted',
    },
  },
  {
    says: 'a call without arguments comes as an empty piece',
    stream: said([call('fs_read', '', 'a')]),
    hears: { calls: [{ id: 'a', name: 'fs.read', arguments: {} }], finish: 'tool_calls' },
  },
  {
    says: 'a call without arguments and without pieces',
    stream: said([whole(use('a'))]),
    hears: { calls: [{ id: 'a', arguments: {} }] },
  },
  {
    says: 'arguments all at the beginning (gateways)',
    stream: said([whole(use('a', { path: 'x' }))]),
    hears: { calls: [read('x', 'a')] },
  },
  {
    says: 'the `{}` of the beginning counts for nothing once pieces come',
    stream: raw(begin(0, use('a', { path: 'old' })), piece(0, '{"path":"x"}'), stop(0)),
    hears: { calls: [read('x', 'a')] },
  },
  {
    says: '`{}` as a piece before the real arguments (LiteLLM)',
    stream: raw(begin(0, use('a')), piece(0, '{}'), piece(0, '{"path":'), piece(0, '"x"}'), stop(0)),
    hears: { calls: [read('x', 'a')] },
  },
  {
    says: 'malformed arguments are kept as they are and never mended',
    stream: said([call('fs_read', '{"path":"x', 'a')]),
    hears: { calls: [{ id: 'a', name: 'fs.read', arguments: {}, malformed: '{"path":"x' }], finish: 'tool_calls' },
  },
  {
    says: 'an array is no arguments',
    stream: said([call('fs_read', '["x"]', 'a')]),
    hears: { calls: [{ id: 'a', arguments: {}, malformed: '["x"]' }] },
  },
  {
    says: 'cut by length: the call at which it struck is not given, valid as it looks',
    stream: said([text('I'), call('fs_read', { path: 'x' }, 'a'), call('fs_read', '', 'b')], { stop: 'max_tokens' }),
    hears: { text: 'I', calls: [read('x', 'a')], finish: 'length' },
  },
  {
    says: 'cut by the window is cut by length',
    stream: said([text('I'), call('fs_read', '', 'b')], { stop: 'model_context_window_exceeded' }),
    hears: { text: 'I', calls: [], finish: 'length' },
  },
  {
    says: 'a refusal is filtered, and runs nothing',
    stream: said([text('Hi'), call('fs_read', '{}', 'a')], { stop: 'refusal' }),
    hears: { text: 'Hi', calls: [], finish: 'content_filter' },
  },
  {
    says: 'a refusal says why',
    stream: [
      ...said([text('Hi')]).slice(0, -2),
      { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { explanation: 'Not this.' } } },
      { type: 'message_stop' },
    ],
    hears: { text: 'Hi', finish: 'content_filter', finishMessage: 'Not this.' },
  },
  {
    says: 'a second answer behind the first, as a gateway writes it that tried again',
    stream: [...said([text('Hi'), call('fs_read', '{}', 'a')], { stop: null }), ...said([text('Hi')])],
    hears: { text: 'Hi', calls: [], error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'two beginnings, before a word',
    stream: [said([])[0]!, ...said([text('Hi')])],
    hears: { text: '', error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'a stop sequence is a stop',
    stream: said([text('Hi')], { stop: 'stop_sequence' }),
    hears: { finish: 'stop' },
  },
  { says: 'a pause is a stop', stream: said([text('Hi')], { stop: 'pause_turn' }), hears: { finish: 'stop' } },
  {
    says: 'end_turn after calls means calls (gateways)',
    stream: said([call('fs_read', '{}', 'a')], { stop: 'end_turn' }),
    hears: { calls: [{ id: 'a' }], finish: 'tool_calls' },
  },
  {
    says: 'tool_use without any call is a stop',
    stream: said([text('Hi')], { stop: 'tool_use' }),
    hears: { calls: [], finish: 'stop' },
  },
  {
    says: 'an unknown stop reason after text',
    stream: said([text('Hi')], { stop: 'because' }),
    hears: { text: 'Hi', finish: 'error', finishMessage: 'because' },
  },
  {
    says: 'an unknown stop reason after nothing',
    stream: said([], { stop: 'because' }),
    hears: { finish: 'error' },
  },
  {
    says: 'overloaded in the middle',
    stream: [
      ...said([text('par')], { stop: null }),
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ],
    hears: { text: 'par', error: { code: 'LLM_HTTP_ERROR', retryable: true } },
  },
  {
    says: 'a rate limit in the middle',
    stream: [{ type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }],
    hears: { error: { code: 'LLM_RATE_LIMITED', retryable: true } },
  },
  {
    says: 'a bad request in the middle is not asked again',
    stream: [{ type: 'error', error: { type: 'invalid_request_error', message: 'no' } }],
    hears: { error: { code: 'LLM_HTTP_ERROR', retryable: false } },
  },
  {
    says: 'an error without a type (gateways)',
    stream: [...said([text('par')], { stop: null }), { error: { message: 'upstream died', code: 502 } }],
    hears: { text: 'par', error: { code: 'LLM_HTTP_ERROR', retryable: true, status: 502 } },
  },
  {
    says: 'cut after a whole call: it is not given',
    stream: said([text('Hi'), call('fs_read', '{}', 'a')], { stop: null }),
    hears: { text: 'Hi', calls: [], error: { code: 'LLM_INCOMPLETE', retryable: true } },
  },
  {
    says: 'a stop reason without a last event is whole',
    stream: said([text('Hi')]).slice(0, -1),
    hears: { text: 'Hi', finish: 'stop' },
  },
  {
    says: 'a last event without a stop reason is whole',
    stream: [...said([text('Hi')], { stop: null }), { type: 'message_stop' }],
    hears: { text: 'Hi', finish: 'stop' },
  },
  {
    says: 'what follows the last event is ignored',
    stream: [...said([text('Hi')]), ...said([text(' again')])],
    hears: { text: 'Hi', finish: 'stop' },
  },
  {
    says: '[DONE] in place of a last event (gateways)',
    stream: [...said([text('Hi')], { stop: null }), '[DONE]'],
    hears: { text: 'Hi', finish: 'stop' },
  },
  { says: 'only a last event', stream: [{ type: 'message_stop' }], hears: { error: { code: 'LLM_BAD_RESPONSE' } } },
  {
    says: 'OpenAI’s protocol is none of this one',
    stream: [{ choices: [{ delta: { content: 'Hi' } }] }, '[DONE]'],
    hears: { text: '', error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'thinking, text, thinking, call keep their order',
    stream: said([thinking('hm', 's1'), text('So.'), thinking('well', 's2'), call('fs_read', '{}', 'a')]),
    hears: { thinking: 'hmwell', text: 'So.', order: ['thinking', 'text', 'thinking', 'call fs.read'] },
  },
  {
    says: 'thinking that is kept back has a signature only',
    stream: said([thinking('', 'sealed'), whole({ type: 'redacted_thinking', data: 'x' }), text('Hi')]),
    hears: { thinking: '', text: 'Hi', order: ['text'], finish: 'stop' },
  },
  {
    says: 'tools of the provider’s own are not ours to run',
    stream: said([
      {
        ...call('web_search', { query: 'x' }),
        begin: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      },
      whole({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
      text('Found.'),
    ]),
    hears: { text: 'Found.', calls: [], finish: 'stop' },
  },
  {
    says: 'blocks begun before the one before has stopped (gateways)',
    stream: raw(
      begin(0, use('a')),
      begin(1, use('b')),
      piece(0, '{"path":'),
      piece(1, '{"path":'),
      piece(0, '"x"}'),
      piece(1, '"y"}'),
      stop(0),
      stop(1),
    ),
    hears: { calls: [read('x', 'a'), read('y', 'b')] },
  },
  {
    says: 'every block numbered 0 (gateways)',
    stream: raw(
      begin(0, use('a')),
      piece(0, '{"path":"x"}'),
      stop(0),
      begin(0, use('b')),
      piece(0, '{"path":"y"}'),
      stop(0),
    ),
    hears: { calls: [read('x', 'a'), read('y', 'b')] },
  },
  {
    says: 'blocks without a number, without an end, without a beginning (gateways)',
    stream: raw(
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_start', content_block: use('a') },
      { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"path":"x"}' } },
    ),
    hears: { text: 'Hi', calls: [read('x', 'a')], finish: 'tool_calls' },
  },
  {
    says: 'text that is in the beginning of its block',
    stream: raw(begin(0, { type: 'text', text: 'He' }), delta(0, { type: 'text_delta', text: 'llo' }), stop(0)),
    hears: { text: 'Hello' },
  },
  {
    says: 'arguments of no call',
    stream: raw(begin(0, { type: 'text', text: '' }), piece(0, '{"path":"x"}')),
    hears: { calls: [], error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'more of a call that was complete',
    stream: raw(begin(0, use('a')), piece(0, '{}'), stop(0), begin(1, use('b')), piece(0, '{"path":"y"}')),
    hears: { calls: [{ id: 'a' }], error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'an id twice, and none at all: each call gets one of its own',
    stream: said([call('fs_read', '{}', 'same'), call('fs_read', '{}', 'same'), call('fs_read', '{}', '')]),
    hears: { calls: [{ id: 'same' }, { name: 'fs.read' }, { name: 'fs.read' }] },
  },
  {
    says: 'unknown tools and the names of objects stay what they are',
    stream: said([call('constructor', '{}', 'a'), call('', '{}', 'b')]),
    hears: {
      calls: [
        { id: 'a', name: 'constructor', arguments: {} },
        { id: 'b', name: 'unknown', arguments: {} },
      ],
    },
  },
  {
    says: 'a key given twice, a key that reaches for the prototype',
    stream: [
      ...said([call('fs_read', '{"path":"x","path":"y"}', 'a')], { stop: null }),
      `{"type":"content_block_start","index":7,"content_block":{"type":"tool_use","id":"b","name":"fs_read","input":{"__proto__":{"polluted":true}}}}`,
      stop(7),
      ...said([]).slice(-2),
    ],
    hears: {
      calls: [
        { id: 'a', arguments: {}, malformed: '{"path":"x","path":"y"}' },
        { id: 'b', arguments: {}, malformed: '{"__proto__":{"polluted":true}}' },
      ],
    },
  },
  {
    says: 'events of the future and wrong types everywhere',
    stream: raw(
      { type: 'tomorrow', index: {} },
      { type: 'content_block_start', index: 'x' },
      { type: 'content_block_delta', index: 'x', delta: 7 },
      { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 7 } },
      { type: 'content_block_delta', index: 4, delta: { type: 'citations_delta', citation: {} } },
      { type: 'content_block_stop' },
      { type: 'message_delta', delta: 'none', usage: 'none' },
      begin(9, { type: 'text', text: 'Hi' }),
    ),
    hears: { text: 'Hi', calls: [], finish: 'stop', model: 'claude-scripted' },
  },
  {
    says: 'a beginning of the wrong type',
    stream: [{ type: 'message_start', message: 'none' }, ...said([text('Hi')]).slice(1)],
    hears: { text: 'Hi', finish: 'stop' },
  },
  {
    says: 'the prompt is all of it, cached or not; later counts stand in for earlier ones, null for none',
    stream: [
      {
        type: 'message_start',
        message: {
          usage: { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 },
        },
      },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: null, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      },
      { type: 'message_stop' },
    ],
    hears: {
      usage: {
        promptTokens: 123,
        completionTokens: 9,
        totalTokens: 132,
        cachedTokens: 100,
        cacheWriteTokens: 20,
        thinkingTokens: 4,
      },
    },
  },
  {
    says: 'an event that is not JSON',
    stream: [...said([text('Hi')], { stop: null }), 'hello'],
    hears: { text: 'Hi', error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'an event a million levels deep',
    stream: [`{"a":${'['.repeat(1_000_000)}`],
    hears: { error: { code: 'LLM_BAD_RESPONSE' } },
  },
];

const headers = { 'content-type': 'text/event-stream' };
const listen = (body: string) => served({ headers, body }, 'random', () => hear(client.chatStream(greeting)));

describe('what Anthropic writes', () => {
  for (const { says, stream, hears } of cases) {
    it(says, async () => {
      const body = sse(stream);
      for (const slicing of body.length < 20_000 ? slicings : (['whole', 'random'] as const)) {
        expectHeard(await served({ headers, body }, slicing, () => hear(client.chatStream(greeting))), hears);
      }
      assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    });
  }

  it('a call is complete as soon as the next block begins, and not before', async () => {
    const first = call('fs_read', '{"path":"x"}', 'a');
    assert.deepEqual((await listen(sse(said([first, text('and')], { stop: null })))).order, ['call fs.read', 'text']);
    assert.deepEqual((await listen(sse(said([first], { stop: null })))).order, []);
  });

  it('500 calls are heard', async () => {
    const all = Array.from({ length: 500 }, (_, at) => call('fs_read', { path: `${at}` }, `c${at}`));
    const { calls, finish } = await listen(sse(said(all)));
    assert.deepEqual([calls.length, calls[499], finish], [500, read('499', 'c499'), 'tool_calls']);
  });

  it('ids of earlier calls are not given again', async () => {
    const earlier = {
      role: 'assistant' as const,
      content: '',
      toolCalls: [{ id: 'a', name: 'fs.read', arguments: {} }],
    };
    const request = { ...greeting, messages: [...greeting.messages, earlier] };
    const body = sse(said([call('fs_read', '{}', 'a')]));
    const { calls } = await served({ headers, body }, 'whole', () => hear(client.chatStream(request)));
    assert.match(calls[0]!.id, /^call_[0-9a-f]{20}$/);
  });

  it('each fragment of a call is shown as it comes', async () => {
    const body = sse(said([text('I'), call('fs_read', '{"path":"x"}', 'a', 6)]));
    const shown: object[] = [];
    await served({ headers, body }, 'whole', async () => {
      for await (const { toolCallDelta } of client.chatStream(greeting)) if (toolCallDelta) shown.push(toolCallDelta);
    });
    assert.deepEqual(shown, [
      { index: 0, id: 'a', name: 'fs.read' },
      { index: 0, argumentsText: '{"path' },
      { index: 0, argumentsText: '":"x"}' },
    ]);
  });

  it('750 KB of arguments in pieces cost no more each at the end than at the beginning', () => {
    const reader = createAnthropicReader({ endpoint, tools: [] });
    const argumentsText = JSON.stringify({ text: 'x'.repeat(750_000) });
    let chunks = 0;
    for (const event of said([call('fs_write', argumentsText, 'a', 5)])) chunks += reader.read(event).length;
    assert.ok(chunks > 150_000);
    const [given] = reader.end(true);
    assert.equal((given!.toolCall!.arguments.text as string).length, 750_000);
  });

  it('is cut anywhere: what came before stays the same, and an end is never made up', async () => {
    const body = sse(said([thinking('hm', 's'), text('So: 日本 🙂'), call('fs_read', { path: 'x' }, 'a')]));
    const bytes = new TextEncoder().encode(body);
    const finish = new TextEncoder().encode(body.slice(0, body.indexOf('"stop_reason"'))).length;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: finish }), async (at) => {
        const part = { headers, body: bytes.slice(0, at) };
        const heard = await served(part, 'random', () => hear(client.chatStream(greeting)));
        assert.ok(heard.error && ['LLM_INCOMPLETE', 'LLM_BAD_RESPONSE'].includes(heard.error.code), heard.error?.code);
        assert.ok('So: 日本 🙂'.startsWith(heard.text) && 'hm'.startsWith(heard.thinking));
        assert.deepEqual(heard.calls, []);
      }),
      { numRuns: 60 },
    );
  });

  it('any events whatever are read or refused, and never crash', () => {
    const names = [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
    ];
    const kinds = fc.constantFrom('text', 'thinking', 'tool_use', 'text_delta', 'input_json_delta', 'signature_delta');
    const inner = fc.record(
      { type: kinds, text: fc.jsonValue(), partial_json: fc.jsonValue(), input: fc.jsonValue(), name: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const event = fc.record(
      {
        type: fc.constantFrom(...names, 'ping', 'message_stop'),
        index: fc.oneof(fc.nat(2), fc.jsonValue()),
        content_block: fc.oneof(inner, fc.jsonValue()),
        delta: fc.oneof(inner, fc.jsonValue()),
        message: fc.jsonValue(),
        usage: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(event, fc.jsonValue()), { maxLength: 12 }), (all) => {
        const reader = createAnthropicReader({ endpoint, tools: [] });
        try {
          for (const one of all) reader.read(one);
          reader.end(true);
        } catch (error) {
          if (!(error instanceof LLMError)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });
});

const endpoint = { label: 'Anthropic', host: 'models.example', secrets: [], hasKey: false };

describe('a whole answer of Anthropic where a stream was asked for', () => {
  const answer = {
    type: 'message',
    role: 'assistant',
    model: 'claude-scripted',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's1' },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_use', id: 'a', name: 'fs_read', input: { path: 'x' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 10, output_tokens: 4 },
  };
  for (const type of ['application/json; charset=utf-8', 'text/plain', '']) {
    it(`is taken (content type "${type}")`, async () => {
      const body = new TextEncoder().encode(JSON.stringify(answer));
      const given: Record<string, string> = type === '' ? {} : { 'content-type': type };
      const response = await served({ headers: given, body }, 'sevens', () => client.chat(greeting));
      assert.deepEqual(response, {
        content: 'Reading.',
        thinking: 'hm',
        toolCalls: [read('x', 'a')],
        native: {
          provider: 'anthropic',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's1' },
            { type: 'text', length: 8 },
            { type: 'tool_use' },
          ],
        },
        usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
        model: 'claude-scripted',
        finishReason: 'tool_calls',
      });
    });
  }
  for (const body of ['{"ok":true}', '[]', 'null', '{"content":', '']) {
    it(`that is none is refused: ${body || 'nothing'}`, async () => {
      const json = { headers: { 'content-type': 'application/json' }, body };
      const { error } = await served(json, 'whole', () => hear(client.chatStream(greeting)));
      assert.equal(error?.code, 'LLM_BAD_RESPONSE');
    });
  }
});
