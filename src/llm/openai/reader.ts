import * as z from 'zod';
import type { ProviderMetadata, TokenUsage } from '../../protocol/content/messages.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import type { ChatStreamChunk } from '../core/client.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { createToolNameMapping } from '../core/wireToolNames.ts';
import { finishReasonOf } from '../messages/finishReason.ts';
import { toPromptProgress } from '../messages/promptProgress.ts';
import { htmlToPlainText, isErrorObject } from '../transport/errorBody.ts';
import { type Endpoint, streamErrorToError } from '../transport/providerErrors.ts';
import { redact } from '../transport/redact.ts';
import {
  incompleteAnswerError,
  invalidAnswerError,
  type ReplyReader,
  secondAnswerError,
} from '../transport/replyStream.ts';
import {
  isReportedError,
  nonEmptyString,
  optionalCountSchema,
  optionalNonEmptyStringSchema,
} from '../transport/wireFields.ts';
import { type CallFragment, createCallCollector } from './calls.ts';
import { createReasoningDetailCollector } from './details.ts';
import { createThinkingCollector, type ThinkingField, thinkingToText } from './thinkingFields.ts';
import type { OpenAIThinkingMetadata } from './wire.ts';

interface OpenAIReaderOptions {
  endpoint: Endpoint;
  provider: string;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  takenIds?: ReadonlySet<string>;
  keepDetails?: boolean;
}

/**
 * Creates a reader. A `toolCall` chunk is emitted when the next call begins and the text is a JSON object, else at the end. After an end by
 * `length` or a filter, the remaining calls are dropped.
 */
export function createOpenAIReader({
  endpoint,
  provider,
  tools,
  takenIds,
  keepDetails,
}: OpenAIReaderOptions): ReplyReader {
  const calls = createCallCollector(endpoint, createToolNameMapping(tools), takenIds ?? new Set());
  let callCount = 0;
  let given = 0;
  let answered = false;
  let first: JsonObject | undefined;
  let rawFinish: string | undefined;
  /** Id of the event with the finish reason. The protocol requires one id for all events; Groq and Avian deviate. */
  let finishedId: string | undefined;
  let failed: string | undefined;
  let model: string | undefined;
  let usage: TokenUsage | undefined;
  const thoughts = createThinkingCollector();
  const details = createReasoningDetailCollector();

  const takeCalls = (atEnd: boolean): ChatStreamChunk[] => {
    const complete = calls.takeComplete(atEnd);
    given += complete.length;
    return complete.map((toolCall) => ({ toolCall, done: false }));
  };

  const readFragment = (fragment: CallFragment): ChatStreamChunk[] => {
    const index = calls.add(fragment);
    const begins = index >= callCount;
    callCount = Math.max(callCount, index + 1);
    const { id, name, argumentsText } = fragment;
    const toolCallDelta = {
      index,
      ...(begins && id && { id }),
      ...(begins && name && { name: toToolName(name) }),
      ...(argumentsText !== '' && { argumentsText }),
    };
    return [...(begins ? takeCalls(false) : []), { toolCallDelta, done: false }];
  };

  const toToolName = createToolNameMapping(tools);
  return {
    get finished() {
      return rawFinish !== undefined;
    },

    read(event, whole = false) {
      if (!isObject(event)) return [];
      first ??= event;
      const choice = firstChoice(event);
      const error = errorIn(event, choice);
      if (error !== undefined) throw streamErrorToError(endpoint, error);
      model = nonEmptyString(event.model) ?? model;
      usage = usageIn(event, choice) ?? usage;
      if (!choice) return [];
      answered = true;
      const another = finishedId !== undefined && (nonEmptyString(event.id) ?? finishedId) !== finishedId;
      if (choice.finish_reason || choice.native_finish_reason) {
        const finish = reasonIn(choice.finish_reason);
        rawFinish = finish ?? rawFinish;
        finishedId ??= nonEmptyString(event.id);
        // OpenRouter: finish_reason may be "stop" while the upstream's own reason is network_error.
        failed ??= [nonEmptyString(choice.native_finish_reason), finish].find((one = '') =>
          /error|malformed/i.test(one),
        );
      }

      const delta = whole ? choice.message : choice.delta; // Perplexity sends `delta` and `message` in streams and in complete answers
      if (!isObject(delta)) return []; // Azure's filter results have no delta
      const chunks: ChatStreamChunk[] = progressIn(event);
      const parts = partsOf(delta);
      parts.thinking += thoughts.add(delta);
      const calling = Boolean(delta.tool_calls || delta.function_call);
      if (another && (calling || parts.content + parts.thinking !== '')) throw secondAnswerError(endpoint);
      if (keepDetails) details.add(delta.reasoning_details);
      if (parts.thinking) chunks.push({ thinking: parts.thinking, done: false });
      if (parts.content) chunks.push({ content: parts.content, done: false });
      if (calling) {
        for (const fragment of fragmentsOf(delta, whole)) chunks.push(...readFragment(fragment));
      }
      return chunks;
    },

    end(marked) {
      if (!marked && rawFinish === undefined) throw incompleteAnswerError(endpoint);
      if (!answered) throw invalidAnswerError(endpoint, first);
      const end = failed !== undefined ? 'error' : finishReasonOf(rawFinish ?? 'stop');
      // After an early end, a call that looks complete may be incomplete.
      const chunks = end === 'stop' ? takeCalls(true) : [];
      // Many servers report `stop` after calls, and some `tool_calls` without calls.
      const finishReason = end === 'stop' && given > 0 ? 'tool_calls' : end;
      const finishMessage = end === 'error' ? (failed ?? rawFinish) : undefined;
      const native = nativeOf(provider, thoughts.first, details.all);
      chunks.push({
        done: true,
        finishReason,
        ...(finishMessage && { finishMessage: redact(htmlToPlainText(finishMessage), endpoint.secrets) }),
        ...(usage && { usage }),
        ...(model && { model }),
        ...(native && { native }),
      });
      return chunks;
    },
  };
}

