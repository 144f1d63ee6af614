import { oneByOne } from '../batches.ts';
import { callIdsIn } from '../callIds.ts';
import { type ChatRequest, type ChatStreamChunk, collect, type LLMClient } from '../client.ts';
import { checkKey, type EndpointOptions, toEndpoint } from '../endpoint.ts';
import { LLMError } from '../errors.ts';
import { defaultFetchLimits, type FetchLimits, type HttpAnswer, readJson, send } from '../http.ts';
import type { ProviderWords } from '../providerErrors.ts';
import { readBatches } from '../replyStream.ts';
import { learnFrom, type WireFlags } from './flags.ts';
import { modelsIn } from './models.ts';
import { createOpenAIReader } from './reader.ts';
import { thinkingNote } from './thinking.ts';
import { toWire } from './wire.ts';

export interface OpenAIClientOptions extends EndpointOptions {
  /** The provider's id: `openai`, `openai-compatible`, a preset's. */
  provider: string;
  /** Up to and without `/chat/completions`; most end in `/v1`. */
  baseUrl: string;
  /** Where this provider is known to differ; what is not known is learnt from its refusals. */
  flags?: Omit<WireFlags, 'provider'>;
  /** Where other than below `baseUrl` (Azure has a deployment and a version in it). */
  chatUrl?(model: string): string;
  modelsUrl?: string;
  /** The header that carries the key; `authorization` with `Bearer` without it. */
  keyHeader?: string;
  /** What is left out of a request because the provider or the model does not take it; each is told once. */
  onNote?(note: string): void;
  fetchLimits?: Partial<FetchLimits>;
}

/** A client for everything that speaks OpenAI's chat completions. */
export function createOpenAIClient(options: OpenAIClientOptions): LLMClient {
  const { provider } = options;
  const endpoint = toEndpoint(options);
  const baseUrl = options.baseUrl.trim().replace(/\/+$/, '');
  const chatUrl = options.chatUrl ?? (() => `${baseUrl}/chat/completions`);
  const limits = { ...defaultFetchLimits, ...options.fetchLimits };
  const headers = { ...options.headers, ...keyHeaders(options) };
  const flagsOfModel = new Map<string, WireFlags>();
  const noted = new Set<string>();

  const note = (text: string | undefined) => {
    if (text === undefined || noted.has(text)) return;
    noted.add(text);
    options.onNote?.(text);
  };
  const flagsFor = (model: string): WireFlags =>
    flagsOfModel.get(model) ?? { completionTokens: provider === 'openai', ...options.flags, provider };

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    for (;;) {
      const flags = flagsFor(request.model);
      try {
        const body = toWire(request, flags);
        return await send({ endpoint, url: chatUrl(request.model), headers, body, limits, signal });
      } catch (error) {
        const learned = error instanceof LLMError ? learn(error, flags) : undefined;
        if (!learned) throw error;
        flagsOfModel.set(request.model, learned); // at most one round for each thing there is to learn
        const omitted = learned.omit?.filter((name) => !flags.omit?.includes(name)) ?? [];
        for (const name of omitted)
          note(`${request.model} at ${endpoint.label} does not take ${name}; it is left out.`);
      }
    }
  }

  async function* batches(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk[], void> {
    checkKey(endpoint);
    const answer = await ask(request, signal);
    const flags = flagsFor(request.model);
    note(thinkingNote(request, flags));
    if (flags.withoutImages && hasFiles(request)) {
      const warning = `${request.model} does not see images, so they are left out. Choose a model that does.`;
      yield [{ warning, done: false }];
    }
    const reader = createOpenAIReader({
      endpoint,
      provider,
      tools: request.tools ?? [],
      takenIds: callIdsIn(request.messages),
      keepDetails: flags.returnThinking,
    });
    yield* readBatches(answer, reader);
  }

  const chatStream: LLMClient['chatStream'] = (request, signal) => oneByOne(batches(request, signal));

  return {
    chatStream,
    chat: (request, signal) => collect(chatStream(request, signal), request.model),
    async listModels(signal) {
      checkKey(endpoint);
      const url = options.modelsUrl ?? `${baseUrl}/models`;
      const answer = await send({ endpoint, url, headers, limits, signal });
      return modelsIn(endpoint, await readJson(answer));
    },
  };
}

function keyHeaders({ apiKey, keyHeader }: OpenAIClientOptions): Record<string, string> {
  const key = apiKey?.trim();
  if (!key) return {};
  return keyHeader ? { [keyHeader]: key } : { authorization: `Bearer ${key}` };
}

/** 422: servers built on FastAPI (Mistral's, vLLM's) refuse a parameter with it. */
function learn(error: LLMError, flags: WireFlags): WireFlags | undefined {
  if (error.code !== 'LLM_HTTP_ERROR' || (error.status !== 400 && error.status !== 422)) return undefined;
  const { words, parameter } = error.details as ProviderWords;
  return learnFrom(words, parameter, flags);
}

const hasFiles = ({ messages }: ChatRequest) =>
  messages.some((message) => message.role === 'user' && message.attachments?.some(isSeen));

const isSeen = ({ mediaType }: { mediaType: string }) => !mediaType.startsWith('text/');
