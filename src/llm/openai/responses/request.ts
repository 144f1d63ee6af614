import { toEnglishText } from '../../../protocol/text/l10n.ts';
import { messageOf } from '../../../protocol/text/localized.ts';
import { requestCallIds } from '../../core/callIds.ts';
import type { ChatRequest } from '../../core/client.ts';
import { LLMError } from '../../core/errors.ts';
import { learnOutputTokenLimit, outputLimitWarning } from '../../messages/outputLimit.ts';
import { thinkingBudgetWarning } from '../../messages/warnings.ts';
import { sendHttpRequest } from '../../transport/http.ts';
import type { ProviderErrorDetails } from '../../transport/providerErrors.ts';
import { type OpenAIConnection, requestRejection, type SendOpenAIRequest } from '../protocol.ts';
import { omittedImageWarnings } from '../warnings.ts';
import type { OpenAIResponsesRestrictions } from './flags.ts';
import { learnOpenAIResponsesRestrictions } from './flags.ts';
import { createOpenAIResponsesReader } from './reader.ts';
import { openAIResponsesReasoningParameter, toOpenAIResponsesWireRequest } from './wire.ts';

export function createOpenAIResponsesSender(
  { provider, endpoint, headers, limits, note }: OpenAIConnection,
  { url, cacheKey }: { url: string; cacheKey?: boolean },
): SendOpenAIRequest {
  const flagsOfModel = new Map<string, OpenAIResponsesRestrictions>();
  const initial: OpenAIResponsesRestrictions = { provider, cacheKey };
  const flagsFor = (model: string): OpenAIResponsesRestrictions => flagsOfModel.get(model) ?? initial;

  function learn({ words, parameter }: ProviderErrorDetails, request: ChatRequest): boolean {
    const flags = flagsFor(request.model);
    const asked = toOpenAIResponsesWireRequest(request, flags).max_output_tokens;
    const limit = learnOutputTokenLimit(`${words} ${parameter ?? ''}`, asked);
    if (limit && !limit.once) {
      flagsOfModel.set(request.model, { ...flags, outputLimit: limit.tokens });
      note(outputLimitWarning(request.model, limit.tokens, asked));
      return true;
    }
    const learned = learnOpenAIResponsesRestrictions(words, parameter, request, flags);
    if (!learned) return false;
    flagsOfModel.set(request.model, learned); // at most one round per possible adjustment
    const omitted = learned.omit?.filter((name) => !flags.omit?.includes(name)) ?? [];
    for (const name of omitted) note(`${request.model} does not take ${name}; it is left out.`);
    return true;
  }

  async function post(request: ChatRequest, signal: AbortSignal | undefined) {
    for (;;) {
      try {
        const body = toOpenAIResponsesWireRequest(request, flagsFor(request.model));
        return await sendHttpRequest({ endpoint, url, headers, body, limits, signal });
      } catch (error) {
        const refusal = requestRejection(error);
        if (!refusal || !learn(refusal, request)) throw error;
      }
    }
  }

  return async (request, signal) => {
    const answer = await post(request, signal);
    const flags = flagsFor(request.model);
    for (const text of notesOf(request, flags)) note(text);
    const takenIds = requestCallIds(request.messages);
    return {
      answer,
      reader: createOpenAIResponsesReader({ endpoint, provider, tools: request.tools ?? [], takenIds }),
      warnings: omittedImageWarnings(request, flags),
      /** Gateways may forward a rejection inside a stream that started successfully. */
      learn(error) {
        const { code, status, details } = error;
        const taught =
          code === 'LLM_HTTP_ERROR' && details !== undefined && learn(details as ProviderErrorDetails, request);
        return taught ? new LLMError(code, messageOf(error), { status, details, retryable: true }) : error;
      },
    };
  };
}

function notesOf(request: ChatRequest, flags: OpenAIResponsesRestrictions): string[] {
  const { model, thinkingBudget = 0, responseFormat, stopSequences = [] } = request;
  return [
    ...(thinkingBudget > 0 && !openAIResponsesReasoningParameter(request, flags)?.effort
      ? [thinkingBudgetWarning(model)]
      : []),
    ...(stopSequences.length > 0 ? [`${model} takes no stop sequences here; they are left out.`] : []),
    ...(responseFormat?.type === 'json_schema' && flags.schemaInPrompt
      ? [`${model} cannot be held to a schema; it is asked for it in words.`]
      : []),
    ...(flags.refused?.size ? [`${model} does not take earlier thinking back; it is left out.`] : []),
    ...omittedImageWarnings(request, flags).map(toEnglishText),
  ];
}