/** Parses a reason: some servers send `null` in early events; SGLang sends `{type: "abort", message: "…"}`. */
function reasonIn(reason: unknown): string | undefined {
  if (!isObject(reason)) return reason === 'null' ? undefined : nonEmptyString(reason);
  const [type, message] = [nonEmptyString(reason.type), nonEmptyString(reason.message)];
  return type !== undefined && message !== undefined ? `${type}: ${message}` : type;
}

/**
 * Parses llama-server's progress: `cache` of `total` tokens were cached; `processed` includes them and the tokens evaluated in `time_ms`
 * (llama.cpp, tools/server/README.md: `return_progress`).
 */
function progressIn({ prompt_progress: progress }: JsonObject): ChatStreamChunk[] {
  if (!isObject(progress)) return [];
  const { total = 0, cache = 0, processed = 0, time_ms: ms = 0 } = progressSchema.parse(progress);
  if (processed < cache || processed > total || total <= cache) return [];
  return [{ progress: toPromptProgress({ tokens: processed - cache, total: total - cache, ms }), done: false }];
}

const progressSchema = z.object({
  total: optionalCountSchema,
  cache: optionalCountSchema,
  processed: optionalCountSchema,
  time_ms: optionalCountSchema,
});

function nativeOf(
  provider: string,
  first: ThinkingField | undefined,
  details: JsonObject[],
): ProviderMetadata | undefined {
  const thinkingField = first === 'reasoning_content' || first === 'reasoning' ? first : undefined;
  if (thinkingField === undefined && details.length === 0) return undefined;
  const content: OpenAIThinkingMetadata = {
    ...(thinkingField && { thinkingField }),
    ...(details.length > 0 && { details }),
  };
  return { provider, content };
}

/** Returns the first choice. Azure's first event and usage events have none; further choices were never requested. */
function firstChoice(event: JsonObject): JsonObject | undefined {
  const { choices } = event;
  if (!Array.isArray(choices)) return undefined; // no schema: it would double the cost of each event
  return isFirst(choices[0]) ? choices[0] : choices.find(isFirst);
}

const isFirst = (choice: unknown): choice is JsonObject => isObject(choice) && (choice.index ?? 0) === 0;

