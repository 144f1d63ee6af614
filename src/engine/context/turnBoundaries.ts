import type { Message } from '../../protocol/content/messages.ts';
import { tokensOfMessages } from '../core/tokenCount.ts';

/** Returns the start of the last turns that fit into `budget` tokens: at least one turn, never between a call and its result. */
export function recentTurnsStart(messages: readonly Message[], budget: number): number {
  const asked = callPositions(messages);
  const open = new Set<string>(); // results after the boundary with calls before it
  let border = messages.length;
  let tokens = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    tokens += tokensOfMessages([message]);
    if (tokens > budget && border < messages.length) break;
    if (message.role === 'tool')
      for (const { toolCallId: id } of message.toolResults) if ((asked.get(id) ?? at) < at) open.add(id);
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) open.delete(id);
    if (message.role !== 'tool' && open.size === 0) border = at;
  }
  return border;
}

function callPositions(messages: readonly Message[]): Map<string, number> {
  const positions = new Map<string, number>();
  for (const [at, message] of messages.entries())
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) positions.set(id, at);
  return positions;
}
