import { callIdsIn } from '../callIds.ts';
import { type ChatRequest, type ChatStreamChunk, collect, type LLMClient, type ModelInfo } from '../client.ts';
import { checkKey, toEndpoint } from '../endpoint.ts';
import { LLMError } from '../errors.ts';
import { defaultFetchLimits, type FetchLimits, type HttpAnswer, readJson, send, unreadable } from '../http.ts';
import { isObject } from '../json.ts';
import type { Endpoint, ProviderWords } from '../providerErrors.ts';
import { readReply } from '../replyStream.ts';
import { createGoogleReader } from './reader.ts';
import { type GoogleFlags, learnFromGoogle, toGoogleWire } from './wire.ts';

export const googleBaseUrl = 'https://generativelanguage.googleapis.com/v1beta';

export interface GoogleClientOptions {
  /** Up to and without `/models/…`; Google's own without it. */
  baseUrl?: string;
  /** Sent in the header `x-goog-api-key`, never in the address. */
  apiKey?: string;
  /** What people call it, in messages. */
  label?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
  fetchLimits?: Partial<FetchLimits>;
}

/** A client for Google's Gemini API (`generateContent`), the provider `google`. */
export function createGoogleClient(options: GoogleClientOptions): LLMClient {
  const baseUrl = (options.baseUrl?.trim() || googleBaseUrl).replace(/\/+$/, '');
  const endpoint = toEndpoint({ ...options, label: options.label ?? 'Google Gemini', baseUrl });
  const limits = { ...defaultFetchLimits, ...options.fetchLimits };
  const headers = { ...options.headers, ...(options.apiKey && { 'x-goog-api-key': options.apiKey.trim() }) };
  const flagsOfModel = new Map<string, GoogleFlags>();

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const url = `${baseUrl}/${pathOf(request.model)}:streamGenerateContent?alt=sse`;
    for (;;) {
      const flags = flagsOfModel.get(request.model) ?? {};
      try {
        return await send({ endpoint, url, headers, body: toGoogleWire(request, flags), limits, signal });
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
    yield* readReply(
      answer,
      createGoogleReader({ endpoint, tools: request.tools ?? [], takenIds: callIdsIn(request.messages) }),
    );
  }

  return {
    chatStream,
    chat: (request, signal) => collect(chatStream(request, signal), request.model),
    async listModels(signal) {
      checkKey(endpoint);
      const models: ModelInfo[] = [];
      let page = '';
      for (let count = 0; count < pageLimit; count++) {
        const url = `${baseUrl}/models?pageSize=1000${page && `&pageToken=${encodeURIComponent(page)}`}`;
        const body = await readJson(await send({ endpoint, url, headers, limits, signal }));
        models.push(...modelsIn(endpoint, body));
        page = isObject(body) && typeof body.nextPageToken === 'string' ? body.nextPageToken : '';
        if (page === '') break;
      }
      return models;
    },
  };
}

/** Of a thousand models each. */
const pageLimit = 10;

/** `gemini-2.5-pro` or, as Google lists them, `models/gemini-2.5-pro` and `tunedModels/mine`. */
function pathOf(model: string): string {
  const path = model.includes('/') ? model : `models/${model}`;
  return path.split('/').map(encodeURIComponent).join('/');
}

function learn(error: LLMError, flags: GoogleFlags): GoogleFlags | undefined {
  if (error.code !== 'LLM_HTTP_ERROR' || error.status !== 400) return undefined;
  return learnFromGoogle((error.details as ProviderWords).words, flags);
}

/** `{models: [{name: "models/…", inputTokenLimit, supportedGenerationMethods}]}`: those that can hold a conversation. */
function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const list = isObject(body) ? (body.models ?? (Object.keys(body).length === 0 ? [] : undefined)) : undefined;
  if (!Array.isArray(list)) throw unreadable(endpoint, JSON.stringify(body));
  return list.flatMap((model): ModelInfo[] => {
    if (!isObject(model) || typeof model.name !== 'string' || model.name === '') return [];
    const methods = model.supportedGenerationMethods;
    if (Array.isArray(methods) && !methods.includes('generateContent')) return [];
    const size = model.inputTokenLimit;
    const contextWindow = typeof size === 'number' && size > 0 ? { contextWindow: size } : {};
    return [{ id: model.name.replace(/^models\//, ''), ...contextWindow }];
  });
}
