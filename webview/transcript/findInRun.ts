import type { Message, ToolResult } from '../../src/protocol/content/messages.ts';

/** A message in which what is looked for is; `in`: what must be opened for it to be seen (a card, or the thinking), by place. */
export interface FoundText {
  place: number;
  cards: string[];
  thinking: boolean;
}

/**
 * The messages that hold these words, whatever their capitals, in order: in what was said, thought, asked of tools, and told by
 * them. A result belongs to the message that asked for it. The page has only what is near the person's eyes; this looks at the run.
 */
export function findIn(
  messages: readonly Message[],
  results: ReadonlyMap<string, ToolResult>,
  query: string,
): FoundText[] {
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

/** The texts in a value, one beside the other, as they are shown: no quotes, no escapes. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textIn).join('\n');
}
