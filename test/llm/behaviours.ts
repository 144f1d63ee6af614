import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import {
  type AdapterLimits,
  type AdapterResult,
  createAdapter,
  type RetryWait,
} from '../../src/llm/adapter/adapter.ts';
import type { ChatRequest, ChatStreamChunk, LLMClient } from '../../src/llm/core/client.ts';
import type { FetchLimits } from '../../src/llm/transport/http.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { RunStore } from '../../src/runs/store.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';
import { eventually } from '../support/eventually.ts';
import { noTools } from '../support/noTools.ts';
import { canaries, canary, type Deed, type Part } from '../support/providers.ts';

/** A provider as the table sees it, behind an address or not. */
export interface Row {
  name: string;
  /** What its model is called: `scripted` where nothing is said. */
  model?: string;
  /** Limits that only this provider needs; the time limits of a fetch are the same for all that fetch. */
  limits?: Partial<AdapterLimits>;
  /** What is otherwise here than in the table, or does not exist. */
  own?: Partial<Record<BehaviourId | StageId, Own>>;
  start(deeds: readonly Deed[]): Promise<Playing>;
}

export type Own = { absent: string } | Different;
interface Different {
  as: string;
  deeds?: Deed[];
  gives?: Gives;
}

/** A provider that does its deeds, one for each request. */
export interface Playing {
  /** `note` hears what the client says for the log. */
  client(options: { fetchLimits?: Partial<FetchLimits>; note(line: string): void }): LLMClient;
  requests(): number;
  /** Sockets that are open; where there are none, requests that are still at work. */
  open(): number;
  close(): Promise<void>;
}

/** What a provider has to give; a call is `name {arguments}`, or `name !text` when the text is no JSON object. */
export interface Gives {
  content?: string | RegExp;
  thinking?: string | RegExp;
  calls?: string[];
  finish?: string;
  usage?: object;
  code?: string;
  message?: RegExp;
  incomplete?: boolean;
  /** 1 where nothing is said. */
  attempts?: number;
}

interface Behaviour {
  says: string;
  deeds: Deed[];
  gives: Gives;
}

interface Heard {
  words: number;
  calls: number;
  waits: number;
}

interface Stage {
  says: string;
  deed: Deed;
  ready(heard: Heard): boolean;
}

const request: ChatRequest = {
  model: 'scripted',
  systemPrompt: 'Be good.',
  messages: [{ role: 'user', content: 'hi' }],
  tools: ['fs.read', 'fs.write', 'plan.update'].map((name) => ({
    name,
    description: name,
    parameters: { type: 'object', properties: { path: { type: 'string' }, line: { type: 'integer' } } },
  })),
};
export const { tools } = request;
const limits: Partial<AdapterLimits> = { connectMs: 3000, retries: 1, baseDelayMs: 10, retryAfterCapMs: 5000 };
const fetchLimits: Partial<FetchLimits> = { connectMs: 500, idleMs: 500, closeMs: 50 };
const hello: Deed = { parts: [{ text: 'Hello 🙂' }] };
const usage = { promptTokens: 12, completionTokens: 5, totalTokens: 17 };
const refusal = `Incorrect API key provided: ${canary}.`;
const fails = (status: number, message: string, headers?: Record<string, string>): Deed => ({
  status,
  message,
  headers,
});
const call = (name: string, args: object | string): Part => ({ call: name, args });

const seventy = Array.from({ length: 70 }, (_, at) => `${at}`);
const written = (path: string) => `<function=fs_read><parameter=path>${path}</parameter></function>`;

