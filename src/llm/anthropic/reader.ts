import type { TokenUsage, ToolCall } from '../../protocol/messages.ts';
import type { ToolDefinition } from '../../protocol/tools.ts';
import { parseArguments } from '../arguments.ts';
import { callLimit, createCallIds } from '../callIds.ts';
import type { ChatStreamChunk, FinishReason } from '../client.ts';
import { LLMError } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import { fromWireNames } from '../names.ts';
import { type Endpoint, errorInStream, nameOf } from '../providerErrors.ts';
import { type NativeBlock, toNative } from './native.ts';

export interface ReaderOptions {
  endpoint: Endpoint;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  /** Ids of earlier calls in the conversation. */
  takenIds?: ReadonlySet<string>;
}

/** Turns the events of one reply into chunks, in order. Pure but for the ids it makes up. Throws only `LLMError`. */
export interface AnthropicReader {
  /** One parsed event. */
  read(event: unknown): ChatStreamChunk[];
  /**
   * The reply is over, by its last event or by the end of the body (not `marked`). Without that event and without a
   * stop reason it was cut: `LLM_INCOMPLETE`.
   */
  end(marked: boolean): ChatStreamChunk[];
  /** The stop reason is here; only the last event is missing. */
  readonly finished: boolean;
  /** The last event is here. */
  readonly over: boolean;
}

interface CallBlock {
  type: 'tool_use';
  place: number;
  id: string;
  name: string;
  /** What the block began with: `{}` and the rest in pieces, or (some gateways, whole answers) everything. */
  input: JsonObject;
  pieces: string[];
  stopped: boolean;
  given: boolean;
}

type Block =
  | CallBlock
  | { type: 'text'; length: number }
  | { type: 'thinking'; content: JsonObject & { type: 'thinking' } }
  | { type: 'redacted_thinking'; content: JsonObject & { type: 'redacted_thinking' } }
  /** Tools of the provider's own and what else we did not ask for. */
  | { type: 'other' };

/**
 * A `toolCall` chunk comes when its block has stopped and another has begun, else at the end of the reply: a call at
 * which `max_tokens` struck looks complete too, an empty one even valid, and is not given at all.
 */
