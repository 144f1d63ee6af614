import assert from 'node:assert/strict';
import { type AdapterLimits, type AdapterResult, createAdapter, type RetryWait } from '../../src/llm/adapter.ts';
import type { ChatRequest, ChatStreamChunk } from '../../src/llm/client.ts';
import { createClient } from '../../src/llm/create.ts';
import { canaries, canary, type Deed, type FakeProvider, fakeProviders, type Part } from '../support/providers.ts';

const request: ChatRequest = {
  model: 'scripted',
  systemPrompt: 'Be good.',
  messages: [{ role: 'user', content: 'hi' }],
  tools: ['fs.read', 'fs.write', 'plan.update'].map((name) => ({
    name,
    description: name,
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
  })),
};
const limits: Partial<AdapterLimits> = { connectMs: 3000, retries: 1, baseDelayMs: 10, retryAfterCapMs: 5000 };
const hello: Deed = { parts: [{ text: 'Hello 🙂' }] };
const usage = { promptTokens: 12, completionTokens: 5, totalTokens: 17 };

/** What every provider has to give; a call is `name {arguments}`, or `name !text` when the text is no JSON object. */
interface Gives {
  content?: string;
  thinking?: string;
  calls?: string[];
  finish?: string;
  usage?: object;
  code?: string;
  incomplete?: boolean;
  /** 1 where nothing is said. */
  attempts?: number;
}

const fails = (status: number, message: string, headers?: Record<string, string>): Deed => ({
  status,
  message,
  headers,
});
const call = (name: string, args: object | string): Part => ({ call: name, args });
const refusal = `Incorrect API key provided: ${canary}.`;

const behaviours: [says: string, deeds: Deed[], gives: Gives][] = [
  ['text', [hello], { content: 'Hello 🙂', finish: 'stop', usage }],
  [
    'thinking, then text',
    [{ parts: [{ thinking: 'Let me see.' }, { text: 'Hello' }] }],
    { thinking: 'Let me see.', content: 'Hello', finish: 'stop' },
  ],
  [
    'one call',
    [{ parts: [{ text: 'Reading.' }, call('fs_read', { path: 'a/日本.ts' })] }],
    { content: 'Reading.', calls: ['fs.read {"path":"a/日本.ts"}'], finish: 'tool_calls' },
  ],
  [
    'parallel calls, in the order asked',
    [{ parts: [call('fs_read', { path: 'a' }), call('fs_read', { path: 'b' }), call('fs_write', { path: 'c' })] }],
    { calls: ['fs.read {"path":"a"}', 'fs.read {"path":"b"}', 'fs.write {"path":"c"}'], finish: 'tool_calls' },
  ],
  [
    'a call without arguments',
    [{ parts: [call('plan_update', {})] }],
    { calls: ['plan.update {}'], finish: 'tool_calls' },
  ],
  [
    'a call of a tool that nobody offered',
    [{ parts: [call('constructor', { a: 1 })] }],
    { calls: ['constructor {"a":1}'], finish: 'tool_calls' },
  ],
  [
    'malformed arguments are kept as they are, and are none',
    [{ parts: [call('fs_write', '{"path": "a", "content": "half')] }],
    { calls: ['fs.write !{"path": "a", "content": "half'], finish: 'tool_calls' },
  ],
  [
    'a call written as text',
    [{ parts: [{ text: '<tool_call>\n{"name": "fs_read", "arguments": {"path": "a"}}\n</tool_call>' }] }],
    { calls: ['fs.read {"path":"a"}'], finish: 'tool_calls' },
  ],
  ['401', [fails(401, refusal)], { code: 'LLM_AUTH_FAILED' }],
  ['403', [fails(403, refusal)], { code: 'LLM_AUTH_FAILED' }],
  [
    '429, then well',
    [fails(429, 'Slow down.', { 'retry-after-ms': '20' }), hello],
    { content: 'Hello 🙂', attempts: 2 },
  ],
  ['429 for good', [fails(429, 'Slow down.'), fails(429, 'Slow down.')], { code: 'LLM_RATE_LIMITED', attempts: 2 }],
  ['429 for an hour', [fails(429, 'Slow down.', { 'retry-after': '3600' })], { code: 'LLM_RATE_LIMITED' }],
  ['500, then well', [fails(500, 'Oops.'), hello], { content: 'Hello 🙂', attempts: 2 }],
  ['500 for good', [fails(500, 'Oops.'), fails(503, 'Oops.')], { code: 'LLM_HTTP_ERROR', attempts: 2 }],
  ['400', [fails(400, `Something is wrong with ${canary}.`)], { code: 'LLM_HTTP_ERROR' }],
  [
    'too long a conversation',
    [fails(400, 'prompt is too long: 210000 tokens > 200000 maximum')],
    { code: 'LLM_CONTEXT_OVERFLOW' },
  ],
  [
    'a stream cut in its text: kept, marked, not asked again',
    [{ parts: [{ text: 'Half of' }], end: 'cut' }],
    { content: 'Half of', code: 'LLM_INCOMPLETE', incomplete: true },
  ],
  [
    'a hang in its text: the same',
    [{ parts: [{ text: 'Half of' }], end: 'hang' }],
    { content: 'Half of', code: 'LLM_TIMEOUT', incomplete: true },
  ],
  ['no answer, then well', ['no answer', hello], { content: 'Hello 🙂', attempts: 2 }],
];

