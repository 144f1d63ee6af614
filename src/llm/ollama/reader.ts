import type { TokenUsage, ToolCall } from '../../protocol/messages.ts';
import type { ToolDefinition } from '../../protocol/tools.ts';
import { parseArguments } from '../arguments.ts';
import { callLimit, createCallIds } from '../callIds.ts';
import type { ChatStreamChunk, FinishReason } from '../client.ts';
import { LLMError } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import { fromWireNames } from '../names.ts';
import { type Endpoint, errorInStream, nameOf } from '../providerErrors.ts';
import { provider } from './wire.ts';

export interface ReaderOptions {
  endpoint: Endpoint;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  /** Ids of earlier calls in the conversation. */
  takenIds?: ReadonlySet<string>;
  /** A sentence about the prompt, once its number of tokens is known. */
  check?(promptTokens: number): string | undefined;
}

/** Turns the objects of one reply into chunks, in order. Pure but for the ids it makes up. Throws only `LLMError`. */
export interface OllamaReader {
  read(event: unknown): ChatStreamChunk[];
  /** The reply is over. Without its `done` line it was cut: `LLM_INCOMPLETE`. */
  end(): ChatStreamChunk[];
  /** The `done` line is here; nothing follows it. */
  readonly finished: boolean;
}

/** Calls come whole, and are given at the `done` line: a reply that broke off before it has none. */
export function createOllamaReader({ endpoint, tools, takenIds = new Set(), check }: ReaderOptions): OllamaReader {
  const toToolName = fromWireNames(tools);
  const newId = createCallIds(takenIds);
  const calls: ToolCall[] = [];
  let said = false;
  let thought = false;
  let last: JsonObject | undefined;
  let model: string | undefined;

  const readCall = (one: unknown): ChatStreamChunk[] => {
    const wanted = isObject(one) && isObject(one.function) ? one.function : undefined;
    if (!wanted || calls.length >= callLimit) return [];
    const id = newId(isObject(one) ? text(one.id) : undefined); // newer servers have ids
    const argumentsText = textOfArguments(wanted.arguments);
    const call = { id, name: toToolName(text(wanted.name) ?? 'unknown'), ...parseArguments(argumentsText) };
    calls.push(call);
    return [{ toolCallDelta: { index: calls.length - 1, id, name: call.name, argumentsText }, done: false }];
  };

  return {
    get finished() {
      return last !== undefined;
    },

    read(event) {
      if (!isObject(event) || last) return [];
      if (event.error !== undefined && event.error !== null && event.error !== '') throw errorInStream(endpoint, event);
      model = text(event.model) ?? model;
      const message = isObject(event.message) ? event.message : {};
      const thinking = text(message.thinking);
      const content = text(message.content);
      said ||= content !== undefined;
      thought ||= thinking !== undefined;
      if (event.done === true) last = event;
      return [
        ...(thinking ? [{ thinking, done: false }] : []),
        ...(content ? [{ content, done: false }] : []),
        ...(Array.isArray(message.tool_calls) ? message.tool_calls.flatMap(readCall) : []),
      ];
    },

    end() {
      if (!last) {
        const message = `The answer of ${nameOf(endpoint)} broke off before its end.`;
        throw new LLMError('LLM_INCOMPLETE', message, { retryable: true });
      }
      const finishReason = finishOf(last.done_reason, calls.length, said);
      const given = finishReason === 'tool_calls' ? calls : []; // a call at the limit may be half of what was meant
      const usage = usageIn(last);
      const warning = usage && check?.(usage.promptTokens);
      return [
        ...given.map((toolCall) => ({ toolCall, done: false })),
        ...(warning ? [{ warning, done: false }] : []),
        {
          done: true,
          finishReason,
          ...(usage && { usage }),
          ...(model && { model }),
          ...(thought && { native: { provider, content: {} } }), // marks the thinking as one to give back
        },
      ];
    },
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** An object; from some proxies its text. Anything else is told to the model as malformed. */
function textOfArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Ollama says `stop` after calls too; `load` and `unload` answer an empty conversation. Very old servers say nothing. */
function finishOf(reason: unknown, calls: number, said: boolean): FinishReason {
  if (reason === 'length') return 'length';
  if (calls > 0) return 'tool_calls';
  return reason === undefined || reason === 'stop' || said ? 'stop' : 'error';
}

/** A missing `prompt_eval_count` means that the whole prompt was cached (old servers). */
function usageIn(event: JsonObject): TokenUsage | undefined {
  const prompt = count(event.prompt_eval_count);
  const completion = count(event.eval_count);
  if (prompt === undefined && completion === undefined) return undefined;
  const promptTokens = prompt ?? 0;
  const completionTokens = completion ?? 0;
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
