import * as z from 'zod';
import type { ProviderMetadata, TokenUsage, ToolCall } from '../../protocol/content/messages.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { createToolCallIdAllocator } from '../core/callIds.ts';
import type { ChatStreamChunk, FinishReason } from '../core/client.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { createToolNameMapping } from '../core/wireToolNames.ts';
import { finishReasonOf } from '../messages/finishReason.ts';
import { type ParsedToolArguments, parseToolArguments } from '../messages/parseArguments.ts';
import { htmlToPlainText, isErrorObject } from '../transport/errorBody.ts';
import { type Endpoint, streamErrorToError } from '../transport/providerErrors.ts';
import { redact } from '../transport/redact.ts';
import {
  incompleteAnswerError,
  invalidAnswerError,
  type ReplyReader,
  secondAnswerError,
} from '../transport/replyStream.ts';
import { isReportedError, optionalCountSchema, optionalNonEmptyStringSchema } from '../transport/wireFields.ts';
import { createPartialArgumentsCollector, type PartialArguments } from './partialArguments.ts';
import { type GoogleNativeParts, type GooglePart, googleProviderId, toGoogleFunctionName } from './wire.ts';

const usageSchema = z.object({
  promptTokenCount: optionalCountSchema,
  candidatesTokenCount: optionalCountSchema,
  totalTokenCount: optionalCountSchema,
  cachedContentTokenCount: optionalCountSchema,
  thoughtsTokenCount: optionalCountSchema,
  toolUsePromptTokenCount: optionalCountSchema,
});

/**
 * Converts usage. Each event contains cumulative counts, so the last event is right and nothing is added. The prompt count includes cached
 * tokens. Tokens of Google's own tools and of thinking are separate and are added to prompt and completion here.
 */
function toUsage(metadata: z.infer<typeof usageSchema> | undefined): TokenUsage | undefined {
  if (!metadata) return undefined;
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: total } = metadata;
  if (prompt === undefined && candidates === undefined && total === undefined) return undefined; // only `trafficType`
  const { cachedContentTokenCount: cachedTokens, thoughtsTokenCount: thinkingTokens } = metadata;
  const promptTokens = (prompt ?? 0) + (metadata.toolUsePromptTokenCount ?? 0);
  const completionTokens = (candidates ?? 0) + (thinkingTokens ?? 0);
  return {
    promptTokens,
    completionTokens,
    totalTokens: total ?? promptTokens + completionTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(thinkingTokens !== undefined && { thinkingTokens }),
  };
}

const filters = [
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
];

/** Finish reasons of failed replies that a retry may fix. `OTHER` comes without a reason and usually without text. */
const failures = [
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'OTHER',
  'IMAGE_OTHER',
  'NO_IMAGE',
  'LANGUAGE',
];

/**
 * Maps Google's finish reason. An unknown reason counts as a failure: no call of the reply is delivered, because a call may be incomplete.
 */
function endOfReply(rawFinish: string | undefined): Exclude<FinishReason, 'tool_calls'> {
  if (rawFinish === undefined) return 'stop';
  if (filters.includes(rawFinish)) return 'content_filter';
  return failures.includes(rawFinish) ? 'error' : finishReasonOf(rawFinish);
}

interface GoogleReaderOptions {
  endpoint: Endpoint;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  takenIds?: ReadonlySet<string>;
}

interface OpenCall {
  index: number;
  part: number;
  pieces: PartialArguments;
}

/**
 * Creates a reader of `GenerateContentResponse` objects. Calls are emitted only at the end, so a truncated, filtered or malformed reply has
 * none. The finish reason is `STOP` even after calls or without content, and older models repeat a reason in every event, so the end is
 * decided after the stream.
 */