export type BehaviourId = keyof typeof behaviours;
const behaviours = {
  text: { says: 'text', deeds: [hello], gives: { content: 'Hello 🙂', finish: 'stop', usage } },
  thinking: {
    says: 'thinking, then text',
    deeds: [{ parts: [{ thinking: 'Let me see.' }, { text: 'Hello' }] }],
    gives: { thinking: 'Let me see.', content: 'Hello', finish: 'stop' },
  },
  call: {
    says: 'one call',
    deeds: [{ parts: [{ text: 'Reading.' }, call('fs_read', { path: 'a/日本.ts' })] }],
    gives: { content: 'Reading.', calls: ['fs.read {"path":"a/日本.ts"}'], finish: 'tool_calls' },
  },
  parallel: {
    says: 'parallel calls, in the order asked',
    deeds: [
      { parts: [call('fs_read', { path: 'a' }), call('fs_read', { path: 'b' }), call('fs_write', { path: 'c' })] },
    ],
    gives: {
      calls: ['fs.read {"path":"a"}', 'fs.read {"path":"b"}', 'fs.write {"path":"c"}'],
      finish: 'tool_calls',
    },
  },
  noArguments: {
    says: 'a call without arguments',
    deeds: [{ parts: [call('plan_update', {})] }],
    gives: { calls: ['plan.update {}'], finish: 'tool_calls' },
  },
  unknownTool: {
    says: 'a call of a tool that nobody offered',
    deeds: [{ parts: [call('constructor', { a: 1 })] }],
    gives: { calls: ['constructor {"a":1}'], finish: 'tool_calls' },
  },
  malformed: {
    says: 'malformed arguments are kept as they are, and are none',
    deeds: [{ parts: [call('fs_write', '{"path": "a", "content": "half')] }],
    gives: { calls: ['fs.write !{"path": "a", "content": "half'], finish: 'tool_calls' },
  },
  asText: {
    says: 'a call written as text',
    deeds: [{ parts: [{ text: '<function=fs_read><parameter=path>a</parameter></function>' }] }],
    gives: { calls: ['fs.read {"path":"a"}'], finish: 'tool_calls' },
  },
  manyCalls: {
    says: 'every one of 70 calls, for whoever runs them to answer',
    deeds: [{ parts: seventy.map((path) => call('fs_read', { path })) }],
    gives: { calls: seventy.map((path) => `fs.read {"path":"${path}"}`), finish: 'tool_calls' },
  },
  manyAsText: {
    says: 'every one of 70 calls written as text',
    deeds: [{ parts: [{ text: seventy.map(written).join('\n') }] }],
    gives: { calls: seventy.map((path) => `fs.read {"path":"${path}"}`), finish: 'tool_calls' },
  },
  unauthorized: { says: '401', deeds: [fails(401, refusal)], gives: { code: 'LLM_AUTH_FAILED' } },
  forbidden: { says: '403', deeds: [fails(403, refusal)], gives: { code: 'LLM_AUTH_FAILED' } },
  limitedOnce: {
    says: '429, then well',
    deeds: [fails(429, 'Slow down.', { 'retry-after-ms': '20' }), hello],
    gives: { content: 'Hello 🙂', attempts: 2 },
  },
  limited: {
    says: '429 for good',
    deeds: [fails(429, 'Slow down.'), fails(429, 'Slow down.')],
    gives: { code: 'LLM_RATE_LIMITED', attempts: 2 },
  },
  limitedLong: {
    says: '429 for an hour',
    deeds: [fails(429, 'Slow down.', { 'retry-after': '3600' })],
    gives: { code: 'LLM_RATE_LIMITED' },
  },
  failingOnce: {
    says: '500, then well',
    deeds: [fails(500, 'Oops.'), hello],
    gives: { content: 'Hello 🙂', attempts: 2 },
  },
  failing: {
    says: '500 for good',
    deeds: [fails(500, 'Oops.'), fails(503, 'Oops.')],
    gives: { code: 'LLM_HTTP_ERROR', attempts: 2 },
  },
  rejected: {
    says: '400',
    deeds: [fails(400, `Something is wrong with ${canary}.`)],
    gives: { code: 'LLM_HTTP_ERROR' },
  },
  overflow: {
    says: 'too long a conversation',
    deeds: [fails(400, 'prompt is too long: 210000 tokens > 200000 maximum')],
    gives: { code: 'LLM_CONTEXT_OVERFLOW' },
  },
  cut: {
    says: 'a stream cut in its text: kept, marked, not asked again',
    deeds: [{ parts: [{ text: 'Half of' }], end: 'cut' }],
    gives: { content: 'Half of', code: 'LLM_INCOMPLETE', incomplete: true },
  },
  hang: {
    says: 'a hang in its text: the same',
    deeds: [{ parts: [{ text: 'Half of' }], end: 'hang' }],
    gives: { content: 'Half of', code: 'LLM_TIMEOUT', incomplete: true },
  },
  silence: {
    says: 'no answer, then well',
    deeds: ['no answer', hello],
    gives: { content: 'Hello 🙂', attempts: 2 },
  },
} satisfies Record<string, Behaviour>;

