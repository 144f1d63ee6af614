import type { AssistantMessage, Message, ToolResult } from '../protocol/messages.ts';
import { failure, toToolResult } from '../protocol/tools.ts';

/** What was said, as every provider will take it. */
export type Said =
  | Extract<Message, { role: 'system' | 'user' }>
  /** `results[i]` answers `message.toolCalls[i]`. */
  | { role: 'assistant'; message: AssistantMessage; results: ToolResult[] };

/**
 * The history with what it lacks mended (a 400 would follow): every call has exactly one result, right after the
 * message with the calls and in the order asked, whatever the place it was kept in; results nobody asked for, second
 * results and assistant messages that say nothing are left out.
 */
export function repairHistory(messages: readonly Message[]): Said[] {
  return messages.flatMap((message, index): Said[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant') return [message];
    const calls = message.toolCalls ?? [];
    if (message.content === '' && calls.length === 0) return []; // stopped before its first word: refused when empty
    const given = resultsAfter(messages, index);
    const results = calls.map(({ id }) => given.get(id) ?? toToolResult(id, interrupted));
    return [{ role: 'assistant', message, results }];
  });
}

/** The results between an assistant message and the next one, by call; the first one given counts. */
function resultsAfter(messages: readonly Message[], index: number): Map<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (let at = index + 1; at < messages.length; at++) {
    const message = messages[at]!;
    if (message.role === 'assistant') break;
    if (message.role !== 'tool') continue;
    for (const result of message.toolResults) {
      if (!results.has(result.toolCallId)) results.set(result.toolCallId, result);
    }
  }
  return results;
}

const interrupted = failure('TOOL_INTERRUPTED', 'Stopped before there was a result; it may or may not have run.');

/** Half an emoji makes providers answer 400 ("no low surrogate"). */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** JSON data in which every string and every key is well-formed; the value itself when it is so already. */
export function wellFormedData<Data>(data: Data): Data {
  // JSON.stringify writes a lone surrogate, and only that, as an escape of this form.
  const text = JSON.stringify(data);
  if (!/\\ud[89a-f]/.test(text)) return data;
  return JSON.parse(text, (_, value) => {
    if (typeof value === 'string') return wellFormed(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), inner]));
  }) as Data;
}
