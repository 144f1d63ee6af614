import type { Message } from '../../protocol/messages.ts';
import { type ChatRequest, type ChatStreamChunk, collect, type LLMClient, type ModelInfo } from '../client.ts';
import { LLMError } from '../errors.ts';
import { readEvents } from '../events.ts';
import {
  defaultFetchLimits,
  type FetchLimits,
  type HttpAnswer,
  kindOf,
  readBeginning,
  readJson,
  send,
  unreadable,
} from '../http.ts';
import { isObject, parseJson } from '../json.ts';
import type { Endpoint, ProviderWords } from '../providerErrors.ts';
import { createOpenAIReader, type OpenAIReader } from './reader.ts';
import { learnFrom, toWire, type WireFlags } from './wire.ts';

export interface OpenAIClientOptions {
  /** The provider's id: `openai`, `openai-compatible`. */
  provider: string;
  /** What people call it, in messages. */
  label: string;
  /** Up to and without `/chat/completions`; most end in `/v1`. */
  baseUrl: string;
  apiKey?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
  fetchLimits?: Partial<FetchLimits>;
}

/** A client for everything that speaks OpenAI's chat completions. */
export function createOpenAIClient(options: OpenAIClientOptions): LLMClient {
  const { provider } = options;
  const endpoint = toEndpoint(options);
  const baseUrl = options.baseUrl.trim().replace(/\/+$/, '');
  const limits = { ...defaultFetchLimits, ...options.fetchLimits };
  const headers = { ...options.headers, ...(options.apiKey && { authorization: `Bearer ${options.apiKey.trim()}` }) };
  const flagsOfModel = new Map<string, WireFlags>();

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    for (;;) {
      const flags = flagsOfModel.get(request.model) ?? { provider, completionTokens: provider === 'openai' };
      try {
        const url = `${baseUrl}/chat/completions`;
        return await send({ endpoint, url, headers, body: toWire(request, flags), limits, signal });
      } catch (error) {
        const learned = error instanceof LLMError ? learn(error, flags) : undefined;
        if (!learned) throw error;
        flagsOfModel.set(request.model, learned); // at most one round for each thing there is to learn
      }
    }
  }

  async function* chatStream(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk, void> {
    checkKey(endpoint);
    const answer = await ask(request, signal);
    const reader = createOpenAIReader({
      endpoint,
      provider,
      tools: request.tools ?? [],
      takenIds: callIds(request.messages),
    });
    try {
      yield { done: false }; // connected
      const kind = await kindOf(answer);
      if (kind === 'text') throw unreadable(endpoint, await readBeginning(answer));
      const batches = kind === 'events' ? readStream(answer, reader) : readWhole(answer, reader);
      for await (const chunks of batches) for (const chunk of chunks) yield chunk;
    } finally {
      answer.cancel();
    }
  }

  return {
    chatStream,
    chat: (request, signal) => collect(chatStream(request, signal), request.model),
    async listModels(signal) {
      checkKey(endpoint);
      const answer = await send({ endpoint, url: `${baseUrl}/models`, headers, limits, signal });
      return modelsIn(endpoint, await readJson(answer));
    },
  };
}

/** In batches: a step of an async generator for each of a hundred thousand chunks costs more than reading them. */
type Batches = AsyncGenerator<ChatStreamChunk[], void>;

async function* readStream(answer: HttpAnswer, reader: OpenAIReader): Batches {
  const events = readEvents(answer);
  try {
    for await (const batch of events.batches()) {
      const chunks: ChatStreamChunk[] = batch.length === 0 ? [{ done: false }] : []; // alive
      try {
        if (readBatch(batch, answer.endpoint, reader, chunks)) return yield chunks;
      } catch (error) {
        yield chunks; // what came before the error has been said
        throw error;
      }
      yield chunks;
      if (reader.finished) events.expectEnd();
    }
  } catch (error) {
    // A reply that has its finish_reason is whole, however the connection ends.
    const ended = error instanceof LLMError && ['LLM_TIMEOUT', 'LLM_INCOMPLETE'].includes(error.code);
    if (!ended || !reader.finished) throw error;
  }
  yield reader.end(false);
}

/** Adds to `chunks`; true after the end mark: what follows it is ignored. */
function readBatch(batch: string[], endpoint: Endpoint, reader: OpenAIReader, chunks: ChatStreamChunk[]): boolean {
  for (const data of batch) {
    if (data === '[DONE]') {
      chunks.push(...reader.end(true));
      return true;
    }
    if (data.trim() !== '') chunks.push(...reader.read(parseEvent(endpoint, data)));
  }
  return false;
}

async function* readWhole(answer: HttpAnswer, reader: OpenAIReader): Batches {
  yield reader.read(await readJson(answer), true);
  yield reader.end(true);
}

function parseEvent(endpoint: Endpoint, data: string): unknown {
  try {
    return parseJson(data);
  } catch {
    throw unreadable(endpoint, data);
  }
}

function toEndpoint({ label, baseUrl, apiKey, headers = {} }: OpenAIClientOptions): Endpoint {
  const secretHeaders = Object.entries(headers).filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
  const secrets = [apiKey?.trim() ?? '', ...secretHeaders.map(([, value]) => value)].filter((secret) => secret !== '');
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : 'no address';
  return { label, host, secrets, hasKey: secrets.length > 0 };
}

/** Fetch would refuse such a header with the key in its message. */
function checkKey({ label, secrets }: Endpoint): void {
  if (secrets.every((secret) => /^[\x20-\x7e]+$/.test(secret))) return;
  const message = `The API key for ${label} has characters that no key has. Run *Towpath: Set API Key*.`;
  throw new LLMError('LLM_AUTH_FAILED', message);
}

function learn(error: LLMError, flags: WireFlags): WireFlags | undefined {
  if (error.code !== 'LLM_HTTP_ERROR' || error.status !== 400) return undefined;
  const { words, parameter } = error.details as ProviderWords;
  return learnFrom(words, parameter, flags);
}

function callIds(messages: readonly Message[]): Set<string> {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return new Set(calls.map(({ id }) => id));
}

/** `{data: [{id}]}` (OpenAI) or the list itself (Together); the window's size has a name of its own everywhere. */
function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const list = isObject(body) ? body.data : body;
  if (!Array.isArray(list)) throw unreadable(endpoint, JSON.stringify(body));
  return list.flatMap((model): ModelInfo[] => {
    if (!isObject(model) || typeof model.id !== 'string' || model.id === '') return [];
    const meta = isObject(model.meta) ? model.meta : {};
    const sizes = [model.context_length, model.context_window, model.max_model_len, model.max_context_length];
    const contextWindow = [...sizes, meta.n_ctx, meta.n_ctx_train].find((size) => typeof size === 'number' && size > 0);
    return [{ id: model.id, ...(typeof contextWindow === 'number' && { contextWindow }) }];
  });
}
