import { message } from '../../protocol/text/l10n.ts';
import { callIdsIn } from '../core/callIds.ts';
import type { ChatRequest, LLMClient } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { notifyOnce } from '../messages/warnings.ts';
import { readPages } from '../models/modelListPages.ts';
import { addressesBelow, type ClientOptions, checkKey, toEndpoint } from '../transport/endpoint.ts';
import { defaultFetchLimits, type HttpAnswer, readJsonAnswer, sendHttpRequest } from '../transport/http.ts';
import type { ProviderText } from '../transport/providerErrors.ts';
import { type Batches, clientOf, readReply } from '../transport/replyStream.ts';
import { modelsIn } from './modelList.ts';
import { learnFrom, type ParameterFallback } from './parameterFallback.ts';
import { createAnthropicReader } from './reader.ts';
import { notesOf } from './warnings.ts';
import { toWire, type WireFlags } from './wire.ts';

export interface AnthropicClientOptions extends Partial<ClientOptions> {
  /** URL without `/v1`, for a gateway; absent: Anthropic's own. */
  baseUrl?: string;
}

const version = '2023-06-01';

export function createAnthropicClient(options: AnthropicClientOptions = {}): LLMClient {
  const baseUrl = options.baseUrl?.trim() || 'https://api.anthropic.com';
  const at = addressesBelow(baseUrl, /\/v1(\/messages)?$/);
  const endpoint = toEndpoint({ label: 'Anthropic', notFoundHint, ...options, baseUrl });
  const limits = { ...defaultFetchLimits, ...options.fetchLimits };
  const key = options.apiKey?.trim();
  const headers = { 'anthropic-version': version, ...options.headers, ...(key && { 'x-api-key': key }) };
  const flagsOfModel = new Map<string, WireFlags>();
  const note = notifyOnce(options.onNote);

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    let flags = flagsOfModel.get(request.model) ?? {};
    let passing = false;
    for (;;) {
      try {
        const body = toWire(request, flags);
        const answer = await sendHttpRequest({ endpoint, url: at('/v1/messages'), headers, body, limits, signal });
        for (const text of notesOf(request, body, flags)) note(text);
        return answer;
      } catch (error) {
        const lesson = error instanceof LLMError ? learn(error, request, flags) : undefined;
        if (!lesson) throw error;
        flags = lesson.flags;
        passing ||= lesson.once === true; // from here on, the flags are valid for this request only
        if (!passing) flagsOfModel.set(request.model, flags);
      }
    }
  }

  async function* batches(request: ChatRequest, signal?: AbortSignal): Batches {
    checkKey(endpoint);
    const answer = await ask(request, signal);
    const takenIds = callIdsIn(request.messages);
    yield* readReply(answer, createAnthropicReader({ endpoint, tools: request.tools ?? [], takenIds }));
  }

  return clientOf(batches, async (signal) => {
    checkKey(endpoint);
    return readPages(async (next) => {
      const url = at(`/v1/models?limit=1000${next === undefined ? '' : `&after_id=${encodeURIComponent(next)}`}`);
      return modelsIn(
        endpoint,
        await readJsonAnswer(await sendHttpRequest({ endpoint, url, headers, limits, signal })),
      );
    });
  });
}

const notFoundHint = message('Check the name of the model, and the address (without /v1).');

function learn(error: LLMError, request: ChatRequest, flags: WireFlags): ParameterFallback | undefined {
  if (error.status !== 400 || error.code === 'LLM_AUTH_FAILED') return undefined;
  return learnFrom((error.details as ProviderText).words, request, flags);
}
