import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { requestCallIds } from '../core/callIds.ts';
import type { ChatRequest, LLMClient, ModelInfo } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { outputLimitWarning } from '../messages/outputLimit.ts';
import { createUniqueNotifier, thinkingBudgetWarning } from '../messages/warnings.ts';
import type { ModelListPage } from '../models/modelListPages.ts';
import { readModelListPages } from '../models/modelListPages.ts';
import { checkApiKeyCharacters, createUrlBuilder, type LLMClientOptions, toEndpoint } from '../transport/endpoint.ts';
import {
  defaultProviderFetchLimits,
  type HttpAnswer,
  readJsonAnswer,
  sendHttpRequest,
  unreadableAnswerError,
} from '../transport/http.ts';
import type { Endpoint, ProviderErrorDetails } from '../transport/providerErrors.ts';
import { type ChunkBatches, createClientFromChunkBatches, readReply } from '../transport/replyStream.ts';
import {
  optionalNonEmptyStringSchema,
  optionalPositiveNumberSchema,
  tolerantListSchema,
} from '../transport/wireFields.ts';
import { learnParameterFallback, type ParameterFallback } from './parameterFallback.ts';
import { createAnthropicReader } from './reader.ts';
import type { AnthropicRequestRestrictions, AnthropicWireRequest } from './wire.ts';
import { toAnthropicWireRequest } from './wire.ts';

const modelSchema = z.object({
  id: z.string().min(1),
  max_input_tokens: optionalPositiveNumberSchema,
  context_window: optionalPositiveNumberSchema,
  context_length: optionalPositiveNumberSchema,
});
const pageSchema = z.union([
  z.object({
    data: tolerantListSchema,
    has_more: z.boolean().optional().catch(undefined),
    last_id: optionalNonEmptyStringSchema,
  }),
  z.array(z.unknown()).transform((data) => ({ data, has_more: false, last_id: undefined })),
]);

/**
 * Parses `{data: [{id, max_input_tokens}], has_more, last_id}`. Returns the models and the id after which the next page begins. Gateways
 * omit the size, use OpenAI's names, or send a bare list.
 */
function modelsIn(endpoint: Endpoint, body: unknown): ModelListPage {
  const page = pageSchema.safeParse(body);
  if (!page.success) throw unreadableAnswerError(endpoint, JSON.stringify(body));
  const { data, has_more: more, last_id: next } = page.data;
  return { models: data.flatMap(toModel), next: more ? next : undefined };
}

function toModel(one: unknown): ModelInfo[] {
  const { success, data: model } = modelSchema.safeParse(one);
  if (!success) return [];
  const contextWindow = model.max_input_tokens ?? model.context_window ?? model.context_length;
  return [{ id: model.id, ...(contextWindow !== undefined && { contextWindow }) }];
}

export interface AnthropicClientOptions extends Partial<LLMClientOptions> {
  /** URL without `/v1`, for a gateway; absent: Anthropic's own. */
  baseUrl?: string;
}

const version = '2023-06-01';

export function createAnthropicClient(options: AnthropicClientOptions = {}): LLMClient {
  const baseUrl = options.baseUrl?.trim() || 'https://api.anthropic.com';
  const at = createUrlBuilder(baseUrl, /\/v1(\/messages)?$/);
  const endpoint = toEndpoint({ label: 'Anthropic', notFoundHint, ...options, baseUrl });
  const limits = { ...defaultProviderFetchLimits, ...options.fetchLimits };
  const key = options.apiKey?.trim();
  const headers = { 'anthropic-version': version, ...options.headers, ...(key && { 'x-api-key': key }) };
  const flagsOfModel = new Map<string, AnthropicRequestRestrictions>();
  const initialFlags: AnthropicRequestRestrictions = {};
  const note = createUniqueNotifier(options.onNote);

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    let flags = flagsOfModel.get(request.model) ?? initialFlags;
    let passing = false;
    for (;;) {
      try {
        const body = toAnthropicWireRequest(request, flags);
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

  async function* batches(request: ChatRequest, signal?: AbortSignal): ChunkBatches {
    checkApiKeyCharacters(endpoint);
    const answer = await ask(request, signal);
    const takenIds = requestCallIds(request.messages);
    yield* readReply(answer, createAnthropicReader({ endpoint, tools: request.tools ?? [], takenIds }));
  }

  return createClientFromChunkBatches(batches, async (signal) => {
    checkApiKeyCharacters(endpoint);
    return readModelListPages(async (next) => {
      const url = at(`/v1/models?limit=1000${next === undefined ? '' : `&after_id=${encodeURIComponent(next)}`}`);
      return modelsIn(
        endpoint,
        await readJsonAnswer(await sendHttpRequest({ endpoint, url, headers, limits, signal })),
      );
    });
  });
}

const notFoundHint = message('Check the name of the model, and the address (without /v1).');

function learn(
  error: LLMError,
  request: ChatRequest,
  flags: AnthropicRequestRestrictions,
): ParameterFallback | undefined {
  if (error.status !== 400 || error.code === 'LLM_AUTH_FAILED') return undefined;
  return learnParameterFallback((error.details as ProviderErrorDetails).words, request, flags);
}

function notesOf(request: ChatRequest, body: AnthropicWireRequest, flags: AnthropicRequestRestrictions): string[] {
  const { model, maxTokens = 0, responseFormat } = request;
  return [
    ...thinkingNotes(request, body),
    ...changed(model, 'temperature', request.temperature, body.temperature),
    ...changed(model, 'top_p', request.topP, body.top_p),
    ...(request.stopSequences?.length && !body.stop_sequences
      ? [`${model} takes no stop sequences; they are left out.`]
      : []),
    ...(maxTokens > body.max_tokens ? [outputLimitWarning(model, body.max_tokens, maxTokens)] : []),
    ...(responseFormat && !body.output_config?.format
      ? [`${model} cannot be held to this format; it is asked for it in words.`]
      : []),
    ...(flags.refused?.size ? [`${model} does not take earlier thinking back; it is left out.`] : []),
  ];
}

function thinkingNotes(
  { model, thinkingBudget = 0, toolChoice }: ChatRequest,
  { thinking }: AnthropicWireRequest,
): string[] {
  if (thinkingBudget <= 0) return [];
  if (!thinking && toolChoice === 'required')
    return [`${model} does not think where it must call a tool; the thinking budget is ignored.`];
  if (!thinking) return [thinkingBudgetWarning(model)];
  if (thinking.type !== 'enabled' || thinking.budget_tokens === thinkingBudget) return [];
  return [
    `A thinking budget of ${thinkingBudget} tokens is not possible for ${model}; it gets ${thinking.budget_tokens}.`,
  ];
}

function changed(model: string, name: string, asked: number | undefined, sent: number | undefined): string[] {
  if (asked === sent) return [];
  return [
    sent === undefined
      ? `${model} does not take ${name} here; it is left out.`
      : `${model} takes ${name} up to ${sent}.`,
  ];
}
