import * as z from 'zod';
import type { TokenUsage } from '../../../protocol/content/messages.ts';
import type { ToolDefinition } from '../../../protocol/content/tools.ts';
import { message } from '../../../protocol/text/l10n.ts';
import { createToolCallIdAllocator, maxToolCallsPerReply } from '../../core/callIds.ts';
import type { ChatStreamChunk, FinishReason } from '../../core/client.ts';
import { LLMError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { createToolNameMapping } from '../../core/wireToolNames.ts';
import { htmlToPlainText, isErrorObject } from '../../transport/errorBody.ts';
import { type Endpoint, endpointName, streamErrorToError } from '../../transport/providerErrors.ts';
import { redact } from '../../transport/redact.ts';
import {
  incompleteAnswerError,
  invalidAnswerError,
  type ReplyReader,
  secondAnswerError,
} from '../../transport/replyStream.ts';
import { isReportedError, nonEmptyString, optionalCountSchema } from '../../transport/wireFields.ts';
import {
  parseItemArguments,
  parseResponsesOutputItem,
  type ResponsesOutputItem,
  resendableReasoningItem,
  resendableResponsesItems,
  responseEndSchema,
  responsesOutputItemText,
  type StreamedFunctionCallItem,
  type StreamedItem,
  type StreamedMessageItem,
  type StreamedReasoningItem,
  toStreamedItem,
} from './items.ts';
import { toResponsesProviderMetadata } from './providerMetadata.ts';

const usageSchema = z.object({
  input_tokens: optionalCountSchema,
  output_tokens: optionalCountSchema,
  total_tokens: optionalCountSchema,
  input_tokens_details: z
    .object({ cached_tokens: optionalCountSchema, cache_write_tokens: optionalCountSchema })
    .catch({}),
  output_tokens_details: z.object({ reasoning_tokens: optionalCountSchema }).catch({}),
});

/** Converts usage: input includes cached tokens, output includes reasoning. */
function toUsage(usage: unknown): { usage?: TokenUsage } {
  const { success, data: parsed } = usageSchema.safeParse(usage);
  if (!success) return {};
  const { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens } = parsed.input_tokens_details;
  const { reasoning_tokens: thinkingTokens } = parsed.output_tokens_details;
  const promptTokens = parsed.input_tokens ?? 0;
  const completionTokens = parsed.output_tokens ?? 0;
  return {
    usage: {
      promptTokens,
      completionTokens,
      totalTokens: parsed.total_tokens ?? promptTokens + completionTokens,
      ...(cachedTokens !== undefined && { cachedTokens }),
      ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
      ...(thinkingTokens !== undefined && { thinkingTokens }),
    },
  };
}

interface OpenAIResponsesReaderOptions {
  endpoint: Endpoint;
  provider: string;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  takenIds?: ReadonlySet<string>;
}

/**
 * Creates a reader. A `toolCall` chunk is emitted when its item is finished and another has begun, else at the end: a call cut by the limit
 * may look complete and is dropped. Items are identified by `output_index`, because some gateways (GitHub Copilot) send new ids in every
 * event.
 */
export function createOpenAIResponsesReader({
  endpoint,
  provider,
  tools,
  takenIds = new Set(),
}: OpenAIResponsesReaderOptions): ReplyReader {
  const toToolName = createToolNameMapping(tools);
  const idFor = createToolCallIdAllocator(takenIds);
  const items: StreamedItem[] = [];
  const byIndex = new Map<unknown, StreamedItem>();
  const byId = new Map<string, StreamedItem>();
  const calls: StreamedFunctionCallItem[] = [];
  let given = 0;
  let responseId: string | undefined;
  let model: string | undefined;
  let usage: { usage?: TokenUsage } = {};
  let first: JsonObject | undefined;
  let begun = false;
  let hasText = false;
  let thought = false;
  let ending: { early?: FinishReason; message?: string } | undefined;

  const begin = (index: unknown, id: string | undefined, first: ResponsesOutputItem): ChatStreamChunk[] => {
    const item = toStreamedItem(first, calls.length);
    begun = true;
    items.push(item);
    if (index !== undefined) byIndex.set(index, item); // a repeated index is a new item: some gateways send 0 for all
    if (id !== undefined) byId.set(id, item);
    const chunks = giveCalls(false);
    if (item.type !== 'function_call') return chunks;
    if (calls.length === maxToolCallsPerReply) {
      const text = message('{0} sent more than {1} calls in one answer.', endpointName(endpoint), maxToolCallsPerReply);
      throw new LLMError('LLM_BAD_RESPONSE', text);
    }
    calls.push(item);
    const { index: outputIndex, name } = item;
    const toolCallDelta = {
      index: outputIndex,
      ...(item.id && { id: item.id }),
      ...(name && { name: toToolName(name) }),
    };
    return [...chunks, { toolCallDelta, done: false }];
  };

  const itemOf = <Type extends StreamedItem['type']>({ output_index: index, item_id: id }: JsonObject, type: Type) => {
    let item = byIndex.get(index);
    if (item?.type !== type && typeof id === 'string') item = byId.get(id);
    if (index === undefined && id === undefined) item = items.at(-1);
    return item?.type === type ? (item as Extract<StreamedItem, { type: Type }>) : undefined;
  };

  const itemFor = <Type extends StreamedItem['type']>(event: JsonObject, type: Type, chunks: ChatStreamChunk[]) => {
    let item = itemOf(event, type);
    if (!item) {
      chunks.push(...begin(event.output_index, nonEmptyString(event.item_id), parseResponsesOutputItem({ type })));
      item = items.at(-1) as Extract<StreamedItem, { type: Type }>;
    }
    return item;
  };

  const addText = (item: StreamedMessageItem, text: string, chunks: ChatStreamChunk[]): void => {
    if (text === '') return;
    const content = item.pieces.length === 0 && hasText ? `\n\n${text}` : text; // later text is another message
    item.pieces.push(text);
    item.length += content.length;
    hasText ||= text.trim() !== '';
    chunks.push({ content, done: false });
  };

  const think = (item: StreamedReasoningItem, part: unknown, text: string, chunks: ChatStreamChunk[]): void => {
    if (text === '') return;
    const thinking = thought && item.part !== part ? `\n\n${text}` : text;
    item.part = part;
    thought = true;
    chunks.push({ thinking, done: false });
  };

  const readThinking = (event: JsonObject, source: 'summary' | 'text'): ChatStreamChunk[] => {
    const chunks: ChatStreamChunk[] = [];
    const item = itemFor(event, 'reasoning', chunks);
    item.emitted ??= source;
    const part = source === 'summary' ? event.summary_index : event.content_index;
    if (item.emitted === source) think(item, part ?? 0, nonEmptyString(event.delta) ?? '', chunks);
    return chunks;
  };

  const readText = (event: JsonObject): ChatStreamChunk[] => {
    const chunks: ChatStreamChunk[] = [];
    const text = nonEmptyString(event.delta);
    if (text !== undefined) addText(itemFor(event, 'message', chunks), text, chunks);
    return chunks;
  };

  const readArguments = (event: JsonObject): ChatStreamChunk[] => {
    const argumentsText = nonEmptyString(event.delta);
    if (argumentsText === undefined) return [];
    const chunks: ChatStreamChunk[] = [];
    const call = itemFor(event, 'function_call', chunks);
    if (call.given || call.done) {
      const text = message('{0} sent more of a tool call that was complete.', endpointName(endpoint));
      throw new LLMError('LLM_BAD_RESPONSE', text);
    }
    call.pieces.push(argumentsText);
    return [...chunks, { toolCallDelta: { index: call.index, argumentsText }, done: false }];
  };

  const settle = (item: StreamedItem, final: ResponsesOutputItem, raw: unknown): ChatStreamChunk[] => {
    const chunks: ChatStreamChunk[] = [];
    if (item.done) return chunks;
    item.done = true;
    if (item.type === 'message') {
      const all = responsesOutputItemText(final.content);
      const streamed = item.pieces.join('');
      if (all.startsWith(streamed)) addText(item, all.slice(streamed.length), chunks);
      item.phase ??= final.phase;
    } else if (item.type === 'reasoning') {
      const parts = (final.summary?.length ? final.summary : final.content) ?? [];
      if (item.emitted === undefined)
        for (const [at, part] of parts.entries()) think(item, at, responsesOutputItemText([part]), chunks);
      item.stored = isObject(raw) ? resendableReasoningItem(raw) : undefined;
    } else if (item.type === 'function_call') {
      item.id ??= final.call_id;
      item.name ??= final.name;
      item.whole = final.argumentsText;
      item.unfinished = final.status === 'incomplete';
    }
    return chunks;
  };

  const readDone = (event: JsonObject): ChatStreamChunk[] => {
    const final = parseResponsesOutputItem(event.item);
    const { type } = toStreamedItem(final, 0);
    let known = itemOf({ output_index: event.output_index, item_id: final.id }, type);
    if (known?.type === 'function_call' && known.done && known.id !== final.call_id) known = undefined; // one index for all items
    const chunks = known ? [] : begin(event.output_index, final.id, final);
    return [...chunks, ...settle(known ?? items.at(-1)!, final, event.item), ...giveCalls(false)];
  };

  /**
   * Reads the complete answer, which repeats the stream or replaces a missing stream. Known items are matched by order within their type,
   * because ids and indices may differ. An additional call is accepted; an additional message may be a split repetition and is ignored.
   */
  const readOutput = (output: readonly unknown[]): ChatStreamChunk[] => {
    const itemsByType = {
      message: [] as StreamedItem[],
      reasoning: [] as StreamedItem[],
      function_call: [] as StreamedItem[],
      other: [] as StreamedItem[],
    };
    for (const item of items) itemsByType[item.type].push(item);
    const seen = { message: 0, reasoning: 0, function_call: 0, other: 0 };
    return output.flatMap((raw): ChatStreamChunk[] => {
      const final = parseResponsesOutputItem(raw);
      const { type } = toStreamedItem(final, 0);
      const known = itemsByType[type][seen[type]++];
      if (known) return settle(known, final, raw);
      if (itemsByType[type].length > 0 && type !== 'function_call') return [];
      const chunks = begin(undefined, final.id, final);
      return [...chunks, ...settle(items.at(-1)!, final, raw)];
    });
  };

  const giveCalls = (atEnd: boolean): ChatStreamChunk[] => {
    const chunks: ChatStreamChunk[] = [];
    for (; given < calls.length; given++) {
      const call = calls[given]!;
      if (!atEnd && !(call.done && call !== items.at(-1))) break; // calls are emitted in order
      call.given = true;
      const toolCall = { id: idFor(call.id), name: toToolName(call.name ?? 'unknown'), ...parseItemArguments(call) };
      chunks.push({ toolCall, done: false });
    }
    return chunks;
  };

  const readBeginning = (event: JsonObject): ChatStreamChunk[] => {
    const response = isObject(event.response) ? event.response : {};
    const id = nonEmptyString(response.id);
    if (responseId !== undefined && id !== undefined && id !== responseId) throw secondAnswerError(endpoint);
    responseId ??= id;
    begun = true;
    model = nonEmptyString(response.model) ?? model;
    return [{ done: false, ...(model && { model }) }];
  };

  const readEnd = (event: JsonObject): ChatStreamChunk[] => {
    const response = responseEndSchema.parse(isObject(event.response) ? event.response : {});
    const named = String(event.type).slice('response.'.length);
    const status = response.status ?? (named === 'done' ? 'completed' : named);
    model = response.model ?? model;
    usage = toUsage(response.usage);
    begun = true;
    if (status === 'failed' || isReportedError(response.error))
      throw streamErrorToError(endpoint, { error: response.error ?? {} });
    if (status === 'cancelled') {
      const text = message('{0} canceled its answer.', endpointName(endpoint));
      throw new LLMError('LLM_INCOMPLETE', text, { retryable: true });
    }
    if (status !== 'completed' && status !== 'incomplete') {
      const text = message(
        '{0} ended its answer early: {1}',
        endpointName(endpoint),
        redact(htmlToPlainText(status), endpoint.secrets),
      );
      throw new LLMError('LLM_INCOMPLETE', text, { retryable: true });
    }
    const chunks = readOutput(response.output);
    ending = status === 'completed' ? {} : incomplete(response.incomplete_details.reason);
    return chunks;
  };

  const readEvent = (event: unknown): ChatStreamChunk[] => {
    if (!isObject(event)) return [];
    first ??= event;
    if (event.type === 'error' || isReportedError(event.error)) throw streamErrorToError(endpoint, event);
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return readText(event);
      case 'response.function_call_arguments.delta':
        return readArguments(event);
      case 'response.reasoning_summary_text.delta':
        return readThinking(event, 'summary');
      case 'response.reasoning_text.delta':
        return readThinking(event, 'text');
      case 'response.output_item.added': {
        const item = parseResponsesOutputItem(event.item);
        return begin(event.output_index, item.id, item);
      }
      case 'response.output_item.done':
        return readDone(event);
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return readBeginning(event);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
      case 'response.done':
        return readEnd(event);
      default:
        if (!String(event.type).startsWith('response.') && isErrorObject(event))
          throw streamErrorToError(endpoint, event);
        return [{ done: false }]; // repeated part or unknown event: a sign of life
    }
  };

  return {
    get finished() {
      return ending !== undefined;
    },
    get over() {
      return ending !== undefined;
    },

    read: (event, whole = false) => readEvent(whole ? asEvent(event) : event),

    end() {
      if (ending === undefined)
        throw begun || !first ? incompleteAnswerError(endpoint) : invalidAnswerError(endpoint, first);
      const { early, message } = ending;
      const chunks = early ? [] : giveCalls(true);
      const native = toResponsesProviderMetadata(provider, resendableResponsesItems(items));
      chunks.push({
        done: true,
        finishReason: early ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
        ...(message && { finishMessage: redact(htmlToPlainText(message), endpoint.secrets) }),
        ...usage,
        ...(model && { model }),
        ...(native && { native }),
      });
      return chunks;
    },
  };
}

function asEvent(answer: unknown): unknown {
  if (!isObject(answer) || !Array.isArray(answer.output)) return answer;
  return { type: 'response.done', response: answer };
}

function incomplete(reason: string | undefined): { early: FinishReason; message?: string } {
  if (reason === 'content_filter') return { early: 'content_filter' };
  if (reason === undefined || /max|length|token/.test(reason)) return { early: 'length' };
  return { early: 'error', message: reason };
}
