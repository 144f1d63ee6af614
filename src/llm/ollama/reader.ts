import * as z from 'zod';
import type { TokenUsage, ToolCall } from '../../protocol/content/messages.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { createToolCallIdAllocator } from '../core/callIds.ts';
import type { ChatStreamChunk, FinishReason } from '../core/client.ts';
import { isObject } from '../core/json.ts';
import { createToolNameMapping } from '../core/wireToolNames.ts';
import { finishReasonOf } from '../messages/finishReason.ts';
import { parseToolArguments, toolArgumentsToText } from '../messages/parseArguments.ts';
import { isErrorObject } from '../transport/errorBody.ts';
import { type Endpoint, streamErrorToError } from '../transport/providerErrors.ts';
import { incompleteAnswerError, type ReplyReader } from '../transport/replyStream.ts';
import {
  isReportedError,
  nonEmptyString,
  optionalCountSchema,
  optionalNonEmptyStringSchema,
} from '../transport/wireFields.ts';
import { ollamaProviderId } from './wire.ts';

interface OllamaReaderOptions {
  endpoint: Endpoint;
  tools: readonly Pick<ToolDefinition, 'name'>[];
  takenIds?: ReadonlySet<string>;
  check?(promptTokens: number): LocalizableText | undefined;
}

/** Creates a reader. Calls are complete and emitted with the `done` line, the last line; an interrupted reply has no calls. */
export function createOllamaReader({ endpoint, tools, takenIds = new Set(), check }: OllamaReaderOptions): ReplyReader {
  const toToolName = createToolNameMapping(tools);
  const newId = createToolCallIdAllocator(takenIds);
  const calls: ToolCall[] = [];
  let thought = false;
  let last: z.infer<typeof lastSchema> | undefined;
  let model: string | undefined;

  const readCall = (one: unknown): ChatStreamChunk[] => {
    const { success, data } = callSchema.safeParse(one);
    if (!success) return [];
    const { name = 'unknown', arguments: given } = data.function;
    const id = newId(data.id);
    const argumentsText = toolArgumentsToText(given);
    const call = { id, name: toToolName(name), ...parseToolArguments(argumentsText) };
    calls.push(call);
    return [{ toolCallDelta: { index: calls.length - 1, id, name: call.name, argumentsText }, done: false }];
  };

  return {
    get finished() {
      return last !== undefined;
    },
    get over() {
      return last !== undefined;
    },

    read(event) {
      if (!isObject(event) || last) return [];
      const isLine = isObject(event.message) || event.done === true;
      if (isReportedError(event.error) || (!isLine && isErrorObject(event))) throw streamErrorToError(endpoint, event);
      model = nonEmptyString(event.model) ?? model;
      const message = isObject(event.message) ? event.message : {};
      const thinking = nonEmptyString(message.thinking);
      const content = nonEmptyString(message.content);
      thought ||= thinking !== undefined;
      if (event.done === true) last = lastSchema.parse(event);
      return [
        ...(thinking ? [{ thinking, done: false }] : []),
        ...(content ? [{ content, done: false }] : []),
        ...(Array.isArray(message.tool_calls) ? message.tool_calls.flatMap(readCall) : []),
      ];
    },

    end() {
      if (!last) throw incompleteAnswerError(endpoint);
      const finishReason = finishOf(last.done_reason, calls.length);
      const given = finishReason === 'tool_calls' ? calls : []; // a call at the limit may be incomplete
      const usage = usageIn(last);
      const warning = usage && check?.(usage.promptTokens);
      return [
        ...given.map((toolCall) => ({ toolCall, done: false })),
        ...(warning ? [{ warning, done: false }] : []),
        {
          done: true,
          finishReason,
          ...(finishReason === 'error' && last.done_reason && { finishMessage: last.done_reason }),
          ...(usage && { usage }),
          ...(model && { model }),
          ...(thought && { native: { provider: ollamaProviderId, content: {} } }), // marks the thinking as returnable
        },
      ];
    },
  };
}

const callSchema = z.object({
  id: optionalNonEmptyStringSchema, // newer servers only
  function: z.object({ name: optionalNonEmptyStringSchema, arguments: z.unknown().optional() }),
});
const lastSchema = z.object({
  done_reason: optionalNonEmptyStringSchema,
  prompt_eval_count: optionalCountSchema,
  eval_count: optionalCountSchema,
});

/** Maps the end. Ollama reports `stop` even after calls; very old servers report nothing. */
function finishOf(reason: string | undefined, calls: number): FinishReason {
  const end = finishReasonOf(reason ?? 'stop');
  return end === 'stop' && calls > 0 ? 'tool_calls' : end;
}

/** Converts usage. A missing `prompt_eval_count` means a fully cached prompt (old servers). */
function usageIn({
  prompt_eval_count: prompt,
  eval_count: completion,
}: z.infer<typeof lastSchema>): TokenUsage | undefined {
  if (prompt === undefined && completion === undefined) return undefined;
  const promptTokens = prompt ?? 0;
  const completionTokens = completion ?? 0;
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}
