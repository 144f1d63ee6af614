import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import type { ChatRequest, LLMClient } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { createUniqueNotifier } from '../messages/warnings.ts';
import { type OpenAICompatibilityFlags, suggestsResponsesApi } from '../models/wireFlags.ts';
import { checkApiKeyCharacters, createUrlBuilder, type LLMClientOptions, toEndpoint } from '../transport/endpoint.ts';
import { defaultProviderFetchLimits, readJsonAnswer, sendHttpRequest } from '../transport/http.ts';
import type { ProviderErrorDetails } from '../transport/providerErrors.ts';
import { type ChunkBatches, createClientFromChunkBatches, readReply } from '../transport/replyStream.ts';
import { createChatCompletionsSender } from './chat.ts';
import { parseModelList } from './models.ts';
import type { OpenAIConnection, ProviderResponse } from './protocol.ts';
import { createOpenAIResponsesSender } from './responses/request.ts';

export interface OpenAIClientOptions extends LLMClientOptions {
  provider: string;
  /** URL up to and without `/chat/completions`; most end in `/v1`. */
  baseUrl: string;
  /** Absent: chat completions, and Responses for models that the server refers there. */
  api?: 'responses';
  flags?: Omit<OpenAICompatibilityFlags, 'provider'>;
  chatUrl?(model: string): string;
  modelsUrl?: string;
  keyHeader?: string;
}

export function createOpenAIClient(options: OpenAIClientOptions): LLMClient {
  const { provider, api, flags = {} } = options;
  const endpoint = toEndpoint({
    notFoundHint: api ? joinLocalizableTexts([notFoundHint, maybeNone]) : notFoundHint,
    ...options,
  });
  const at = createUrlBuilder(options.baseUrl, /\/(chat\/completions|responses|models)$/);
  const limits = { ...defaultProviderFetchLimits, ...options.fetchLimits };
  const headers = { ...options.headers, ...keyHeaders(options) };
  const note = createUniqueNotifier(options.onNote);
  const connection: OpenAIConnection = { provider, endpoint, headers, limits, note };
  const askChat = createChatCompletionsSender(connection, {
    url: options.chatUrl ?? (() => at('/chat/completions')),
    flags: { completionTokens: provider === 'openai', ...flags },
  });
  const askResponses = createOpenAIResponsesSender(connection, { url: at('/responses'), cacheKey: flags.cacheKey });
  const apis = new Map<string, 'chat' | 'responses'>();

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<ProviderResponse> {
    const { model } = request;
    const known = api ?? apis.get(model);
    if (known === 'responses') return askResponses(request, signal);
    try {
      return await askChat(request, signal, known === undefined);
    } catch (error) {
      if (known !== undefined || !isSentAway(error)) throw error;
    }
    try {
      const asked = await askResponses(request, signal);
      apis.set(model, 'responses');
      note(`${model} does not answer to chat completions here; it is asked through the Responses API.`);
      return asked;
    } catch (error) {
      if (!(error instanceof LLMError && (error.status === 404 || error.status === 405))) throw error;
      apis.set(model, 'chat'); // a gateway forwarded an upstream message about a missing endpoint
      return askChat(request, signal, false);
    }
  }

  async function* batches(request: ChatRequest, signal?: AbortSignal): ChunkBatches {
    checkApiKeyCharacters(endpoint);
    const { answer, reader, warnings, learn } = await ask(request, signal);
    try {
      yield* readReply(answer, reader, { warnings });
    } catch (error) {
      throw learn && error instanceof LLMError ? learn(error) : error;
    }
  }

  return createClientFromChunkBatches(batches, async (signal) => {
    checkApiKeyCharacters(endpoint);
    const url = options.modelsUrl ?? at('/models');
    const answer = await sendHttpRequest({ endpoint, url, headers, limits, signal });
    return parseModelList(endpoint, await readJsonAnswer(answer));
  });
}

const notFoundHint = message('Check the address (most end in /v1) and the name of the model.');
const maybeNone = message('Not every server has the Responses API.');

function keyHeaders({ apiKey, keyHeader }: OpenAIClientOptions): Record<string, string> {
  const key = apiKey?.trim();
  if (!key) return {};
  return keyHeader ? { [keyHeader]: key } : { authorization: `Bearer ${key}` };
}

function isSentAway(error: unknown): boolean {
  if (!(error instanceof LLMError) || error.code !== 'LLM_HTTP_ERROR') return false;
  const { status = 0, details } = error;
  return (
    status >= 400 &&
    status < 500 &&
    suggestsResponsesApi((details as Partial<ProviderErrorDetails> | undefined)?.words ?? '')
  );
}
