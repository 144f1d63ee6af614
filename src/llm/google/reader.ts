import * as z from 'zod';
import type { TokenUsage, ToolCall } from '../../protocol/content/messages.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { createCallIds } from '../core/callIds.ts';
import type { ChatStreamChunk } from '../core/client.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { fromWireNames } from '../core/wireToolNames.ts';
import { type ParsedArguments, parseArguments } from '../messages/parseArguments.ts';
import { asPlainText, isErrorObject } from '../transport/errorBody.ts';
import { type Endpoint, errorInStream } from '../transport/providerErrors.ts';
import { redact } from '../transport/redact.ts';
import { anotherAnswer, cutShort, notAnAnswer, type ReplyReader } from '../transport/replyStream.ts';
import { isReportedError, word } from '../transport/wireFields.ts';
import { endOfReply } from './finish.ts';
import { collectPartialArguments, type PartialArguments } from './partialArguments.ts';
import { addText, nativeOf, setArguments, toNativeCall } from './parts.ts';
import { toUsage, usageSchema } from './usage.ts';
import { type Part, toFunctionName } from './wire.ts';

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
  const toToolName = fromWireNames(tools, toFunctionName);
  const idFor = createCallIds(takenIds ?? []);
  const parts: Part[] = [];
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
    Object.assign(call, complete && pieces.whole ? parseArguments(argumentsText) : { malformed: argumentsText });
    setArguments(parts[part]!, call.arguments);
    return [{ toolCallDelta: { index, argumentsText }, done: false }];
  };

  const readCall = (part: Part, functionCall: JsonObject): ChatStreamChunk[] => {
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
    openCall = { index, part: parts.length - 1, pieces: collectPartialArguments() };
    openCall.pieces.add(partialArgs);
    return [...chunks, { toolCallDelta: begin, done: false }, ...(continues ? [] : closeCall(true))];
  };

  const readPart = (part: Part): ChatStreamChunk[] => {
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
    if (isReportedError(event.error)) throw errorInStream(endpoint, event);
    const { candidates, promptFeedback, modelVersion, responseId, usageMetadata } = envelopeSchema.parse(event);
    model = modelVersion ?? model;
    usage = toUsage(usageMetadata) ?? usage;
    const candidate = candidates.find((one) => one?.index === 0);
    const isReply = candidates.length > 0 || promptFeedback !== undefined || usageMetadata !== undefined;
    if (!isReply && isErrorObject(event)) throw errorInStream(endpoint, event);
    answered ||= candidate !== undefined || promptFeedback !== undefined;
    blocked ||= promptFeedback?.blockReason !== undefined;
    finishMessage = candidate?.finishMessage ?? promptFeedback?.blockReasonMessage ?? finishMessage;
    const said = candidate?.content.parts.filter(isObject) ?? [];
    if (finishedId !== undefined && (responseId ?? finishedId) !== finishedId && said.some(isTold)) {
      throw anotherAnswer(endpoint);
    }
    if (candidate?.finishReason) finishedId ??= responseId;
    rawFinish = candidate?.finishReason ?? rawFinish;
    return said.flatMap(readPart);
  };

  return {
    get finished() {
      return blocked || (rawFinish !== undefined && usage !== undefined);
    },

    /** Unpacks arrays: the stream is one JSON array if `alt=sse` is missing, and some gateways always send an array. */
    read: (event) => (Array.isArray(event) ? event.flatMap(readEvent) : readEvent(event)),

    end(marked) {
      if (!marked && rawFinish === undefined && !blocked) throw cutShort(endpoint);
      if (!answered) throw notAnAnswer(endpoint, first);
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
        ...(message && { finishMessage: redact(asPlainText(message), endpoint.secrets) }),
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
  finishReason: word,
  finishMessage: word,
});
const envelopeSchema = z.object({
  candidates: z.array(candidateSchema.optional().catch(undefined)).catch([]),
  promptFeedback: z.object({ blockReason: word, blockReasonMessage: word }).optional().catch(undefined),
  modelVersion: word,
  responseId: word,
  usageMetadata: usageSchema.optional().catch(undefined),
});
const callSchema = z.object({
  name: word,
  id: word,
  args: z.unknown().optional(),
  partialArgs: z.unknown().optional(),
  willContinue: z.boolean().optional().catch(undefined),
});

const isTold = ({ text, functionCall }: JsonObject) => isReportedError(text) || isObject(functionCall);

/** Parses the arguments object. Invalid arguments are reported to the model and never executed. */
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
