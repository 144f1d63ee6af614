import assert from 'node:assert/strict';
import { createAdapter } from '../../../../src/llm/adapter/adapter.ts';
import type { ProviderMetadata } from '../../../../src/protocol/content/messages.ts';
import { call, events, type Output, reasoning, refusal, sse, text, whole } from '../../../support/responses.ts';
import { clientFor, greeting, type Heard, hear, served, slicings } from '../../serve.ts';
import { expectHeard, type Hears } from '../wireCases.ts';

/** Each case is a stream as some server really writes it, with the symptom it causes in a careless client. */
interface WireCase {
  says: string;
  stream: readonly object[];
  hears: Hears;
}

const client = clientFor('https://models.example/v1', { api: 'responses', apiKey: 'sk-CANARYKEY1234567890' });
const type = { 'content-type': 'text/event-stream' };
const read = (path: string): [string, object] => ['fs.read', { path }];
const reads = (path: string, id?: string) => call('fs_read', { path }, id);
type Event = { type: string; [field: string]: unknown };
const without = (all: readonly object[], ...types: string[]) =>
  (all as Event[]).filter((one) => !types.includes(one.type));
const changed = (all: readonly object[], change: (event: Event) => object) => (all as Event[]).map(change);
/** Before the last event, in its place. */
const ended = (outputs: Output[], ...last: object[]) => [...events(outputs, { status: null }), ...last];
const detailed = {
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 15 },
    total_tokens: 120,
  },
};

