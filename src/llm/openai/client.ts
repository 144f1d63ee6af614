import { callIdsIn } from '../callIds.ts';
import type { ChatRequest, LLMClient } from '../client.ts';
import { addressesBelow, type ClientOptions, checkKey, toEndpoint } from '../endpoint.ts';
import { LLMError } from '../errors.ts';
import { defaultFetchLimits, type HttpAnswer, readJson, send } from '../http.ts';
import { tellOnce } from '../notes.ts';
import type { ProviderWords } from '../providerErrors.ts';
import { type Batches, clientOf, readReply } from '../replyStream.ts';
import { learnFrom, type WireFlags } from './flags.ts';
import { modelsIn } from './models.ts';
import { leftOut, notesOf } from './notes.ts';
import { createOpenAIReader } from './reader.ts';
import { toWire } from './wire.ts';

export interface OpenAIClientOptions extends ClientOptions {
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
}

/** A client for everything that speaks OpenAI's chat completions. */
export function createOpenAIClient(options: OpenAIClientOptions): LLMClient {
  const { provider } = options;
  const endpoint = toEndpoint({ notFoundHint, ...options });
  const at = addressesBelow(options.baseUrl, /\/(chat\/completions|models)$/);
  const chatUrl = options.chatUrl ?? (() => at('/chat/completions'));
  const limits = { ...defaultFetchLimits, ...options.fetchLimits };
  const headers = { ...options.headers, ...keyHeaders(options) };
  const flagsOfModel = new Map<string, WireFlags>();
  const note = tellOnce(options.onNote);

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
        for (const name of omitted) note(`${request.model} does not take ${name}; it is left out.`);
      }
    }
  }

  async function* batches(request: ChatRequest, signal?: AbortSignal): Batches {
    checkKey(endpoint);
    const answer = await ask(request, signal);
    const flags = flagsFor(request.model);
    for (const text of notesOf(request, flags)) note(text);
    const reader = createOpenAIReader({
      endpoint,
      provider,
      tools: request.tools ?? [],
      takenIds: callIdsIn(request.messages),
      keepDetails: flags.returnThinking !== undefined,
    });
    yield* readReply(answer, reader, { warnings: leftOut(request, flags) });
  }

  return clientOf(batches, async (signal) => {
    checkKey(endpoint);
    const url = options.modelsUrl ?? at('/models');
    const answer = await send({ endpoint, url, headers, limits, signal });
    return modelsIn(endpoint, await readJson(answer));
  });
}

const notFoundHint = 'Check the address (most end in /v1) and the name of the model.';

function keyHeaders({ apiKey, keyHeader }: OpenAIClientOptions): Record<string, string> {
  const key = apiKey?.trim();
  if (!key) return {};
  return keyHeader ? { [keyHeader]: key } : { authorization: `Bearer ${key}` };
}

/** 422: servers built on FastAPI (Mistral's, vLLM's) refuse a parameter with it. 500: llama-server what a chat template refuses. */
function learn(error: LLMError, flags: WireFlags): WireFlags | undefined {
  if (error.code !== 'LLM_HTTP_ERROR') return undefined;
  const { words, parameter } = error.details as ProviderWords;
  const isRefusal =
    error.status === 400 || error.status === 422 || (error.status === 500 && /jinja|template/i.test(words));
  if (!isRefusal) return undefined;
  return learnFrom(words, parameter, flags);
}
