import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { requestCallIds } from '../core/callIds.ts';
import type { ChatRequest, LLMClient, ModelInfo } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { createUniqueNotifier, thinkingBudgetWarning } from '../messages/warnings.ts';
import type { ModelListPage } from '../models/modelListPages.ts';
import { readModelListPages } from '../models/modelListPages.ts';
import { googleBaseUrl } from '../models/providers.ts';
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
import { createGoogleReader } from './reader.ts';
import { thinkingConfigOf } from './thinking.ts';
import type { GoogleRequestRestrictions } from './wire.ts';
import { learnGoogleRequestRestriction, toGoogleWire } from './wire.ts';

const modelSchema = z.object({
  name: z.string().min(1),
  inputTokenLimit: optionalPositiveNumberSchema,
  supportedGenerationMethods: z.array(z.unknown()).optional().catch(undefined),
});
const pageSchema = z.union([
  z.object({ models: tolerantListSchema, nextPageToken: optionalNonEmptyStringSchema }),
  z.strictObject({}).transform(() => ({ models: [], nextPageToken: undefined })),
]);

/**
 * Parses `{models: [{name: "models/…", inputTokenLimit, supportedGenerationMethods}]}`. Returns the models that support conversations, and
 * the token of the next page.
 */
function modelsIn(endpoint: Endpoint, body: unknown): ModelListPage {
  const page = pageSchema.safeParse(body);
  if (!page.success) throw unreadableAnswerError(endpoint, JSON.stringify(body));
  const { models, nextPageToken: next } = page.data;
  return { models: models.flatMap(toModel), next };
}

function toModel(one: unknown): ModelInfo[] {
  const { success, data: model } = modelSchema.safeParse(one);
  if (!success || model.supportedGenerationMethods?.includes('generateContent') === false) return [];
  const { name, inputTokenLimit: contextWindow } = model;
  return [{ id: name.replace(/^models\//, ''), ...(contextWindow !== undefined && { contextWindow }) }];
}

export interface GoogleClientOptions extends Partial<LLMClientOptions> {
  baseUrl?: string;
  apiKey?: string;
}

export function createGoogleClient(options: GoogleClientOptions): LLMClient {
  const baseUrl = options.baseUrl?.trim() || googleBaseUrl;
  const at = createUrlBuilder(baseUrl, /\/models(\/[^/]*)?$/);
  const endpoint = toEndpoint({ label: 'Google Gemini', notFoundHint, ...options, baseUrl });
  const limits = { ...defaultProviderFetchLimits, ...options.fetchLimits };
  const headers = { ...options.headers, ...(options.apiKey && { 'x-goog-api-key': options.apiKey.trim() }) };
  const flagsOfModel = new Map<string, GoogleRequestRestrictions>();
  const flagsFor = (model: string): GoogleRequestRestrictions => {
    const flags = flagsOfModel.get(model) ?? { imagesApart: /gemini-[12]\b|gemma/.test(model) };
    flagsOfModel.set(model, flags);
    return flags;
  };
  const note = createUniqueNotifier(options.onNote);

  async function ask(request: ChatRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const url = at(`/${pathOf(request.model)}:streamGenerateContent?alt=sse`);
    for (;;) {
      const flags = flagsFor(request.model);
      try {
        return await sendHttpRequest({ endpoint, url, headers, body: toGoogleWire(request, flags), limits, signal });
      } catch (error) {
        const learned = error instanceof LLMError ? learn(error, flags) : undefined;
        if (!learned) throw error;
        flagsOfModel.set(request.model, learned); // at most one round per possible adjustment
      }
    }
  }

  async function* batches(request: ChatRequest, signal?: AbortSignal): ChunkBatches {
    checkApiKeyCharacters(endpoint);
    const answer = await ask(request, signal);
    for (const text of notesOf(request, flagsFor(request.model))) note(text);
    const takenIds = requestCallIds(request.messages);
    yield* readReply(answer, createGoogleReader({ endpoint, tools: request.tools ?? [], takenIds }));
  }

  return createClientFromChunkBatches(batches, async (signal) => {
    checkApiKeyCharacters(endpoint);
    return readModelListPages(async (next) => {
      const url = at(`/models?pageSize=1000${next === undefined ? '' : `&pageToken=${encodeURIComponent(next)}`}`);
      return modelsIn(
        endpoint,
        await readJsonAnswer(await sendHttpRequest({ endpoint, url, headers, limits, signal })),
      );
    });
  });
}

const notFoundHint = message('Check the name of the model, and the address (it ends in /v1beta).');

function pathOf(model: string): string {
  const path = model.includes('/') ? model : `models/${model}`;
  return path.split('/').map(encodeURIComponent).join('/');
}

function learn(error: LLMError, flags: GoogleRequestRestrictions): GoogleRequestRestrictions | undefined {
  if (error.code !== 'LLM_HTTP_ERROR' || error.status !== 400) return undefined;
  return learnGoogleRequestRestriction((error.details as ProviderErrorDetails).words, flags);
}

function notesOf(request: ChatRequest, flags: GoogleRequestRestrictions): string[] {
  const { model, responseFormat, tools = [] } = request;
  return [
    ...budgetNotes(request, flags),
    ...(flags.systemAsUser ? [`${model} takes no system instruction; it opens the conversation instead.`] : []),
    ...(flags.unsignedCallsAsText
      ? [`${model} takes only calls that it signed itself; those of other models are told as text.`]
      : []),
    ...(responseFormat && tools.length > 0
      ? [`${model} cannot keep to a format while it has tools; the format is left out.`]
      : []),
  ];
}

function budgetNotes(request: ChatRequest, flags: GoogleRequestRestrictions): string[] {
  const { model, thinkingBudget: asked = 0 } = request;
  const { thinkingBudget: given, thinkingLevel } = thinkingConfigOf(request, flags) ?? {};
  if (asked <= 0 || thinkingLevel || given === asked) return [];
  if (given === undefined) return [thinkingBudgetWarning(model)];
  return [`A thinking budget of ${asked} tokens is not possible for ${model}; it gets ${given}.`];
}
