import type { Message, ToolResult } from '../../src/protocol/content/messages.ts';

/** Message with a match. `in` lists the cards or the thinking to open for visibility, by position. */
export interface MessageSearchHit {
  place: number;
  cards: string[];
  thinking: boolean;
}

/**
 * Finds messages with the text, ignoring case: in text, thinking, arguments and results. A result counts for the message of its call.
 * Searches the run, because the page contains only the rendered part.
 */
export function findInMessages(
  messages: readonly Message[],
  results: ReadonlyMap<string, ToolResult>,
  query: string,
): MessageSearchHit[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return [];
  const has = (text: string | undefined): boolean => text?.toLowerCase().includes(wanted) ?? false;
  return messages.flatMap((message, place) => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant') return has(message.content) ? [{ place, cards: [], thinking: false }] : [];
    const cards = (message.toolCalls ?? []).flatMap(({ id, arguments: given }, at) =>
      has(textIn(given)) || has(textIn(results.get(id))) ? [`${place}:${at}`] : [],
    );
    const thinking = has(message.thinking);
    return has(message.content) || thinking || cards.length > 0 ? [{ place, cards, thinking }] : [];
  });
}

/** Displayed texts inside a value, without quotes and escapes. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textIn).join('\n');
}
