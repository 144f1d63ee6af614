import * as z from 'zod';
import type { TokenUsage, ToolCall } from '../../protocol/content/messages.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { message } from '../../protocol/text/l10n.ts';
import { createToolCallIdAllocator } from '../core/callIds.ts';
import type { ChatStreamChunk } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { createToolNameMapping } from '../core/wireToolNames.ts';
import { finishReasonOf } from '../messages/finishReason.ts';
import { parseToolArguments, toolArgumentsToText } from '../messages/parseArguments.ts';
import { htmlToPlainText, isErrorObject } from '../transport/errorBody.ts';
import { type Endpoint, endpointName, streamErrorToError } from '../transport/providerErrors.ts';
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
import {
  type AnthropicReplyBlock,
  type AnthropicToolUseBlock,
  resendableAnthropicBlocks,
  toAnthropicReplyBlock,
} from './blocks.ts';
import { toAnthropicProviderMetadata } from './providerMetadata.ts';

const usageSchema = z.object({
  input_tokens: optionalCountSchema,
  output_tokens: optionalCountSchema,
  cache_read_input_tokens: optionalCountSchema,
  cache_creation_input_tokens: optionalCountSchema,
  output_tokens_details: z.object({ thinking_tokens: optionalCountSchema }).optional().catch(undefined),
});
type WireUsage = z.infer<typeof usageSchema>;

/** Merges usage counts. A later count replaces an earlier count and is never added. Absent and null counts are ignored. */
function merged(before: WireUsage | undefined, update: WireUsage | undefined): WireUsage | undefined {
  if (!update) return before;
  return { ...before, ...Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined)) };
}

/** Converts Anthropic's usage. `input_tokens` excludes tokens read from the cache or written to the cache. */
function toUsage(usage: WireUsage | undefined): { usage?: TokenUsage } {
  if (!usage) return {};
  const { cache_read_input_tokens: cachedTokens, cache_creation_input_tokens: cacheWriteTokens } = usage;
  const thinkingTokens = usage.output_tokens_details?.thinking_tokens;
  const promptTokens = (usage.input_tokens ?? 0) + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
  const completionTokens = usage.output_tokens ?? 0;
  return {
    usage: {
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
      ...(cachedTokens !== undefined && { cachedTokens }),
      ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
      ...(thinkingTokens !== undefined && { thinkingTokens }),
    },
  };
}

interface AnthropicReaderOptions {
  endpoint: Endpoint;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  takenIds?: ReadonlySet<string>;
}

/**
 * Creates a reader of Anthropic's stream. A `toolCall` chunk is emitted when its block has stopped and another has begun, else at the end.
 * A call cut by `max_tokens` looks complete (an empty call is even valid) and is never emitted.
 */
