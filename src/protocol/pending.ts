import type { Message, ToolCall } from './messages.ts';

/** A call without a result is pending. Derived, never stored: a run reopened mid-question finds its own loose ends. */
export function pendingCalls(messages: readonly Message[]): ToolCall[] {
  const answered = new Set<string>();
  const calls: ToolCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') calls.push(...(message.toolCalls ?? []));
    if (message.role === 'tool') for (const result of message.toolResults) answered.add(result.toolCallId);
  }
  return calls.filter((call) => !answered.has(call.id));
}
