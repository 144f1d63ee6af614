import assert from 'node:assert/strict';
import { createGoogleClient } from '../../../src/llm/google/client.ts';
import type { GooglePart } from '../../../src/llm/google/wire.ts';
import { callPart, googleKey } from '../../support/google.ts';
import { expectHeard, type Hears } from '../openai/wireCases.ts';
import { greeting, hear, served, slicings } from '../serve.ts';

/** Each case is a stream as Gemini really writes it, with the symptom it causes in a careless client. */
interface WireCase {
  says: string;
  /** Events in order; objects are sent as JSON. */
  stream: (object | string)[];
  hears: Hears;
  /** The parts to be given back. */
  keeps?: GooglePart[];
}

const client = createGoogleClient({ apiKey: googleKey });
const headers = { 'content-type': 'text/event-stream' };

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 4, totalTokenCount: 14 };
const parts = (...given: unknown[]) => ({ candidates: [{ content: { role: 'model', parts: given }, index: 0 }] });
const end = (finishReason: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model' }, finishReason, index: 0 }],
  usageMetadata,
  modelVersion: 'm',
  ...more,
});
const read = (path: string): [string, object] => ['fs.read', { path }];
const readPart = (path: string, more: object = {}) => callPart('fs_read', { path }, { ...more });
const piece = (functionCall: object) => parts({ functionCall });
const partial = (jsonPath: string, value: object, more: object = { willContinue: true }) =>
  piece({ partialArgs: [{ jsonPath, ...value }], ...more });