export function createGoogleReader({ endpoint, tools, takenIds }: GoogleReaderOptions): ReplyReader {
  const toToolName = createToolNameMapping(tools, toGoogleFunctionName);
  const idFor = createToolCallIdAllocator(takenIds ?? new Set());
  const parts: GooglePart[] = [];
  const calls: ToolCall[] = [];
  let openCall: OpenCall | undefined;
  let answered = false;
  let first: JsonObject | undefined;
  let rawFinish: string | undefined;
  let finishedId: string | undefined; // `responseId` of the event with the finish reason
  let finishMessage: string | undefined;
  let blocked = false;
  let model: string | undefined;
  let usage: TokenUsage | undefined;

  const closeCall = (complete: boolean): ChatStreamChunk[] => {
    if (!openCall) return [];
    const { index, part, pieces } = openCall;
    openCall = undefined;
    const call = calls[index]!;
    const argumentsText = JSON.stringify(pieces.value);
    Object.assign(call, complete && pieces.whole ? parseToolArguments(argumentsText) : { malformed: argumentsText });
    setArguments(parts[part]!, call.arguments);
    return [{ toolCallDelta: { index, argumentsText }, done: false }];
  };

  const readCall = (part: GooglePart, functionCall: JsonObject): ChatStreamChunk[] => {
    const { name, id: wantedId, args, partialArgs, willContinue: continues } = callSchema.parse(functionCall);
    if (name === undefined && openCall) {
      openCall.pieces.add(partialArgs);
      return continues ? [] : closeCall(true);
    }
    if (name === undefined && args === undefined) return []; // end marker of a finished call
    const chunks = closeCall(false); // a new call begins, so the previous call was never finished
    const index = calls.length;
    const parsed = argumentsOf(args);
    const id = idFor(wantedId);
    const call = { id, name: toToolName(name ?? 'unknown'), ...parsed };
    calls.push(call);
    parts.push(toNativeCall(part, functionCall, name ?? 'unknown', parsed.arguments));
    const begin = { index, id, name: call.name };
    if (!continues && partialArgs === undefined) {
      const argumentsText = parsed.malformed ?? JSON.stringify(parsed.arguments);
      return [...chunks, { toolCallDelta: { ...begin, argumentsText }, done: false }];
    }
    openCall = { index, part: parts.length - 1, pieces: createPartialArgumentsCollector() };
    openCall.pieces.add(partialArgs);
    return [...chunks, { toolCallDelta: begin, done: false }, ...(continues ? [] : closeCall(true))];
  };

  const readPart = (part: GooglePart): ChatStreamChunk[] => {
    if (isObject(part.functionCall)) return readCall(part, part.functionCall);
    if (typeof part.text !== 'string') {
      const other = Object.values(part).some(isObject); // code executed by Google, or images: not shown to the user
      if (other || isReportedError(part.thoughtSignature)) parts.push(part);
      return [];
    }
    addText(parts, part, part.text);
    if (part.text === '') return [];
    if (part.thought === true) return [{ thinking: part.text, done: false }];
    return [{ content: part.text, done: false }];
  };

  const readEvent = (event: unknown): ChatStreamChunk[] => {
    if (!isObject(event)) return [];
    first ??= event;
    if (isReportedError(event.error)) throw streamErrorToError(endpoint, event);
    const { candidates, promptFeedback, modelVersion, responseId, usageMetadata } = envelopeSchema.parse(event);
    model = modelVersion ?? model;
    usage = toUsage(usageMetadata) ?? usage;
    const candidate = candidates.find((one) => one?.index === 0);
    const isReply = candidates.length > 0 || promptFeedback !== undefined || usageMetadata !== undefined;
    if (!isReply && isErrorObject(event)) throw streamErrorToError(endpoint, event);
    answered ||= candidate !== undefined || promptFeedback !== undefined;
    blocked ||= promptFeedback?.blockReason !== undefined;
    finishMessage = candidate?.finishMessage ?? promptFeedback?.blockReasonMessage ?? finishMessage;
    const parts = candidate?.content.parts.filter(isObject) ?? [];
    if (finishedId !== undefined && (responseId ?? finishedId) !== finishedId && parts.some(isReported)) {
      throw secondAnswerError(endpoint);
    }
    if (candidate?.finishReason) finishedId ??= responseId;
    rawFinish = candidate?.finishReason ?? rawFinish;
    return parts.flatMap(readPart);
  };

  return {
    get finished() {
      return blocked || (rawFinish !== undefined && usage !== undefined);
    },

    /** Unpacks arrays: the stream is one JSON array if `alt=sse` is missing, and some gateways always send an array. */
    read: (event) => (Array.isArray(event) ? event.flatMap(readEvent) : readEvent(event)),

    end(marked) {
      if (!marked && rawFinish === undefined && !blocked) throw incompleteAnswerError(endpoint);
      if (!answered) throw invalidAnswerError(endpoint, first);
      const chunks = closeCall(false);
      const end = blocked ? 'content_filter' : endOfReply(rawFinish);
      if (end === 'stop') chunks.push(...calls.map((toolCall) => ({ toolCall, done: false })));
      const complete = end === 'stop' || calls.length === 0;
      const native = complete ? nativeOf(parts) : undefined; // a call that is not emitted would never get a result
      const finishReason = end === 'stop' && calls.length > 0 ? 'tool_calls' : end;
      const message =
        end === 'error' ? (finishMessage ?? rawFinish) : end === 'content_filter' ? finishMessage : undefined;
      chunks.push({
        done: true,
        finishReason,
        ...(message && { finishMessage: redact(htmlToPlainText(message), endpoint.secrets) }),
        ...(usage && { usage }),
        ...(model && { model }),
        ...(native && { native }),
      });
      return chunks;
    },
  };
}

