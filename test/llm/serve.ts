import type { ChatRequest, ChatStreamChunk, LLMClient } from '../../src/llm/core/client.ts';
import { LLMError, type Retryability } from '../../src/llm/core/errors.ts';
import { createOpenAIClient, type OpenAIClientOptions } from '../../src/llm/openai/client.ts';
import type { TokenUsage, ToolCall } from '../../src/protocol/content/messages.ts';
import { tries } from '../support/tries.ts';

/** How a body is cut into the pieces in which it arrives. */
export type Slicing = 'whole' | 'bytes' | 'sevens' | 'lines' | 'random';
export const slicings: readonly Slicing[] = ['whole', 'bytes', 'sevens', 'lines', 'random'];

export interface Served {
  status?: number;
  headers?: Record<string, string>;
  body: string | Uint8Array;
}

/** Runs with a `globalThis.fetch` that answers every request with this body, cut as asked. */
export async function served<Value>(
  { status = 200, headers = {}, body }: Served,
  slicing: Slicing,
  run: () => Promise<Value>,
): Promise<Value> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async () => new Response(toStream(cut(bytes, slicing)), { status, headers });
  try {
    return await run();
  } finally {
    globalThis.fetch = fetchBefore;
  }
}

export function cut(bytes: Uint8Array, slicing: Slicing): Uint8Array[] {
  if (slicing === 'whole') return [bytes];
  if (slicing === 'lines')
    return cutAt(
      bytes,
      [...bytes.keys()].filter((at) => bytes[at - 1] === 10),
    );
  const size = sizeOf(slicing, bytes.length);
  const places: number[] = [];
  for (let at = size(0); at < bytes.length; at += size(at)) places.push(at);
  return cutAt(bytes, places);
}

/** The middle of a long one says what its ends say, over and over: there, many bytes come at once. */
const endBytes = tries(6000, Number.POSITIVE_INFINITY);

/** How many bytes come next, at a place of a body of this length. */
function sizeOf(slicing: 'bytes' | 'sevens' | 'random', length: number): (at: number) => number {
  if (slicing === 'random') return seededSizes(length);
  const isEnd = (at: number) => at < endBytes || at > length - endBytes;
  const size = slicing === 'bytes' ? 1 : 7;
  return (at) => (isEnd(at) ? size : 31 * size);
}

export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places)].filter((at) => at > 0 && at < bytes.length).sort((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

function seededSizes(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return 1 + (state % 400);
  };
}

export function toStream(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = pieces[at++];
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
  });
}

/** A whole reply as a reader of the conversation would put it down. */
export interface Heard {
  text: string;
  thinking: string;
  calls: ToolCall[];
  finish?: string;
  finishMessage?: string;
  usage?: TokenUsage;
  model?: string;
  error?: { code: string; message: string; retryable: Retryability; retryAfterMs?: number; status?: number };
  /** The order in which things came: `text`, `thinking`, `call <name>`. */
  order: string[];
}

export async function hear(chunks: AsyncIterable<ChatStreamChunk>): Promise<Heard> {
  const heard: Heard = { text: '', thinking: '', calls: [], order: [] };
  const came = (what: string) => heard.order.at(-1) !== what && heard.order.push(what);
  try {
    for await (const chunk of chunks) {
      heard.text += chunk.content ?? '';
      heard.thinking += chunk.thinking ?? '';
      if (chunk.content) came('text');
      if (chunk.thinking) came('thinking');
      if (chunk.toolCall) heard.calls.push(chunk.toolCall);
      if (chunk.toolCall) came(`call ${chunk.toolCall.name}`);
      heard.finish = chunk.finishReason ?? heard.finish;
      if (chunk.finishMessage) heard.finishMessage = chunk.finishMessage;
      heard.usage = chunk.usage ?? heard.usage;
      heard.model = chunk.model ?? heard.model;
    }
  } catch (error) {
    if (!(error instanceof LLMError)) throw error;
    const { code, message, retryable, retryAfterMs, status } = error;
    heard.error = { code, message, retryable, retryAfterMs, status };
  }
  return heard;
}

export const greeting: ChatRequest = {
  model: 'model',
  messages: [{ role: 'user', content: 'hi' }],
  tools: ['fs.read', 'fs.write'].map((name) => ({ name, description: '', parameters: { type: 'object' } })),
};

export function clientFor(baseUrl: string, options: Partial<OpenAIClientOptions> = {}): LLMClient {
  return createOpenAIClient({
    provider: 'openai-compatible',
    label: 'OpenAI-compatible endpoint',
    baseUrl,
    ...options,
  });
}

/** Where a served body seems to come from. */
export const anywhere = clientFor('https://models.example/v1', { apiKey: 'sk-CANARYKEY1234567890' });