export type StageId = keyof typeof stages;
const stages = {
  stopBefore: { says: 'before an answer', deed: 'no answer', ready: () => true },
  stopInText: {
    says: 'in the middle of the text',
    deed: { parts: [{ text: 'Half' }], end: 'hang' },
    ready: ({ words }) => words > 0,
  },
  stopInCall: {
    says: 'in a call',
    deed: { parts: [{ text: 'Reading.' }, call('fs_read', { path: 'a' })], end: 'hang' },
    ready: ({ words, calls }) => words > 0 && calls > 0,
  },
  stopInWait: {
    says: 'while it waits to ask again',
    deed: fails(429, 'Slow down.', { 'retry-after': '4' }),
    ready: ({ waits }) => waits > 0,
  },
} satisfies Record<string, Stage>;

/** The whole table against one provider, as tests of mocha's: the same in a plain process and in the extension host. */
export function describeBehaviours(row: Row): void {
  describe(`every provider: ${row.name}`, () => {
    for (const [id, behaviour] of Object.entries<Behaviour>(behaviours)) {
      each(row, id as BehaviourId, behaviour.says, (own) => check(row, { ...behaviour, ...own }));
    }
    for (const [id, stage] of Object.entries<Stage>(stages)) {
      each(row, id as StageId, `stop ${stage.says}: ended, and nothing comes after`, (own) =>
        stopAt(row, { ...stage, ...(own?.deeds && { deed: own.deeds[0]! }) }),
      );
    }
    it('the key is in no error, note, event or journal', () => tellNobody(row));
  });
}

/** Under its own title where it is something else here; what does not exist here says why, and is no test. */
function each(row: Row, id: BehaviourId | StageId, says: string, run: (own?: Different) => Promise<void>) {
  const own = row.own?.[id];
  if (!own) it(says, () => run());
  else if ('absent' in own) it(`${says}: not here: ${own.absent}`);
  else it(`${says}: ${own.as}`, () => run(own));
}

async function check(row: Row, { deeds, gives }: Behaviour): Promise<void> {
  const { result, chunks, waits } = await converse(row, deeds);
  const { usage: tokens, message, content = '', thinking = '', ...expected } = gives;
  const context = JSON.stringify(result);
  for (const [given, wanted] of [
    [result.message?.content ?? '', content],
    [result.message?.thinking ?? '', thinking],
  ] as const) {
    if (typeof wanted === 'string') assert.equal(given, wanted, context);
    else assert.match(given, wanted, context);
  }
  const finish = gives.code ? undefined : (gives.finish ?? 'stop');
  const usual = { calls: [], incomplete: false, attempts: 1, code: undefined };
  assert.deepEqual(toGiven(result), { ...usual, ...expected, finish }, context);
  if (tokens) assert.deepEqual(result.usage, tokens);
  if (message) assert.match(result.error?.message ?? '', message);
  assert.equal(chunks.map((chunk) => chunk.content ?? '').join(''), result.message?.content ?? '');
  assert.equal(waits.length, result.attempts - 1);
  const ids = result.message?.toolCalls?.map(({ id }) => id) ?? [];
  assert.equal(new Set(ids.filter((id) => id !== '')).size, ids.length, 'each call has an id of its own');
}