export function createAnthropicReader({ endpoint, tools, takenIds = new Set() }: ReaderOptions): AnthropicReader {
  const toToolName = fromWireNames(tools);
  const idFor = createCallIds(takenIds);
  const blocks: Block[] = [];
  const byIndex = new Map<unknown, Block>();
  const calls: CallBlock[] = [];
  let usage: JsonObject | undefined;
  let model: string | undefined;
  let stopReason: string | undefined;
  let begun = false;
  let over = false;
  let said = false;

  const beginBlock = (index: unknown, content: JsonObject): ChatStreamChunk[] => {
    const block = toBlock(content, calls.length);
    blocks.push(block);
    byIndex.set(index, block); // an index used before is another block now: some gateways say 0 for all
    const chunks = giveCalls(false);
    if (block.type === 'tool_use') {
      calls.push(block);
      if (block.place >= callLimit) return chunks;
      const begins = { index: block.place, ...(block.id && { id: block.id }), name: toToolName(block.name) };
      return [...chunks, { toolCallDelta: begins, done: false }];
    }
    return [...chunks, ...textChunks(block, content)];
  };

  /** Text of a delta, or the little that some blocks begin with. */
  const textChunks = (block: Block, { text, thinking, signature }: JsonObject): ChatStreamChunk[] => {
    if (block.type === 'text' && isFilled(text)) {
      block.length += text.length;
      said ||= text.trim() !== '';
      return [{ content: text, done: false }];
    }
    if (block.type !== 'thinking') return [];
    if (isFilled(signature)) block.content.signature = signature;
    if (!isFilled(thinking)) return [];
    block.content.thinking += thinking;
    return [{ thinking, done: false }];
  };

  const blockAt = (index: unknown) => byIndex.get(index) ?? (index === undefined ? blocks.at(-1) : undefined);

  const readDelta = (index: unknown, delta: JsonObject): ChatStreamChunk[] => {
    let block = blockAt(index);
    const chunks: ChatStreamChunk[] = [];
    const kind = delta.type === 'text_delta' ? 'text' : delta.type === 'thinking_delta' ? 'thinking' : undefined;
    if (!block && kind) {
      chunks.push(...beginBlock(index, { type: kind })); // a gateway that leaves out the beginning
      block = byIndex.get(index)!;
    }
    if (delta.type !== 'input_json_delta') return block ? [...chunks, ...textChunks(block, delta)] : chunks;
    const argumentsText = delta.partial_json;
    if (!isFilled(argumentsText) || block?.type === 'other') return chunks;
    if (block?.type !== 'tool_use' || block.given) {
      throw new LLMError('LLM_BAD_RESPONSE', `${nameOf(endpoint)} sent arguments that belong to no tool call.`);
    }
    block.pieces.push(argumentsText);
    return block.place < callLimit ? [{ toolCallDelta: { index: block.place, argumentsText }, done: false }] : chunks;
  };

  const giveCalls = (atEnd: boolean): ChatStreamChunk[] => {
    const chunks: ChatStreamChunk[] = [];
    for (const call of calls.slice(0, callLimit)) {
      if (call.given) continue;
      if (!atEnd && !(call.stopped && call !== blocks.at(-1))) break; // in the order asked
      call.given = true;
      chunks.push({ toolCall: toCall(call), done: false });
    }
    return chunks;
  };

  const toCall = (call: CallBlock): ToolCall => {
    const text = call.pieces.join('');
    const argumentsText = text.trim() === '' ? JSON.stringify(call.input) : withoutEmptyStart(text);
    return { id: idFor(call.id), name: toToolName(call.name || 'unknown'), ...parseArguments(argumentsText) };
  };

  return {
    get finished() {
      return stopReason !== undefined;
    },
    get over() {
      return over;
    },

    read(event) {
      if (!isObject(event)) return [];
      if (event.type === 'error' || isFilled(event.error) || isObject(event.error))
        throw errorInStream(endpoint, event);
      switch (event.type) {
        case 'message_start': {
          const message = isObject(event.message) ? event.message : {};
          begun = true;
          model = isFilled(message.model) ? message.model : model;
          usage = merged(usage, message.usage);
          return [{ done: false, ...toUsage(usage), ...(model && { model }) }]; // known even when the reply is stopped
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
        case 'message_delta':
          if (isObject(event.delta) && isFilled(event.delta.stop_reason)) stopReason = event.delta.stop_reason;
          usage = merged(usage, event.usage);
          return [];
        case 'message_stop':
          over = true;
          return [];
        default:
          return [{ done: false }]; // a ping, or an event of the future: alive
      }
    },

    end(marked) {
      if (!marked && !over && stopReason === undefined) {
        const message = `The answer of ${nameOf(endpoint)} broke off before its end.`;
        throw new LLMError('LLM_INCOMPLETE', message, { retryable: true });
      }
      if (!begun) {
        const message = `${nameOf(endpoint)} sent something that is not an answer of a model.`;
        throw new LLMError('LLM_BAD_RESPONSE', message);
      }
      const early = earlyEnd(stopReason);
      const chunks = early ? [] : giveCalls(true);
      const finishReason = early ?? (calls.length > 0 ? 'tool_calls' : usualEnd(stopReason, said));
      const native = toNative(keptBlocks(blocks));
      return [
        ...chunks,
        { done: true, finishReason, ...toUsage(usage), ...(model && { model }), ...(native && { native }) },
      ];
    },
  };
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';

function toBlock(content: JsonObject, place: number): Block {
  switch (content.type) {
    case 'text':
      return { type: 'text', length: 0 };
    case 'thinking':
      return { type: 'thinking', content: { type: 'thinking', thinking: '', signature: '' } };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', content: { ...content, type: 'redacted_thinking' } };
    case 'tool_use': {
      const id = isFilled(content.id) ? content.id : '';
      const name = isFilled(content.name) ? content.name : '';
      const input = isObject(content.input) ? content.input : {};
      return { type: 'tool_use', place, id, name, input, pieces: [], stopped: false, given: false };
    }
    default:
      return { type: 'other' };
  }
}

/** `{}{"path":…}`: gateways that pass on the empty `input` of the beginning as a piece of its own (LiteLLM). */
const withoutEmptyStart = (text: string) => text.replace(/^\s*\{\s*\}(?=\s*\{)/, '');

/** What can be said again block by block; a reply with blocks we do not know or did not give loses its thinking. */
function keptBlocks(blocks: readonly Block[]): NativeBlock[] {
  const known = blocks.every((block) => block.type !== 'other' && (block.type !== 'tool_use' || block.given));
  if (!known) return [];
  return blocks.flatMap((block): NativeBlock[] => {
    if (block.type === 'tool_use') return [{ type: 'tool_use' }];
    if (block.type === 'text') return [{ type: 'text', length: block.length }];
    return block.type === 'other' ? [] : [block.content];
  });
}

/** Ends at which a call that looks whole may still be half of what was meant. */
function earlyEnd(stopReason: string | undefined): FinishReason | undefined {
  if (stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded') return 'length';
  return stopReason === 'refusal' ? 'content_filter' : undefined;
}

/** `tool_use` without any call is a stop: there is nothing to wait for. `pause_turn` comes from tools we never offer. */
function usualEnd(stopReason: string | undefined, said: boolean): FinishReason {
  const known = ['end_turn', 'stop_sequence', 'tool_use', 'pause_turn', 'compaction'];
  return said || stopReason === undefined || known.includes(stopReason) ? 'stop' : 'error';
}

/** Later counts stand in for earlier ones; they are never summed. Absent and null say nothing. */
function merged(before: JsonObject | undefined, usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return before;
  const told = Object.entries(usage).filter(([, value]) => value !== undefined && value !== null);
  return { ...before, ...Object.fromEntries(told) };
}

/** `input_tokens` counts only what was neither read from the cache nor written to it. */
function toUsage(usage: JsonObject | undefined): { usage?: TokenUsage } {
  if (!usage) return {};
  const cachedTokens = count(usage.cache_read_input_tokens);
  const cacheWriteTokens = count(usage.cache_creation_input_tokens);
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const thinkingTokens = count(details.thinking_tokens);
  const promptTokens = (count(usage.input_tokens) ?? 0) + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
  const completionTokens = count(usage.output_tokens) ?? 0;
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

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** A whole answer as the events in which it would have come; what is none stays as it is. */
export function eventsOf(answer: unknown): unknown[] {
  if (!isObject(answer) || !Array.isArray(answer.content)) return [answer];
  const blocks = answer.content.flatMap((content_block, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ]);
  return [{ type: 'message_start', message: answer }, ...blocks, { type: 'message_delta', delta: answer }];
}