export function createAnthropicReader({ endpoint, tools, takenIds = new Set() }: AnthropicReaderOptions): ReplyReader {
  const toToolName = createToolNameMapping(tools);
  const idFor = createToolCallIdAllocator(takenIds);
  const blocks: AnthropicReplyBlock[] = [];
  const byIndex = new Map<unknown, AnthropicReplyBlock>();
  const calls: AnthropicToolUseBlock[] = [];
  let usage: WireUsage | undefined;
  let model: string | undefined;
  let stopReason: string | undefined;
  let explanation: string | undefined;
  let started = false;
  let begun = false;
  let first: JsonObject | undefined;
  let over = false;

  const beginBlock = (index: unknown, content: JsonObject): ChatStreamChunk[] => {
    const block = toAnthropicReplyBlock(content, calls.length);
    blocks.push(block);
    byIndex.set(index, block); // a repeated index starts a new block: some gateways send 0 for all
    const chunks = giveCalls(false);
    if (block.type === 'tool_use') {
      calls.push(block);
      const begins = { index: block.index, ...(block.id && { id: block.id }), name: toToolName(block.name) };
      return [...chunks, { toolCallDelta: begins, done: false }];
    }
    return [...chunks, ...textChunks(block, content)];
  };

  const textChunks = (block: AnthropicReplyBlock, { text, thinking, signature }: JsonObject): ChatStreamChunk[] => {
    if (block.type === 'text' && typeof text === 'string' && text !== '') {
      block.length += text.length;
      return [{ content: text, done: false }];
    }
    if (block.type !== 'thinking') return [];
    block.content.signature = nonEmptyString(signature) ?? block.content.signature;
    if (typeof thinking !== 'string' || thinking === '') return [];
    block.content.thinking += thinking;
    return [{ thinking, done: false }];
  };

  const blockAt = (index: unknown) => byIndex.get(index) ?? (index === undefined ? blocks.at(-1) : undefined);

  const readDelta = (index: unknown, delta: JsonObject): ChatStreamChunk[] => {
    let block = blockAt(index);
    const chunks: ChatStreamChunk[] = [];
    const kind = delta.type === 'text_delta' ? 'text' : delta.type === 'thinking_delta' ? 'thinking' : undefined;
    if (!block && kind) {
      chunks.push(...beginBlock(index, { type: kind })); // some gateways omit the start event
      block = byIndex.get(index)!;
    }
    if (delta.type !== 'input_json_delta') return block ? [...chunks, ...textChunks(block, delta)] : chunks;
    const argumentsText = nonEmptyString(delta.partial_json);
    if (argumentsText === undefined || block?.type === 'other') return chunks;
    if (block?.type !== 'tool_use' || block.given) {
      const text = message('{0} sent arguments that belong to no tool call.', endpointName(endpoint));
      throw new LLMError('LLM_BAD_RESPONSE', text);
    }
    block.pieces.push(argumentsText);
    return [{ toolCallDelta: { index: block.index, argumentsText }, done: false }];
  };

  const giveCalls = (atEnd: boolean): ChatStreamChunk[] => {
    const chunks: ChatStreamChunk[] = [];
    for (const call of calls) {
      if (call.given) continue;
      if (!atEnd && !(call.stopped && call !== blocks.at(-1))) break; // calls are emitted in order
      call.given = true;
      chunks.push({ toolCall: toCall(call), done: false });
    }
    return chunks;
  };

  const toCall = (call: AnthropicToolUseBlock): ToolCall => {
    const text = call.pieces.join('');
    const argumentsText = text.trim() === '' ? toolArgumentsToText(call.input) : withoutEmptyStart(text);
    return { id: idFor(call.id), name: toToolName(call.name || 'unknown'), ...parseToolArguments(argumentsText) };
  };

  const readEvent = (event: unknown): ChatStreamChunk[] => {
    if (!isObject(event)) return [];
    first ??= event;
    if (event.type === 'error' || isReportedError(event.error)) throw streamErrorToError(endpoint, event);
    switch (event.type) {
      case 'message_start': {
        const { message } = startSchema.parse(event);
        if (started) throw secondAnswerError(endpoint);
        started = begun = true;
        model = message.model ?? model;
        usage = merged(usage, message.usage);
        return [{ done: false, ...toUsage(usage), ...(model && { model }) }]; // available even if the reply is stopped
      }
      case 'content_block_start':
        begun = true;
        return beginBlock(event.index, isObject(event.content_block) ? event.content_block : {});
      case 'content_block_delta':
        begun = true;
        return isObject(event.delta) ? readDelta(event.index, event.delta) : [];
      case 'content_block_stop': {
        const block = blockAt(event.index);
        if (block?.type !== 'tool_use') return [];
        block.stopped = true;
        return giveCalls(false);
      }
      case 'message_delta': {
        const { delta, usage: update } = deltaSchema.parse(event);
        stopReason = delta.stop_reason ?? stopReason;
        explanation = delta.stop_details.explanation ?? explanation;
        usage = merged(usage, update);
        return [];
      }
      case 'message_stop':
        over = true;
        return [];
      default:
        if (isErrorObject(event)) throw streamErrorToError(endpoint, event);
        return [{ done: false }]; // ping or unknown event: a sign of life
    }
  };

  return {
    get finished() {
      return stopReason !== undefined;
    },
    get over() {
      return over;
    },

    read: (event, whole = false) => (whole ? eventsOf(event).flatMap(readEvent) : readEvent(event)),

    end(marked) {
      if (!marked && !over && stopReason === undefined) throw incompleteAnswerError(endpoint);
      if (!begun) throw invalidAnswerError(endpoint, first);
      const end = endOfTurn(stopReason);
      const chunks = end === 'stop' ? giveCalls(true) : [];
      const finishReason = end === 'stop' && calls.length > 0 ? 'tool_calls' : end; // `tool_use` without a call is a stop
      const native = toAnthropicProviderMetadata(resendableAnthropicBlocks(blocks));
      const message = end === 'content_filter' ? explanation : end === 'error' ? stopReason : undefined;
      chunks.push({
        done: true,
        finishReason,
        ...(message && { finishMessage: redact(htmlToPlainText(message), endpoint.secrets) }),
        ...toUsage(usage),
        ...(model && { model }),
        ...(native && { native }),
      });
      return chunks;
    },
  };
}

const startSchema = z.object({
  message: z.object({ model: optionalNonEmptyStringSchema, usage: usageSchema.optional().catch(undefined) }).catch({}),
});
const deltaSchema = z.object({
  delta: z
    .object({
      stop_reason: optionalNonEmptyStringSchema,
      stop_details: z.object({ explanation: optionalNonEmptyStringSchema }).catch({}),
    })
    .catch({ stop_details: {} }),
  usage: usageSchema.optional().catch(undefined),
});

/** Removes the empty object of `{}{"path":…}`: LiteLLM sends the empty initial `input` as a separate piece. */
const withoutEmptyStart = (text: string) => text.replace(/^\s*\{\s*\}(?=\s*\{)/, '');

/** Maps a stop reason. `pause_turn` and `compaction` belong to features that we never request. Gateways also send OpenAI's reasons. */
const endOfTurn = (stopReason = 'stop') =>
  /^(pause_turn|compaction)$/.test(stopReason) ? 'stop' : finishReasonOf(stopReason);

function eventsOf(answer: unknown): unknown[] {
  if (!isObject(answer) || !Array.isArray(answer.content)) return [answer];
  const blocks = answer.content.flatMap((content_block, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ]);
  return [{ type: 'message_start', message: answer }, ...blocks, { type: 'message_delta', delta: answer }];
}