/** Returns an error inside HTTP 200: at the top (most), in the choice (OpenRouter), or the whole event (vLLM, DashScope, MiniMax). */
function errorIn(event: JsonObject, choice: JsonObject | undefined): unknown {
  if (isReportedError(event.error)) return event;
  if (!choice) return isErrorObject(event) ? event : undefined;
  if (isReportedError(choice.error)) return { error: choice.error };
  return event.base_resp && isErrorObject({ base_resp: event.base_resp }) ? event : undefined;
}

interface ReplyParts {
  content: string;
  thinking: string;
}

/** Splits a delta; Mistral sends thinking among the parts of `content`. */
function partsOf({ content, refusal }: JsonObject): ReplyParts {
  const parts: ReplyParts = { content: '', thinking: '' };
  if (typeof content === 'string') parts.content = content;
  else if (Array.isArray(content)) addParts(parts, content);
  if (typeof refusal === 'string') parts.content += refusal;
  return parts;
}

function addParts(parts: ReplyParts, content: readonly unknown[]): void {
  for (const part of content) {
    if (!isObject(part)) continue;
    if (/^(thinking|reasoning)/.test(String(part.type))) parts.thinking += thinkingToText(part);
    else if (part.type === 'text' || part.type === 'refusal') parts.content += textOfPart(part.text ?? part.refusal);
  }
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!Array.isArray(part)) return '';
  return part.map((one) => (isObject(one) ? (nonEmptyString(one.text) ?? '') : '')).join('');
}

function fragmentsOf(delta: JsonObject, whole: boolean): CallFragment[] {
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isObject) : [];
  if (calls.length === 0 && isObject(delta.function_call)) calls.push({ index: 0, function: delta.function_call }); // the form before tool_calls
  return calls.map((call, position): CallFragment => {
    const { index, id, function: wanted } = fragmentSchema.parse(call);
    const begins = (whole || (position > 0 && index === undefined)) && wanted.name !== undefined;
    return { index, id, name: wanted.name, argumentsText: argumentsOf(wanted.arguments), ...(begins && { begins }) };
  });
}

const fragmentSchema = z.object({
  index: z.number().optional().catch(undefined), // Mistral and Gemini may omit the index
  id: optionalNonEmptyStringSchema,
  function: z.object({ name: optionalNonEmptyStringSchema, arguments: z.unknown().optional() }).catch({}),
});

/** Returns arguments as text; some servers send the object. */
function argumentsOf(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : (nonEmptyString(value) ?? '');
}

/**
 * Converts usage: prompt tokens include cached tokens, completion tokens include thinking. The last usage counts and nothing is added. Groq
 * sends usage in `x_groq`, Moonshot in the choice; the cached count has three names.
 */
function usageIn(event: JsonObject, choice: JsonObject | undefined): TokenUsage | undefined {
  if (!event.usage && !event.x_groq && !choice?.usage) return undefined;
  const hidden = isObject(event.x_groq) ? event.x_groq.usage : undefined;
  const usage = [event.usage, hidden, choice?.usage].find(isObject);
  if (!usage) return undefined;
  const parsed = usageSchema.parse(usage);
  const promptTokens = parsed.prompt_tokens ?? 0;
  const completionTokens = parsed.completion_tokens ?? 0;
  const cachedTokens =
    parsed.prompt_tokens_details.cached_tokens ?? parsed.prompt_cache_hit_tokens ?? parsed.cached_tokens;
  const thinkingTokens = parsed.completion_tokens_details.reasoning_tokens;
  return {
    promptTokens,
    completionTokens,
    totalTokens: parsed.total_tokens ?? promptTokens + completionTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(thinkingTokens !== undefined && { thinkingTokens }),
  };
}

const usageSchema = z.object({
  prompt_tokens: optionalCountSchema,
  completion_tokens: optionalCountSchema,
  total_tokens: optionalCountSchema,
  prompt_tokens_details: z.object({ cached_tokens: optionalCountSchema }).catch({}),
  completion_tokens_details: z.object({ reasoning_tokens: optionalCountSchema }).catch({}),
  prompt_cache_hit_tokens: optionalCountSchema, // DeepSeek
  cached_tokens: optionalCountSchema, // Moonshot
});