function toGiven({ message, finishReason, error, attempts }: AdapterResult) {
  return {
    calls: (message?.toolCalls ?? []).map(({ name, arguments: args, malformed }) =>
      malformed === undefined ? `${name} ${JSON.stringify(args)}` : `${name} !${asWritten(malformed)}`,
    ),
    finish: error ? undefined : finishReason,
    code: error?.code,
    incomplete: message?.incomplete ?? false,
    attempts,
  };
}

/** Google and the editor send arguments as data: a text in their place comes as JSON of that text. */
const asWritten = (malformed: string) => (malformed.startsWith('"') ? JSON.parse(malformed) : malformed);

/** One call; afterwards the provider has had as many requests as there were attempts, and nothing is open. */
async function converse(row: Row, deeds: Deed[]) {
  const provider = await row.start(deeds);
  try {
    const heard = { chunks: [] as ChatStreamChunk[], waits: [] as RetryWait[], notes: [] as string[] };
    const client = provider.client({ fetchLimits, note: (line) => heard.notes.push(line) });
    const result = await createAdapter(client, { ...limits, ...row.limits }).complete(
      { ...request, model: row.model ?? request.model },
      {
        signal: new AbortController().signal,
        onChunk: (chunk) => heard.chunks.push(chunk),
        onRetry: (wait) => heard.waits.push(wait),
      },
    );
    assert.equal(provider.requests(), result.attempts, JSON.stringify(result));
    await eventually('nothing is open', () => provider.open() === 0);
    for (const key of canaries) assert.ok(!JSON.stringify([result, heard]).includes(key), 'the key is told to nobody');
    return { result, ...heard };
  } finally {
    await provider.close();
  }
}

async function stopAt(row: Row, { deed, ready }: Stage): Promise<void> {
  const provider = await row.start([deed]);
  try {
    const controller = new AbortController();
    const heard = { words: 0, calls: 0, waits: 0, after: 0 };
    const client = provider.client({ note: () => {} });
    const patient = { ...limits, ...row.limits, idleMs: 60_000, baseDelayMs: 4000, jitter: false };
    const running = createAdapter(client, patient).complete(
      { ...request, model: row.model ?? request.model },
      {
        signal: controller.signal,
        onChunk: (chunk) => {
          if (chunk.content) heard.words++;
          if (chunk.toolCallDelta || chunk.toolCall) heard.calls++;
          if (controller.signal.aborted) heard.after++;
        },
        onRetry: () => heard.waits++,
      },
    );
    await eventually('it is there', () => provider.requests() > 0 && ready(heard));
    controller.abort();
    const result = await running;
    assert.deepEqual([result.success, result.aborted, result.error, result.attempts], [false, true, undefined, 1]);
    await eventually('nothing is open', () => provider.open() === 0);
    assert.deepEqual([heard.after, provider.requests()], [0, 1]);
  } finally {
    await provider.close();
  }
}

/** A run that is refused and goes on: whatever is told or kept of it is searched for the key. */
async function tellNobody(row: Row): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-canary-'));
  const provider = await row.start([fails(401, refusal), hello]);
  const { model = request.model } = row;
  try {
    const told: unknown[] = [];
    const client = provider.client({ fetchLimits, note: (line) => told.push(line) });
    const engine = new ExecutionEngine({
      store: new RunStore(folder),
      host: noTools,
      workflow: async () => defaultChatWorkflow,
      model: async () => ({ id: model, model, adapter: createAdapter(client, { ...limits, ...row.limits }) }),
      workspace: async () => ({ names: [] }),
      maxTurns: () => 2,
      onEvent: (event: RunEvent) => told.push(event),
    });
    const runId = RunStore.newId();
    const refused = await engine.start({ runId, userInput: 'hi' });
    assert.equal(refused.phase, 'Failed', JSON.stringify(refused));
    told.push(refused, await engine.continue({ runId }));
    const kept = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));
    assert.ok(kept.some((text) => text.includes(refused.error!.code)));
    for (const key of canaries)
      assert.ok(![JSON.stringify(told), ...kept].some((text) => text.includes(key)), row.name);
  } finally {
    await provider.close();
    rmSync(folder, { recursive: true });
  }
}