/** Schema of a candidate. Parts are checked only as a list: checking a text costs one `typeof`, and a call has its own schema. */
const candidateSchema = z.object({
  index: z
    .number()
    .nullish()
    .transform((index) => index ?? 0),
  content: z.object({ parts: z.array(z.unknown()).catch([]) }).catch({ parts: [] }),
  finishReason: optionalNonEmptyStringSchema,
  finishMessage: optionalNonEmptyStringSchema,
});
const envelopeSchema = z.object({
  candidates: z.array(candidateSchema.optional().catch(undefined)).catch([]),
  promptFeedback: z
    .object({ blockReason: optionalNonEmptyStringSchema, blockReasonMessage: optionalNonEmptyStringSchema })
    .optional()
    .catch(undefined),
  modelVersion: optionalNonEmptyStringSchema,
  responseId: optionalNonEmptyStringSchema,
  usageMetadata: usageSchema.optional().catch(undefined),
});
const callSchema = z.object({
  name: optionalNonEmptyStringSchema,
  id: optionalNonEmptyStringSchema,
  args: z.unknown().optional(),
  partialArgs: z.unknown().optional(),
  willContinue: z.boolean().optional().catch(undefined),
});

const isReported = ({ text, functionCall }: JsonObject) => isReportedError(text) || isObject(functionCall);

/** Parses the arguments object. Invalid arguments are reported to the model and never executed. */
function argumentsOf(args: unknown): ParsedToolArguments {
  if (args === undefined || args === null) return { arguments: {} };
  let finite = true;
  const written = JSON.stringify(args, (_, value) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    finite = false;
    return String(value);
  });
  return finite ? parseToolArguments(written) : { arguments: {}, malformed: written };
}

/** Merges fragments of unsigned text into one part. A signature stays with its original part, even if the part is empty. */
function addText(parts: GooglePart[], part: GooglePart, fragment: string): void {
  const last = parts.at(-1);
  const plain = (one: GooglePart) => Object.keys(one).every((key) => key === 'text' || key === 'thought');
  if (last && typeof last.text === 'string' && plain(last) && plain(part) && last.thought === part.thought) {
    last.text += fragment;
  } else if (fragment !== '' || !plain(part)) {
    parts.push({ ...part });
  }
}

function toNativeCall(part: GooglePart, functionCall: JsonObject, name: string, args: JsonObject): GooglePart {
  const { partialArgs, willContinue, ...rest } = functionCall;
  return { ...part, functionCall: { ...rest, name, args } };
}

function setArguments(part: GooglePart, args: JsonObject): void {
  part.functionCall = { ...(part.functionCall as JsonObject), args };
}

function nativeOf(parts: GooglePart[]): ProviderMetadata | undefined {
  const worthKeeping = parts.some((part) => {
    const { functionCall, thoughtSignature } = part;
    if (thoughtSignature !== undefined) return true;
    return isObject(functionCall) ? functionCall.id !== undefined : part.text === undefined;
  });
  return worthKeeping ? { provider: googleProviderId, content: { parts } satisfies GoogleNativeParts } : undefined;
}