interface Heard {
  result: AdapterResult;
  chunks: ChatStreamChunk[];
  waits: RetryWait[];
}

/** One call; afterwards the provider has had as many requests as there were attempts, and no socket is open. */
async function converse(fake: FakeProvider, deeds: Deed[]): Promise<Heard> {
  const provider = await fake.start(deeds);
  try {
    const fetchLimits = { connectMs: 500, idleMs: 500, closeMs: 50 };
    const client = createClient({ ...provider.choice, model: 'scripted', fetchLimits });
    const heard: Omit<Heard, 'result'> = { chunks: [], waits: [] };
    const result = await createAdapter(client, limits).complete(request, {
      signal: new AbortController().signal,
      onChunk: (chunk) => heard.chunks.push(chunk),
      onRetry: (wait) => heard.waits.push(wait),
    });
    assert.equal(provider.requests(), result.attempts, JSON.stringify(result));
    await quiet(provider);
    for (const key of canaries) assert.ok(!JSON.stringify([result, heard]).includes(key), 'the key is told to nobody');
    return { result, ...heard };
  } finally {
    await provider.close();
  }
}

async function stopAt(fake: FakeProvider, deed: Deed, ready: Ready): Promise<void> {
  const provider = await fake.start([deed]);
  try {
    const controller = new AbortController();
    const heard = { words: 0, waits: 0, after: 0 };
    const client = createClient({ ...provider.choice, model: 'scripted' });
    const running = createAdapter(client, limits).complete(request, {
      signal: controller.signal,
      onChunk: (chunk) => {
        if (chunk.content || chunk.toolCallDelta || chunk.toolCall) heard.words++;
        if (controller.signal.aborted) heard.after++;
      },
      onRetry: () => heard.waits++,
    });
    const patience = performance.now() + 5000;
    while (!(provider.requests() > 0 && ready(heard)) && performance.now() < patience) await pause(5);
    const stopped = performance.now();
    controller.abort();
    const result = await running;
    assert.ok(performance.now() - stopped < 1000);
    assert.deepEqual([result.success, result.aborted, result.error, result.attempts], [false, true, undefined, 1]);
    await quiet(provider);
    assert.deepEqual([heard.after, provider.requests()], [0, 1]);
  } finally {
    await provider.close();
  }
}

type Ready = (heard: { words: number; waits: number }) => boolean;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function quiet(provider: { openSockets(): number }): Promise<void> {
  const patience = performance.now() + 2000;
  while (provider.openSockets() > 0 && performance.now() < patience) await pause(5);
  assert.equal(provider.openSockets(), 0, 'open sockets');
}

function toGiven({ message, finishReason, error, attempts }: AdapterResult) {
  return {
    content: message?.content ?? '',
    thinking: message?.thinking ?? '',
    calls: (message?.toolCalls ?? []).map(({ name, arguments: args, malformed }) =>
      malformed === undefined ? `${name} ${JSON.stringify(args)}` : `${name} !${asWritten(malformed)}`,
    ),
    finish: error ? undefined : finishReason,
    code: error?.code,
    incomplete: message?.incomplete ?? false,
    attempts,
  };
}

/** Google sends arguments as JSON: a text in their place comes as JSON of that text. */
const asWritten = (malformed: string) => (malformed.startsWith('"') ? JSON.parse(malformed) : malformed);

for (const fake of fakeProviders) {
  describe(`every provider: ${fake.name}`, () => {
    for (const [says, deeds, gives] of behaviours) {
      it(says, async () => {
        const { result, chunks, waits } = await converse(fake, deeds);
        const { usage: tokens, ...expected } = gives;
        const usual = { content: '', thinking: '', calls: [], incomplete: false, attempts: 1 };
        const finish = gives.code ? undefined : (gives.finish ?? 'stop');
        assert.deepEqual(toGiven(result), { ...usual, code: undefined, ...expected, finish });
        if (tokens) assert.deepEqual(result.usage, tokens);
        assert.equal(chunks.map(({ content }) => content ?? '').join(''), result.message?.content ?? '');
        assert.equal(waits.length, result.attempts - 1);
        const ids = result.message?.toolCalls?.map(({ id }) => id) ?? [];
        assert.equal(new Set(ids.filter((id) => id !== '')).size, ids.length, 'each call has an id of its own');
      });
    }

    const stages: [says: string, deed: Deed, ready: Ready][] = [
      ['before an answer', 'no answer', () => true],
      ['in the middle of the text', { parts: [{ text: 'Half' }], end: 'hang' }, ({ words }) => words > 0],
      [
        'in a call',
        { parts: [{ text: 'Reading.' }, call('fs_read', { path: 'a' })], end: 'hang' },
        ({ words }) => words > 1,
      ],
      ['while it waits to ask again', fails(429, 'Slow down.', { 'retry-after': '4' }), ({ waits }) => waits > 0],
    ];
    for (const [says, deed, ready] of stages) {
      it(`stop ${says}: ended at once, and nothing comes after`, () => stopAt(fake, deed, ready));
    }
  });
}