const cases: WireCase[] = [
  {
    says: 'thinking, text, then a call without an id',
    stream: [
      parts({ text: 'Hm, ', thought: true }),
      parts({ text: 'a file.', thought: true }),
      parts({ text: 'Let me ' }),
      parts({ text: 'see 🙂.' }),
      parts(readPart('日本')),
      end('STOP'),
    ],
    hears: {
      thinking: 'Hm, a file.',
      text: 'Let me see 🙂.',
      calls: [read('日本')],
      finish: 'tool_calls',
      usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
      model: 'm',
      order: ['thinking', 'text', 'call fs.read'],
    },
  },
  {
    says: 'parallel calls in one event, the same tool twice',
    stream: [parts(readPart('a'), readPart('b')), end('STOP')],
    hears: { calls: [read('a'), read('b')], finish: 'tool_calls' },
  },
  {
    says: 'parallel calls in several events, text between',
    stream: [parts(readPart('a')), parts({ text: 'and' }), parts(callPart('fs_write', {})), end('STOP')],
    hears: { text: 'and', calls: [read('a'), ['fs.write', {}]], finish: 'tool_calls' },
  },
  {
    says: 'a call with everything in the last event',
    stream: [{ candidates: [{ content: { parts: [readPart('a')] }, finishReason: 'STOP' }], usageMetadata }],
    hears: { calls: [read('a')], finish: 'tool_calls' },
  },
  {
    says: 'a call without arguments: absent, null or empty',
    stream: [parts(callPart('fs_read'), callPart('fs_read', null), callPart('fs_read', {})), end('STOP')],
    hears: {
      calls: [
        ['fs.read', {}],
        ['fs.read', {}],
        ['fs.read', {}],
      ],
    },
  },
  {
    says: 'ids of Gemini 3 stay, and come back with the call',
    stream: [parts(readPart('a', { id: 'x1' })), end('STOP')],
    hears: { calls: [{ id: 'x1', name: 'fs.read', arguments: { path: 'a' } }] },
    keeps: [readPart('a', { id: 'x1' })],
  },
  {
    says: 'an id twice: the second call gets one of ours',
    stream: [parts(readPart('a', { id: 'same' }), readPart('b', { id: 'same' })), end('STOP')],
    hears: { calls: [{ id: 'same', arguments: { path: 'a' } }, read('b')] },
  },
  {
    says: 'signatures stay with their parts, in order: only the first of parallel calls has one',
    stream: [
      parts({ text: 'Both, ', thought: true }),
      parts({ text: 'then.', thought: true }),
      parts({ text: 'Read' }),
      parts({ text: 'ing.' }),
      parts({ text: '', thoughtSignature: 's1' }),
      parts(readPart('a', { thoughtSignature: 's2' }), readPart('b')),
      end('STOP'),
    ],
    hears: { thinking: 'Both, then.', text: 'Reading.', calls: [read('a'), read('b')] },
    keeps: [
      { text: 'Both, then.', thought: true },
      { text: 'Reading.' },
      { text: '', thoughtSignature: 's1' },
      readPart('a', { thoughtSignature: 's2' }),
      readPart('b'),
    ],
  },
  {
    says: 'a signed text is not joined with its neighbours',
    stream: [
      parts({ text: 'a' }),
      parts({ text: 'b', thoughtSignature: 's1' }),
      parts({ text: 'c' }),
      parts({ text: 'd' }),
      end('STOP'),
    ],
    hears: { text: 'abcd', finish: 'stop' },
    keeps: [{ text: 'a' }, { text: 'b', thoughtSignature: 's1' }, { text: 'cd' }],
  },
  {
    says: 'a signature on an empty text in the last event',
    stream: [
      parts({ text: 'Done.' }),
      {
        candidates: [{ content: { parts: [{ text: '', thoughtSignature: 's1' }] }, finishReason: 'STOP' }],
        usageMetadata,
      },
    ],
    hears: { text: 'Done.', finish: 'stop' },
    keeps: [{ text: 'Done.' }, { text: '', thoughtSignature: 's1' }],
  },
  {
    says: 'code that ran at Google is not said, and goes back as it came',
    stream: [
      parts({ executableCode: { language: 'PYTHON', code: 'print(1)' } }),
      parts({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }),
      parts({ text: 'One.' }),
      end('STOP'),
    ],
    hears: { text: 'One.', finish: 'stop' },
    keeps: [
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { text: 'One.' },
    ],
  },
  {
    says: 'arguments that are no object are a malformed call, not a crash',
    stream: [parts(callPart('fs_read', 'a', { thoughtSignature: 's1' }), callPart('fs_read', [1])), end('STOP')],
    hears: {
      calls: [
        { name: 'fs.read', arguments: {}, malformed: '"a"' },
        { name: 'fs.read', arguments: {}, malformed: '[1]' },
      ],
      finish: 'tool_calls',
    },
    keeps: [callPart('fs_read', {}, { thoughtSignature: 's1' }), callPart('fs_read', {})],
  },
  {
    says: 'arguments that reach for the prototype, and numbers beyond all numbers, are malformed',
    stream: [
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"fs_read","args":{"__proto__":{"x":1}}}},{"functionCall":{"name":"fs_read","args":{"n":1e999}}}]}}]}',
      end('STOP'),
    ],
    hears: {
      calls: [
        { arguments: {}, malformed: '{"__proto__":{"x":1}}' },
        { arguments: {}, malformed: '{"n":"Infinity"}' },
      ],
    },
  },
  {
    says: 'MALFORMED_FUNCTION_CALL is no finished turn',
    stream: [
      { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(fs_read(' }], usageMetadata },
    ],
    hears: { calls: [], finish: 'error' },
  },
  {
    says: 'a call before MALFORMED_FUNCTION_CALL does not run',
    stream: [parts(readPart('a', { thoughtSignature: 's' })), end('MALFORMED_FUNCTION_CALL')],
    hears: { calls: [], finish: 'error' },
  },
  {
    says: 'why a call was malformed',
    stream: [
      {
        candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed call:\n print(1)' }],
        usageMetadata,
      },
    ],
    hears: { calls: [], finish: 'error', finishMessage: 'Malformed call: print(1)' },
  },
  { says: 'STOP with nothing is an empty reply', stream: [end('STOP')], hears: { finish: 'stop' } },
  {
    says: 'STOP after thinking alone is one too',
    stream: [parts({ text: 'Hm.', thought: true }), end('STOP')],
    hears: { thinking: 'Hm.', finish: 'stop' },
  },
  { says: 'OTHER', stream: [parts({ text: 'I' }), end('OTHER')], hears: { text: 'I', finish: 'error' } },
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'].map((reason) => ({
    says: `filtered: ${reason}`,
    stream: [parts({ text: 'I' }, readPart('a')), { candidates: [{ finishReason: reason }], usageMetadata }],
    hears: { text: 'I', calls: [], finish: 'content_filter' },
  })),
  {
    says: 'a prompt that is blocked has no candidates',
    stream: [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' }, usageMetadata }],
    hears: { finish: 'content_filter', finishMessage: 'Not this.' },
  },
  {
    says: 'cut by length: no call is given, and none is kept to be answered',
    stream: [parts(readPart('a', { thoughtSignature: 's' })), end('MAX_TOKENS')],
    hears: { calls: [], finish: 'length' },
  },
  {
    says: 'the budget spent on thinking: no content at all',
    stream: [
      {
        candidates: [{ finishReason: 'MAX_TOKENS' }],
        usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 9, totalTokenCount: 19 },
      },
    ],
    hears: {
      finish: 'length',
      usage: { promptTokens: 10, completionTokens: 9, totalTokens: 19, thinkingTokens: 9 },
    },
  },
  {
    says: 'an unknown end after text',
    stream: [parts({ text: 'done' }), end('BECAUSE')],
    hears: { text: 'done', finish: 'error', finishMessage: 'BECAUSE' },
  },
  { says: 'an unknown end after nothing', stream: [end('BECAUSE')], hears: { finish: 'error' } },
  {
    says: 'a finish reason in every event (Gemini 1.0)',
    stream: [
      { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] },
      { candidates: [{ content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' }], usageMetadata },
    ],
    hears: { text: 'ab', finish: 'stop' },
  },
  {
    says: 'the last usage counts; what was cached, thought and fetched by Google’s tools is inside',
    stream: [
      { ...parts({ text: 'hi' }), usageMetadata: { trafficType: 'ON_DEMAND' } },
      { ...parts({ text: '.' }), usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 } },
      end('STOP', {
        usageMetadata: {
          promptTokenCount: 10,
          toolUsePromptTokenCount: 5,
          cachedContentTokenCount: 8,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 3,
          totalTokenCount: 22,
        },
      }),
    ],
    hears: { usage: { promptTokens: 15, completionTokens: 7, totalTokens: 22, cachedTokens: 8, thinkingTokens: 3 } },
  },
  {
    says: 'an error inside HTTP 200',
    stream: [parts({ text: 'par' }), { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }],
    hears: { text: 'par', error: { code: 'LLM_HTTP_ERROR', retryable: true, status: 503 } },
  },
  {
    says: 'a limit inside HTTP 200, with the time to wait',
    stream: [
      {
        error: {
          code: 429,
          message: 'You exceeded your current quota.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }],
        },
      },
    ],
    hears: { error: { code: 'LLM_RATE_LIMITED', retryable: true, retryAfterMs: 34_500 } },
  },
  {
    says: 'a second candidate is not ours',
    stream: [
      { candidates: [{ index: 1, content: { parts: [{ text: 'other' }] } }] },
      {
        candidates: [
          { index: 1, content: { parts: [{ text: 'other' }] } },
          { index: 0, content: { parts: [{ text: 'ours' }] } },
        ],
      },
      end('STOP'),
    ],
    hears: { text: 'ours' },
  },
  {
    says: 'events with nothing known, and wrong types everywhere',
    stream: [
      'null',
      '7',
      {},
      { candidates: 'none', usageMetadata: 'none', modelVersion: 3, promptFeedback: 1 },
      { candidates: [null, { content: 7, finishReason: 5 }] },
      { candidates: [{ content: { parts: 'x' } }] },
      parts(null, 'x', 7, { text: 5 }, { functionCall: 'x' }, { functionCall: {} }, { thought: true }),
      parts({ text: 'hi' }),
      end('STOP'),
    ],
    hears: { text: 'hi', calls: [], finish: 'stop', model: 'm' },
  },
  {
    says: 'a call without a name, unknown tools, and the names of objects',
    stream: [parts({ functionCall: { args: {} } }, callPart('constructor'), callPart('fs.read')), end('STOP')],
    hears: {
      calls: [
        ['unknown', {}],
        ['constructor', {}],
        ['fs.read', {}],
      ],
    },
  },
  {
    says: 'an event that is an array',
    stream: [[parts({ text: 'a' }), parts({ text: 'b' })], end('STOP')],
    hears: { text: 'ab', finish: 'stop' },
  },
  {
    says: 'a gateway’s [DONE] after the end',
    stream: [parts({ text: 'a' }), end('STOP'), '[DONE]', '{{{'],
    hears: { text: 'a', finish: 'stop' },
  },
  {
    says: 'arguments in pieces (Vertex)',
    stream: [
      parts({ functionCall: { name: 'fs_write', willContinue: true }, thoughtSignature: 's1' }),
      partial('$.path', { stringValue: 'a', willContinue: true }),
      partial('$.path', { stringValue: '.ts', willContinue: true }),
      partial('$.path', { stringValue: '' }),
      partial("$.lines[0]['the text']", { stringValue: '' }),
      partial('$.lines[1].at', { numberValue: 2 }),
      partial('$.lines[1].new', { boolValue: true }),
      partial('$.mode', { nullValue: null }),
      piece({}),
      parts(readPart('b')),
      end('STOP'),
    ],
    hears: {
      calls: [['fs.write', { path: 'a.ts', lines: [{ 'the text': '' }, { at: 2, new: true }], mode: null }], read('b')],
    },
    keeps: [
      callPart(
        'fs_write',
        { path: 'a.ts', lines: [{ 'the text': '' }, { at: 2, new: true }], mode: null },
        { thoughtSignature: 's1' },
      ),
      readPart('b'),
    ],
  },
  {
    says: 'arguments in pieces whose last piece is the end',
    stream: [
      piece({ name: 'fs_read', willContinue: true }),
      partial('$.path', { stringValue: 'a' }, {}),
      parts({ text: '' }),
      end('STOP'),
    ],
    hears: { calls: [read('a')] },
  },
  {
    says: 'arguments in pieces of a call without any',
    stream: [piece({ name: 'fs_read', willContinue: true }), piece({}), end('STOP')],
    hears: { calls: [['fs.read', {}]] },
  },
  {
    says: 'arguments in pieces that stop in the middle are malformed',
    stream: [
      piece({ name: 'fs_read', willContinue: true }),
      partial('$.path', { stringValue: 'src/a', willContinue: true }),
      end('STOP'),
    ],
    hears: { calls: [{ name: 'fs.read', arguments: {}, malformed: '{"path":"src/a"}' }] },
  },
  {
    says: 'a call in pieces without its end, then another one',
    stream: [
      piece({ name: 'fs_read', willContinue: true }),
      partial('$.path', { stringValue: 'a' }),
      parts(readPart('b')),
      end('STOP'),
    ],
    hears: { calls: [{ name: 'fs.read', malformed: '{"path":"a"}' }, read('b')] },
  },
  ...[
    ['a path that is none', 'path', {}],
    ['a path through a value', '$.path.more', {}],
    ['a gap in a list', '$.list[1]', {}, '{"path":"a","list":[]}'],
    ['a value given twice', '$.path', {}],
    ['the prototype', '$.__proto__.x', {}],
    ['a piece without a value', '$.other', { stringValue: undefined }],
  ].map(([says, path, change, malformed = '{"path":"a"}']) => ({
    says: `arguments in pieces with ${says} are malformed`,
    stream: [
      piece({ name: 'fs_read', willContinue: true }),
      partial('$.path', { stringValue: 'a' }),
      partial(path as string, { stringValue: 'b', ...(change as object) }),
      piece({}),
      end('STOP'),
    ],
    hears: { calls: [{ name: 'fs.read', arguments: {}, malformed: malformed as string }] },
  })),
  {
    says: 'a second answer behind the end of the first',
    stream: [
      { ...parts({ text: 'hi' }), responseId: 'r1' },
      { ...end('STOP'), responseId: 'r1' },
      { ...parts(readPart('a')), responseId: 'r2' },
      { ...end('STOP'), responseId: 'r2' },
    ],
    hears: { text: 'hi', calls: [], error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'another id for the end, behind which nothing is said',
    stream: [
      { ...parts({ text: 'hi' }), responseId: 'r1' },
      { ...end('STOP'), responseId: 'r2' },
      { ...end('STOP'), responseId: 'r3' },
    ],
    hears: { text: 'hi', finish: 'stop' },
  },
  {
    says: 'no finish reason: cut, and no call of it counts',
    stream: [parts({ text: 'hi' }), parts(readPart('a'))],
    hears: { text: 'hi', calls: [], error: { code: 'LLM_INCOMPLETE', retryable: true } },
  },
  {
    says: 'an event that is not JSON',
    stream: [parts({ text: 'hi' }), 'hello', end('STOP')],
    hears: { text: 'hi', error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'an event a million levels deep',
    stream: [`{"a":${'['.repeat(1_000_000)}`, end('STOP')],
    hears: { error: { code: 'LLM_BAD_RESPONSE' } },
  },
];

describe('what Gemini writes', () => {
  for (const wire of cases) {
    it(wire.says, async () => {
      const body = wire.stream.map(
        (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\r\n\r\n`,
      );
      const whole = body.join('');
      for (const slicing of whole.length < 20_000 ? slicings : (['whole', 'random'] as const)) {
        const heard = await served({ headers, body: whole }, slicing, () => hear(client.chatStream(greeting)));
        expectHeard(heard, wire.hears);
      }
      if (wire.hears.error) return;
      const { native } = await served({ headers, body: whole }, 'random', () => client.chat(greeting));
      const kept = wire.keeps && { provider: 'google', content: { parts: wire.keeps } };
      if (kept || !/thoughtSignature|"id":/.test(whole) || wire.hears.calls?.length === 0)
        assert.deepEqual(native, kept);
      assert.equal(({} as { x?: number }).x, undefined);
    });
  }

  it('an error after the events as bare JSON, which SSE does not know', async () => {
    const error = { error: { code: 499, message: 'The operation was cancelled.', status: 'CANCELLED' } };
    const events = [parts({ text: 'First ' }), parts(readPart('a')), end('STOP')];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    for (const slicing of slicings) {
      for (const bare of [JSON.stringify(error, undefined, 2), JSON.stringify(error)]) {
        const heard = await served({ headers, body: stream + bare }, slicing, () => hear(client.chatStream(greeting)));
        assert.deepEqual([heard.text, heard.calls, heard.error?.status], ['First ', [], 499]);
        assert.match(heard.error!.message, /The operation was cancelled/);
      }
    }
  });

  it('500 calls are heard, and kept to be answered', async () => {
    const many = Array.from({ length: 500 }, (_, at) => readPart(`${at}`, { id: `c${at}` }));
    const body = [parts(...many), end('STOP')].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const reply = await served({ headers, body }, 'random', () => client.chat(greeting));
    const kept = reply.native?.content as { parts: GooglePart[] };
    assert.deepEqual([reply.toolCalls?.length, kept.parts.length, reply.finishReason], [500, 500, 'tool_calls']);
  });

  it('ids of earlier calls are not given again', async () => {
    const body = [parts(readPart('a', { id: 'x1' })), end('STOP')]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');
    const earlier = { id: 'x1', name: 'fs.read', arguments: {} };
    const messages = [...greeting.messages, { role: 'assistant' as const, content: '', toolCalls: [earlier] }];
    const heard = await served({ headers, body }, 'whole', () => hear(client.chatStream({ ...greeting, messages })));
    assert.match(heard.calls[0]!.id, /^call_[0-9a-f]{20}$/);
  });

  it('a call is shown as it comes, before it is given', async () => {
    const body = [parts(readPart('a')), end('STOP')].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const deltas: unknown[] = [];
    await served({ headers, body }, 'whole', async () => {
      for await (const { toolCallDelta, toolCall } of client.chatStream(greeting)) {
        if (toolCallDelta) deltas.push({ ...toolCallDelta, id: 'any' });
        if (toolCall) deltas.push(toolCall.name);
      }
    });
    assert.deepEqual(deltas, [{ index: 0, id: 'any', name: 'fs.read', argumentsText: '{"path":"a"}' }, 'fs.read']);
  });
});

describe('a whole answer of Gemini where a stream was asked for', () => {
  const events = [parts({ text: 'Hm.', thought: true }), parts({ text: 'Reading.' }, readPart('a')), end('STOP')];
  const object = { ...end('STOP'), ...parts({ text: 'Hm.', thought: true }, { text: 'Reading.' }, readPart('a')) };
  const bodies: [string, string][] = [
    ['one object', JSON.stringify(object)],
    ['the stream as a JSON array', JSON.stringify(events)],
    [
      'the array as Google breaks its lines',
      `[${events.map((event) => JSON.stringify(event, null, 2)).join('\n,\r\n')}\n]`,
    ],
  ];
  for (const [says, body] of bodies) {
    for (const type of ['application/json; charset=UTF-8', '']) {
      it(`${says} is taken (content type "${type}")`, async () => {
        const answered = {
          headers: type === '' ? undefined : { 'content-type': type },
          body: new TextEncoder().encode(body),
        };
        const { toolCalls, ...reply } = await served(answered, 'sevens', () => client.chat(greeting));
        assert.deepEqual(reply, {
          content: 'Reading.',
          thinking: 'Hm.',
          usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
          model: 'm',
          finishReason: 'tool_calls',
        });
        assert.deepEqual(
          toolCalls?.map(({ name, arguments: given }) => [name, given]),
          [read('a')],
        );
      });
    }
  }
  for (const body of ['{"ok":true}', '[]', '[{}]', 'null', '{"candidates":', `[${JSON.stringify(events[0])},`, '']) {
    it(`that is none is refused: ${body || 'nothing'}`, async () => {
      const answered = { headers: { 'content-type': 'application/json' }, body };
      const { error } = await served(answered, 'whole', () => hear(client.chatStream(greeting)));
      assert.equal(error?.code, 'LLM_BAD_RESPONSE');
    });
  }
});
