import { message } from '../../protocol/text/l10n.ts';
import { joined } from '../../protocol/text/localized.ts';
import type { ChatRequest, LLMClient } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { notifyOnce } from '../messages/warnings.ts';
import { type WireFlags, wantsResponses } from '../models/wireFlags.ts';
import { addressesBelow, type ClientOptions, checkKey, toEndpoint } from '../transport/endpoint.ts';
import { defaultFetchLimits, readJsonAnswer, sendHttpRequest } from '../transport/http.ts';
import type { ProviderText } from '../transport/providerErrors.ts';
import { type Batches, clientOf, readReply } from '../transport/replyStream.ts';
import { chatCompletions } from './chat.ts';
import { modelsIn } from './models.ts';
import type { Asked, Connection } from './protocol.ts';
import { responses } from './responses/request.ts';

export interface OpenAIClientOptions extends ClientOptions {
  provider: string;
  /** URL up to and without `/chat/completions`; most end in `/v1`. */
  baseUrl: string;
  /** Absent: chat completions, and Responses for models that the server refers there. */
  api?: 'responses';
  flags?: Omit<WireFlags, 'provider'>;
  chatUrl?(model: string): string;
  modelsUrl?: string;
  keyHeader?: string;
}

export function createOpenAIClient(options: OpenAIClientOptions): LLMClient {
  const { provider, api, flags = {} } = options;
  const endpoint = toEndpoint({ notFoundHint: api ? joined([notFoundHint, maybeNone]) : notFoundHint, ...options });
  const at = addressesBelow(options.baseUrl, /\/(chat\/completions|responses|models)$/);
  const limits = { ...defaultFetchLimits, ...options.fetchLimits };
  const headers = { ...options.headers, ...keyHeaders(options) };
  const note = notifyOnce(options.onNote);
  const connection: Connection = { provider, endpoint, headers, limits, note };
  const askChat = chatCompletions(connection, {
    url: options.chatUrl ?? (() => at('/chat/completions')),
    flags: { completionTokens: provider === 'openai', ...flags },
  });
  const askResponses = responses(connection, { url: at('/responses'), cacheKey: flags.cacheKey });
  const apis = new Map<string, 'chat' | 'responses'>();

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<Asked> {
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

  async function* batches(request: ChatRequest, signal?: AbortSignal): Batches {
    checkKey(endpoint);
    const { answer, reader, warnings, learn } = await ask(request, signal);
    try {
      yield* readReply(answer, reader, { warnings });
    } catch (error) {
      throw learn && error instanceof LLMError ? learn(error) : error;
    }
  }

  return clientOf(batches, async (signal) => {
    checkKey(endpoint);
    const url = options.modelsUrl ?? at('/models');
    const answer = await sendHttpRequest({ endpoint, url, headers, limits, signal });
    return modelsIn(endpoint, await readJsonAnswer(answer));
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
  return status >= 400 && status < 500 && wantsResponses((details as Partial<ProviderText> | undefined)?.words ?? '');
}