const cases: WireCase[] = [
  {
    says: 'text, and what it took',
    stream: events([text('Hello 🙂')], { more: detailed }),
    hears: {
      text: 'Hello 🙂',
      finish: 'stop',
      model: 'scripted',
      usage: {
        promptTokens: 100,
        completionTokens: 20,
        totalTokens: 120,
        cachedTokens: 60,
        cacheWriteTokens: 30,
        thinkingTokens: 15,
      },
    },
  },
  {
    says: 'thinking in parts, each a paragraph, then text',
    stream: events([reasoning(['**First**', 'Then'], 'gAAAA'), reasoning('More', 'gBBBB'), text('Done.')]),
    hears: { thinking: '**First**\n\nThen\n\nMore', text: 'Done.', order: ['thinking', 'text'] },
  },
  {
    says: 'thinking itself (open models), where there is no summary',
    stream: [
      { type: 'response.created', response: { id: 'r', model: 'gpt-oss' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'r1', summary: [] } },
      { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm' },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'It said hm' },
      { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'm.' },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ],
    hears: { thinking: 'Hmm.', text: '' },
  },
  {
    says: 'a remark before calls and an answer are two paragraphs',
    stream: events([text('Looking.', { phase: 'commentary' }), text('Found it.', { phase: 'final_answer' })]),
    hears: { text: 'Looking.\n\nFound it.' },
  },
  {
    says: 'parallel calls, each when the next one has begun',
    stream: events([reads('a', 'c1'), reads('b', 'c2'), text('Two.')]),
    hears: {
      calls: [
        { id: 'c1', name: 'fs.read', arguments: { path: 'a' } },
        { id: 'c2', name: 'fs.read', arguments: { path: 'b' } },
      ],
      order: ['call fs.read', 'text'],
      finish: 'tool_calls',
    },
  },
  {
    says: 'events of two calls mixed with each other',
    stream: (() => {
      const all = events([reads('a', 'c1'), reads('b', 'c2')]) as Event[];
      const rank = ({ type }: Event) =>
        ['created', 'in_progress', 'added', 'delta', 'done', 'completed'].findIndex((end) => type.endsWith(end));
      return [...all].sort((one, other) => rank(one) - rank(other));
    })(),
    hears: { calls: [read('a'), read('b')] },
  },
  {
    says: 'a call without arguments',
    stream: events([call('fs_read', '')]),
    hears: { calls: [['fs.read', {}]], finish: 'tool_calls' },
  },
  {
    says: 'arguments that are only in the finished item',
    stream: without(events([reads('a')]), 'response.function_call_arguments.delta'),
    hears: { calls: [read('a')] },
  },
  {
    says: 'a finished item with `{}` for what came in pieces',
    stream: changed(events([reads('a')]), (event) =>
      event.type === 'response.output_item.done'
        ? { ...event, item: { ...(event.item as object), arguments: '{}' } }
        : event,
    ),
    hears: { calls: [read('a')] },
  },
  {
    says: 'arguments as an object',
    stream: without(
      changed(events([reads('a')]), (event) =>
        event.type === 'response.output_item.done'
          ? { ...event, item: { ...(event.item as object), arguments: { path: 'a' } } }
          : event,
      ),
      'response.function_call_arguments.delta',
    ),
    hears: { calls: [read('a')] },
  },
  {
    says: 'malformed arguments stay what they are',
    stream: events([call('fs_read', '{"path": "a')]),
    hears: { calls: [{ name: 'fs.read', arguments: {}, malformed: '{"path": "a' }] },
  },
  {
    says: 'a call that is unfinished in a reply that is said to be whole',
    stream: events([{ ...reads('a'), item: { ...reads('a').item, status: 'incomplete' } }]),
    hears: { calls: [{ name: 'fs.read', arguments: {}, malformed: '{"path":"a"}' }] },
  },
  {
    says: 'ids of items that are others in every event (GitHub Copilot)',
    stream: changed(events([text('Hi'), reads('a', 'c1'), reads('b', 'c2')]), (event) => {
      const item = event.item as object | undefined;
      return {
        ...event,
        ...(event.item_id !== undefined && { item_id: crypto.randomUUID() }),
        ...(item && { item: { ...item, id: crypto.randomUUID() } }),
      };
    }),
    hears: { text: 'Hi', calls: [read('a'), read('b')] },
  },
  {
    says: 'one number for all items',
    stream: changed(events([text('Hi'), reads('a', 'c1'), reads('b', 'c2')]), ({ item_id: _, ...event }) =>
      event.output_index === undefined ? event : { ...event, output_index: 0 },
    ),
    hears: { text: 'Hi', calls: [read('a'), read('b')] },
  },
  {
    says: 'no numbers, but ids',
    stream: changed(events([text('Hi'), reads('a', 'c1'), reads('b', 'c2')]), ({ output_index: _, ...event }) => event),
    hears: { text: 'Hi', calls: [read('a'), read('b')] },
  },
  {
    says: 'no beginnings of items',
    stream: without(events([reasoning('Hm.'), text('Hi'), reads('a', 'c1')]), 'response.output_item.added'),
    hears: { thinking: 'Hm.', text: 'Hi', calls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
  },
  {
    says: 'nothing but whole items, under one number',
    stream: changed(
      (events([text('Hi'), reads('a', 'c1'), reads('b', 'c2')]) as Event[]).filter(({ type }) =>
        ['response.output_item.done', 'response.completed'].includes(type),
      ),
      (event) => (event.item ? { ...event, output_index: 0 } : event),
    ),
    hears: { text: 'Hi', calls: [read('a'), read('b')] },
  },
  {
    says: 'nothing but the end',
    stream: [{ type: 'response.completed', response: whole([reasoning('Hm.'), text('Hi'), reads('a', 'c1')]) }],
    hears: { thinking: 'Hm.', text: 'Hi', calls: [read('a')], finish: 'tool_calls' },
  },
  {
    says: 'a call that only the end tells',
    stream: [
      ...events([reads('a', 'c1')], { status: null }),
      { type: 'response.completed', response: whole([reads('a', 'c1'), reads('b', 'c2')]) },
    ],
    hears: { calls: [read('a'), read('b')] },
  },
  {
    says: 'the end with other ids than before is no second reply',
    stream: [
      ...events([text('Hi'), reads('a', 'c1')], { status: null }),
      { type: 'response.completed', response: whole([reasoning('x', 'gAAA'), text('Hi'), reads('a', 'c9')]) },
    ],
    hears: { text: 'Hi', calls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
  },
  {
    says: 'text of which the end has more than came in pieces',
    stream: (events([text('Hello there')]) as Event[]).filter(({ delta }) => delta !== 'ere'),
    hears: { text: 'Hello there' },
  },
  {
    says: 'a refusal is what it says',
    stream: events([refusal('I cannot help with that.')]),
    hears: { text: 'I cannot help with that.', finish: 'stop' },
  },
  {
    says: 'tools of the provider’s own are none of ours',
    stream: events([
      { item: { type: 'web_search_call', action: {} }, pieces: [{ type: 'response.web_search_call.searching' }] },
      text('Hi'),
    ]),
    hears: { text: 'Hi', calls: [], finish: 'stop' },
  },
  {
    says: 'cut off by its limit: what is half is not run',
    stream: ended([text('Now'), call('fs_read', '{"path":"a"}', 'c1')], {
      type: 'response.incomplete',
      response: whole([], { status: 'incomplete', more: { incomplete_details: { reason: 'max_output_tokens' } } }),
    }),
    hears: { text: 'Now', calls: [], finish: 'length' },
  },
  {
    says: 'cut off by a filter',
    stream: ended([text('Now')], {
      type: 'response.incomplete',
      response: whole([], { status: 'incomplete', more: { incomplete_details: { reason: 'content_filter' } } }),
    }),
    hears: { text: 'Now', finish: 'content_filter' },
  },
  {
    says: 'incomplete for a reason that nobody knows',
    stream: ended([text('Now'), reads('a')], {
      type: 'response.incomplete',
      response: whole([], { status: 'incomplete', more: { incomplete_details: { reason: 'interrupted' } } }),
    }),
    hears: { text: 'Now', calls: [], finish: 'error', finishMessage: 'interrupted' },
  },
  {
    says: 'failed: an error of the server may be asked again',
    stream: ended([text('Half')], {
      type: 'response.failed',
      response: whole([], {
        status: 'failed',
        more: { error: { code: 'server_error', message: 'The model had an error.' } },
      }),
    }),
    hears: { text: 'Half', error: { code: 'LLM_HTTP_ERROR', retryable: true } },
  },
  {
    says: 'failed: too many requests',
    stream: ended([], {
      type: 'response.failed',
      response: whole([], {
        status: 'failed',
        more: { error: { code: 'rate_limit_exceeded', message: 'Slow down.' } },
      }),
    }),
    hears: { error: { code: 'LLM_RATE_LIMITED', retryable: true } },
  },
  {
    says: 'failed: what was asked goes against its rules',
    stream: ended([], {
      type: 'response.failed',
      response: whole([], { status: 'failed', more: { error: { code: 'invalid_prompt', message: 'Flagged.' } } }),
    }),
    hears: { error: { code: 'LLM_CONTENT_FILTERED', retryable: false } },
  },
  {
    says: 'failed: an image it cannot read',
    stream: ended([], {
      type: 'response.failed',
      response: whole([], { status: 'failed', more: { error: { code: 'image_parse_error', message: 'Broken.' } } }),
    }),
    hears: { error: { code: 'LLM_HTTP_ERROR', retryable: false } },
  },
  {
    says: 'failed without a word',
    stream: ended([], { type: 'response.failed', response: { status: 'failed', error: null } }),
    hears: { error: { code: 'LLM_HTTP_ERROR', retryable: true } },
  },
  {
    says: 'cancelled, though nobody here did',
    stream: ended([reads('a')], { type: 'response.cancelled', response: whole([], { status: 'cancelled' }) }),
    hears: { calls: [], error: { code: 'LLM_INCOMPLETE', retryable: true } },
  },
  {
    says: 'an error as an event of its own',
    stream: ended([text('Half')], { type: 'error', code: 'server_error', message: 'Boom.', param: null }),
    hears: { text: 'Half', error: { code: 'LLM_HTTP_ERROR', retryable: true } },
  },
  {
    says: 'an error as a gateway writes it',
    stream: ended([], { error: { message: 'Upstream request failed', type: 'upstream_error' } }),
    hears: { error: { code: 'LLM_HTTP_ERROR', retryable: true } },
  },
  {
    says: 'a window that is full',
    stream: ended([], {
      type: 'error',
      error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' },
    }),
    hears: { error: { code: 'LLM_CONTEXT_OVERFLOW', retryable: false } },
  },
  {
    says: 'an account without credit is not asked again',
    stream: ended([], {
      type: 'error',
      error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota.' },
    }),
    hears: { error: { code: 'LLM_RATE_LIMITED', retryable: false } },
  },
  {
    says: 'the stream ends and nothing said that it is over',
    stream: events([text('Half'), reads('a')], { status: null }),
    hears: { text: 'Half', calls: [], error: { code: 'LLM_INCOMPLETE', retryable: true } },
  },
  {
    says: 'a second answer within the first (a gateway tried again)',
    stream: ended(
      [text('One')],
      ...changed(events([text('Two')]), (event) =>
        event.response ? { ...event, response: { ...(event.response as object), id: 'resp_2' } } : event,
      ),
    ),
    hears: { text: 'One', error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'more of a call that was complete',
    stream: ended(
      [reads('a')],
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: ',"force":true}' },
      ...events([]).slice(-1),
    ),
    hears: { calls: [], error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'chat completions in its place',
    stream: [{ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hi' } }] }],
    hears: { text: '', error: { code: 'LLM_BAD_RESPONSE' } },
  },
  {
    says: 'events and items of the future',
    stream: [
      ...events(
        [text('Hi'), { item: { type: 'dream', vision: [] }, pieces: [{ type: 'response.dream.delta', delta: 'z' }] }],
        { status: null },
      ),
      { type: 'response.output_item.added', output_index: 7, item: null },
      { type: 'response.output_text.delta', output_index: 0, delta: { text: 'no' } },
      ...events([text('Hi')]).slice(-1),
    ],
    hears: { text: 'Hi', finish: 'stop' },
  },
];

const listen = (stream: readonly object[], slicing: (typeof slicings)[number]): Promise<Heard> =>
  served({ headers: type, body: sse(stream) }, slicing, () => hear(client.chatStream(greeting)));

describe('what servers with the Responses API write', () => {
  for (const { says, stream, hears } of cases) {
    it(says, async () => {
      for (const slicing of slicings) expectHeard(await listen(stream, slicing), hears);
    });
  }

  it('a whole answer where a stream was asked for', async () => {
    const outputs = [reasoning('Hm.', 'gAAAA'), text('Hi'), reads('a', 'c1')];
    const json = { headers: { 'content-type': 'application/json' } };
    const heard = (answer: object) =>
      served({ ...json, body: JSON.stringify(answer) }, 'whole', () => hear(client.chatStream(greeting)));
    expectHeard(await heard(whole(outputs)), { thinking: 'Hm.', text: 'Hi', calls: [read('a')], finish: 'tool_calls' });
    const failed = whole([], { status: 'failed', more: { error: { code: 'server_error', message: 'No.' } } });
    expectHeard(await heard(failed), { error: { code: 'LLM_HTTP_ERROR', retryable: true } });
    expectHeard(await heard({ ...whole([]), status: 'in_progress' }), { error: { code: 'LLM_INCOMPLETE' } });
    expectHeard(await heard({ choices: [] }), { error: { code: 'LLM_BAD_RESPONSE' } });
  });

  it('a list of 100,000 calls is refused, and takes no longer than to read it', async () => {
    const output = Array.from({ length: 100_000 }, () => ({ type: 'function_call' }));
    const body = sse([{ type: 'response.completed', response: { status: 'completed', output } }]);
    const adapter = createAdapter(client, { retries: 0 });
    const { signal } = new AbortController();
    const result = await served({ headers: type, body }, 'whole', () => adapter.complete(greeting, { signal }));
    assert.match(result.error?.message ?? '', /more than 4096 calls/);
  });

  it('ids of earlier calls are not given again', async () => {
    const messages = [
      { role: 'assistant' as const, content: '', toolCalls: [{ id: 'c1', name: 'fs.read', arguments: {} }] },
    ];
    const heard = await served({ headers: type, body: sse(events([reads('a', 'c1')])) }, 'whole', () =>
      hear(client.chatStream({ ...greeting, messages })),
    );
    assert.notEqual(heard.calls[0]?.id, 'c1');
  });
});

describe('what is kept of a reply, to be given back', () => {
  const kept = async (
    outputs: Output[],
    ending?: Parameters<typeof events>[1],
  ): Promise<ProviderMetadata | undefined> => {
    const body = sse(events(outputs, ending));
    return (await served({ headers: type, body }, 'random', () => client.chat(greeting))).native;
  };
  const provider = 'openai-compatible-responses';

  it('is the reasoning as it came, and the order of the rest', async () => {
    const native = await kept([
      reasoning(['A', 'B'], 'gAAAA'),
      text('Looking.', { phase: 'commentary' }),
      reads('a', 'c1'),
      reasoning([], 'gBBBB'),
      reads('b', 'c2'),
    ]);
    const summary = ['A', 'B'].map((text) => ({ type: 'summary_text', text }));
    assert.deepEqual(native, {
      provider,
      content: [
        { type: 'reasoning', item: { type: 'reasoning', id: 'item_0', summary, encrypted_content: 'gAAAA' } },
        { type: 'message', length: 8, phase: 'commentary' },
        { type: 'function_call' },
        { type: 'reasoning', item: { type: 'reasoning', id: 'item_3', summary: [], encrypted_content: 'gBBBB' } },
        { type: 'function_call' },
      ],
    });
  });

  it('is not a name of what the server has forgotten', async () => {
    assert.equal(await kept([reasoning('Hm.'), text('Hi')]), undefined);
  });

  it('is nothing where there is nothing to keep an order of', async () => {
    assert.equal(await kept([text('Hi'), reads('a')]), undefined);
  });

  it('is nothing of a reply with items that we do not know, or with calls that were not given', async () => {
    const own: Output = { item: { type: 'web_search_call' }, pieces: [] };
    assert.equal(await kept([reasoning('Hm.', 'gAAAA'), own, text('Hi')]), undefined);
    const more = { incomplete_details: { reason: 'max_output_tokens' } };
    assert.equal(await kept([reasoning('Hm.', 'gAAAA'), reads('a')], { status: 'incomplete', more }), undefined);
  });
});
