import type { TokenUsage, ToolCall } from '../../protocol/messages.ts';
import type { ToolDefinition } from '../../protocol/tools.ts';
import { type ParsedArguments, parseArguments } from '../arguments.ts';
import { callLimit, createCallIds } from '../callIds.ts';
import type { ChatStreamChunk } from '../client.ts';
import { LLMError } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import { fromWireNames } from '../names.ts';
import { type Endpoint, errorInStream, nameOf } from '../providerErrors.ts';
import type { ReplyReader } from '../replyStream.ts';
import { earlyEnd, usualEnd } from './finish.ts';
import { collectPartialArguments, type PartialArguments } from './partialArguments.ts';
import { addText, nativeOf, setArguments, toNativeCall } from './parts.ts';
import { type Part, toFunctionName } from './wire.ts';

export interface GoogleReaderOptions {
  endpoint: Endpoint;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  /** Ids of earlier calls in the conversation. */
  takenIds?: ReadonlySet<string>;
}

/** A call whose arguments still come in pieces, and its place among the parts. */
interface OpenCall {
  index: number;
  part: number;
  pieces: PartialArguments;
}

/**
 * Reads `GenerateContentResponse` objects. Calls come whole and close to the end, so they are given at the end only:
 * a reply that is cut, filtered or malformed has none. Finish reasons are `STOP` after calls and after nothing too,
 * and older models write one into every event; what the end was is decided when the stream is over.
 */
