import type { Message } from '../../../protocol/content/messages.ts';
import { truncateMiddle } from '../../../protocol/text/shorten.ts';
import { truncateToolResult } from '../../core/truncate.ts';

interface TruncatedMessages {
  messages: Message[];
  texts: number;
  characters: number;
}

/**
 * Truncates tool results and earlier user messages to `most` characters each, retaining head and tail. The newest user message is never
 * truncated. The truncation is deterministic, so that evaluated tokens stay valid.
 */
export function truncateLongMessages(messages: readonly Message[], most: number): TruncatedMessages {
  let texts = 0;
  let characters = 0;
  const cut = (text: string): string => {
    if (text.length <= most) return text;
    texts++;
    characters += text.length - most;
    return truncateMiddle(text, most);
  };
  const newest = messages.findLastIndex((message) => message.role === 'user');
  const shortened = messages.map((message, index): Message => {
    if (message.role === 'user' && index !== newest) return { ...message, content: cut(message.content) };
    if (message.role !== 'tool') return message;
    return { ...message, toolResults: message.toolResults.map((result) => truncateToolResult(result, most, cut)) };
  });
  return { messages: shortened, texts, characters };
}
