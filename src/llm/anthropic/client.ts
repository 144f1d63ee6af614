import { callIdsIn } from '../callIds.ts';
import { type ChatRequest, type ChatStreamChunk, collect, type LLMClient, type ModelInfo } from '../client.ts';
import { checkKey, type EndpointOptions, toEndpoint } from '../endpoint.ts';
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
import { connected } from '../replyStream.ts';
import { type Lesson, learnFrom } from './learn.ts';
import { type AnthropicReader, createAnthropicReader, eventsOf } from './reader.ts';
import { toWire, type WireFlags } from './wire.ts';

export interface AnthropicClientOptions extends Partial<EndpointOptions> {
  /** Up to and without `/v1`; a gateway's, when it is not Anthropic itself. */
  baseUrl?: string;
  fetchLimits?: Partial<FetchLimits>;
}

const version = '2023-06-01';

/** A client for everything that speaks Anthropic's Messages. */
export function createAnthropicClient(options: AnthropicClientOptions = {}): LLMClient {
  const baseUrl = (options.baseUrl?.trim() || 'https://api.anthropic.com').replace(/\/+$/, '').replace(/\/v1$/, '');
  const endpoint = toEndpoint({ label: 'Anthropic', ...options, baseUrl });
  const limits = { ...defaultFetchLimits, ...options.fetchLimits };
  const key = options.apiKey?.trim();
  const headers = { 'anthropic-version': version, ...options.headers, ...(key && { 'x-api-key': key }) };
  const flagsOfModel = new Map<string, WireFlags>();

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    let flags = flagsOfModel.get(request.model) ?? {};
    let passing = false;
    for (;;) {
      try {
        return await send({
          endpoint,
          url: `${baseUrl}/v1/messages`,
          headers,
          body: toWire(request, flags),
          limits,
          signal,
        });
      } catch (error) {
        const lesson = error instanceof LLMError ? learn(error, request, flags) : undefined;
        if (!lesson) throw error;
        flags = lesson.flags;
        passing ||= lesson.once === true; // from here on the flags hold something of this request alone
        if (!passing) flagsOfModel.set(request.model, flags);
      }
    }
  }

  async function* chatStream(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk, void> {
    checkKey(endpoint);
    const answer = await ask(request, signal);
    const takenIds = callIdsIn(request.messages);
    const reader = createAnthropicReader({ endpoint, tools: request.tools ?? [], takenIds });
    try {
      yield connected(answer);
      const kind = await kindOf(answer);
      if (kind === 'text') throw unreadable(endpoint, await readBeginning(answer));
      const batches = kind === 'events' ? readStream(answer, reader) : readWhole(answer, reader);
      for await (const chunks of batches) {
        for (const chunk of chunks) {
          yield chunk;
          signal?.throwIfAborted(); // the rest of a batch that was here already is not heard either
        }
      }
    } finally {
      answer.cancel();
    }
  }

  return {
    chatStream,
    chat: (request, signal) => collect(chatStream(request, signal), request.model),
    async listModels(signal) {
      checkKey(endpoint);
      const models: ModelInfo[] = [];
      let after: string | undefined;
      for (let page = 0; page < 10; page++) {
        const url = `${baseUrl}/v1/models?limit=1000${after === undefined ? '' : `&after_id=${encodeURIComponent(after)}`}`;
        const body = await readJson(await send({ endpoint, url, headers, limits, signal }));
        models.push(...modelsIn(endpoint, body));
        after = isObject(body) && body.has_more === true && typeof body.last_id === 'string' ? body.last_id : undefined;
        if (after === undefined) break;
      }
      return models;
    },
  };
}

/** In batches: a step of an async generator for each of a hundred thousand chunks costs more than reading them. */
type Batches = AsyncGenerator<ChatStreamChunk[], void>;

async function* readStream(answer: HttpAnswer, reader: AnthropicReader): Batches {
  const events = readEvents(answer);
  try {
    for await (const batch of events.batches()) {
      if (batch.length === 0) yield [{ done: false }]; // alive
      for (const data of batch) {
        if (data === '[DONE]') return yield reader.end(true); // gateways that come from OpenAI's protocol
        if (data.trim() !== '') yield reader.read(parseEvent(answer.endpoint, data));
        if (reader.over) return yield reader.end(true); // what follows is ignored, the socket closed
      }
      if (reader.finished) events.expectEnd();
    }
  } catch (error) {
    // A reply that has its stop reason is whole, however the connection ends.
    const ended = error instanceof LLMError && ['LLM_TIMEOUT', 'LLM_INCOMPLETE'].includes(error.code);
    if (!ended || !reader.finished) throw error;
  }
  yield reader.end(false);
}

async function* readWhole(answer: HttpAnswer, reader: AnthropicReader): Batches {
  for (const event of eventsOf(await readJson(answer))) yield reader.read(event);
  yield reader.end(true);
}

function parseEvent(endpoint: Endpoint, data: string): unknown {
  try {
    return parseJson(data);
  } catch {
    throw unreadable(endpoint, data);
  }
}

function learn(error: LLMError, request: ChatRequest, flags: WireFlags): Lesson | undefined {
  if (error.status !== 400 || error.code === 'LLM_AUTH_FAILED') return undefined;
  return learnFrom((error.details as ProviderWords).words, request, flags);
}

/** `{data: [{id, max_input_tokens}]}`; gateways leave the size out or call it as OpenAI's do. */
function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const list = isObject(body) ? body.data : body;
  if (!Array.isArray(list)) throw unreadable(endpoint, JSON.stringify(body));
  return list.flatMap((model): ModelInfo[] => {
    if (!isObject(model) || typeof model.id !== 'string' || model.id === '') return [];
    const sizes = [model.max_input_tokens, model.context_window, model.context_length];
    const contextWindow = sizes.find((size): size is number => typeof size === 'number' && size > 0);
    return [{ id: model.id, ...(contextWindow !== undefined && { contextWindow }) }];
  });
}