export function createGoogleReader({ endpoint, tools, takenIds }: GoogleReaderOptions): ReplyReader {
  const toToolName = fromWireNames(tools, toFunctionName);
  const idFor = createCallIds(takenIds ?? []);
  const parts: Part[] = [];
  const calls: ToolCall[] = [];
  let callsSeen = 0;
  let openCall: OpenCall | undefined;
  let answered = false;
  let content = false;
  let otherParts = false;
  let rawFinish: string | undefined;
  let blocked = false;
  let model: string | undefined;
  let usage: TokenUsage | undefined;

  const closeCall = (complete: boolean): ChatStreamChunk[] => {
    if (!openCall) return [];
    const { index, part, pieces } = openCall;
    openCall = undefined;
    const call = calls[index]!;
    const argumentsText = JSON.stringify(pieces.value);
    Object.assign(call, complete && pieces.whole ? parseArguments(argumentsText) : { malformed: argumentsText });
    setArguments(parts[part]!, call.arguments);
    return [{ toolCallDelta: { index, argumentsText }, done: false }];
  };

  const readCall = (part: Part, functionCall: JsonObject): ChatStreamChunk[] => {
    const name = text(functionCall.name);
    const continues = functionCall.willContinue === true;
    if (name === undefined && openCall) {
      openCall.pieces.add(functionCall.partialArgs);
      return continues ? [] : closeCall(true);
    }
    if (name === undefined && functionCall.args === undefined) return []; // the end of a call that has ended
    const chunks = closeCall(false); // another one begins, so the one before never came to its end
    if (callsSeen >= callLimit) return chunks;
    const index = callsSeen++;
    const parsed = argumentsOf(functionCall.args);
    const id = idFor(text(functionCall.id));
    const call = { id, name: toToolName(name ?? 'unknown'), ...parsed };
    calls.push(call);
    parts.push(toNativeCall(part, functionCall, name ?? 'unknown', parsed.arguments));
    const begin = { index, id, name: call.name };
    if (!continues && functionCall.partialArgs === undefined) {
      const argumentsText = parsed.malformed ?? JSON.stringify(parsed.arguments);
      return [...chunks, { toolCallDelta: { ...begin, argumentsText }, done: false }];
    }
    openCall = { index, part: parts.length - 1, pieces: collectPartialArguments() };
    openCall.pieces.add(functionCall.partialArgs);
    return [...chunks, { toolCallDelta: begin, done: false }, ...(continues ? [] : closeCall(true))];
  };

  const readPart = (part: Part): ChatStreamChunk[] => {
    if (isObject(part.functionCall)) return readCall(part, part.functionCall);
    if (typeof part.text !== 'string') {
      const other = Object.values(part).some(isObject); // code that ran at Google, images: nothing a person is told
      otherParts ||= other;
      if (other || text(part.thoughtSignature) !== undefined) parts.push(part);
      return [];
    }
    addText(parts, part, part.text);
    if (part.text === '') return [];
    if (part.thought === true) return [{ thinking: part.text, done: false }];
    content = true;
    return [{ content: part.text, done: false }];
  };

  const readEvent = (event: unknown): ChatStreamChunk[] => {
    if (!isObject(event)) return [];
    if (isSaid(event.error)) throw errorInStream(endpoint, event);
    model = text(event.modelVersion) ?? model;
    usage = usageIn(event.usageMetadata) ?? usage;
    const candidate = firstCandidate(event);
    answered ||= candidate !== undefined || isObject(event.promptFeedback);
    blocked ||= isObject(event.promptFeedback) && text(event.promptFeedback.blockReason) !== undefined;
    if (!candidate) return [];
    rawFinish = text(candidate.finishReason) ?? rawFinish;
    const given = isObject(candidate.content) ? candidate.content.parts : undefined;
    return Array.isArray(given) ? given.filter(isObject).flatMap(readPart) : [];
  };

  return {
    /** With its usage, which comes with the true end: a finish reason alone may be in every event of the stream. */
    get finished() {
      return blocked || (rawFinish !== undefined && usage !== undefined);
    },

    /** Without `alt=sse` the whole stream is one JSON array; some gateways answer so whatever they are asked. */
    read: (event) => (Array.isArray(event) ? event.flatMap(readEvent) : readEvent(event)),

    end(marked) {
      if (!marked && rawFinish === undefined && !blocked) {
        const message = `The answer of ${nameOf(endpoint)} broke off before its end.`;
        throw new LLMError('LLM_INCOMPLETE', message, { retryable: true });
      }
      if (!answered) {
        const message = `${nameOf(endpoint)} sent something that is not an answer of a model.`;
        throw new LLMError('LLM_BAD_RESPONSE', message);
      }
      const chunks = closeCall(false);
      const early = blocked ? 'content_filter' : earlyEnd(rawFinish);
      if (!early) chunks.push(...calls.map((toolCall) => ({ toolCall, done: false })));
      const complete = early === undefined || callsSeen === 0;
      const native = complete ? nativeOf(parts) : undefined; // a call that is not given would never get its result
      const finishReason = early ?? usualEnd(rawFinish, calls.length > 0, content, otherParts);
      chunks.push({
        done: true,
        finishReason,
        ...(usage && { usage }),
        ...(model && { model }),
        ...(native && { native }),
      });
      return chunks;
    },
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const isSaid = (error: unknown) => text(error) !== undefined || (isObject(error) && Object.keys(error).length > 0);

function firstCandidate(event: JsonObject): JsonObject | undefined {
  if (!Array.isArray(event.candidates)) return undefined;
  return event.candidates.find((one): one is JsonObject => isObject(one) && (one.index ?? 0) === 0);
}

/** The arguments come as a parsed object; what cannot be one is told to the model, never run. */
function argumentsOf(args: unknown): ParsedArguments {
  if (args === undefined || args === null) return { arguments: {} };
  let finite = true;
  const written = JSON.stringify(args, (_, value) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    finite = false;
    return String(value);
  });
  return finite ? parseArguments(written) : { arguments: {}, malformed: written };
}

/**
 * Each event has the whole count so far: the last one is right, and they are never summed. The prompt includes what
 * was cached; Google's own tools and the thinking are counted apart there, and are part of prompt and completion here.
 */
function usageIn(metadata: unknown): TokenUsage | undefined {
  if (!isObject(metadata)) return undefined;
  const count = (name: string): number | undefined => {
    const value = metadata[name];
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  const prompt = count('promptTokenCount');
  const candidates = count('candidatesTokenCount');
  const total = count('totalTokenCount');
  if (prompt === undefined && candidates === undefined && total === undefined) return undefined; // `trafficType` alone
  const cachedTokens = count('cachedContentTokenCount');
  const thinkingTokens = count('thoughtsTokenCount');
  const promptTokens = (prompt ?? 0) + (count('toolUsePromptTokenCount') ?? 0);
  const completionTokens = (candidates ?? 0) + (thinkingTokens ?? 0);
  return {
    promptTokens,
    completionTokens,
    totalTokens: total ?? promptTokens + completionTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(thinkingTokens !== undefined && { thinkingTokens }),
  };
}
