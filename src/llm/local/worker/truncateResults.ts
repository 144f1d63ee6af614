import type { Message } from '../../../protocol/content/messages.ts';
import { excerptOfResult, truncate } from '../../core/truncate.ts';

export interface Shortened {
  messages: Message[];
  /** How many texts were cut, and how many characters of them are not there any more. */
  texts: number;
  characters: number;
}

/**
 * The conversation with no tool result, and nothing the person said earlier, longer than `most` characters: head and
 * tail stay. The newest message of the person is theirs to shorten. The same cut every time, so that what the model has
 * read stays read.
 */
export function shorten(messages: readonly Message[], most: number): Shortened {
  let texts = 0;
  let characters = 0;
  const cut = (text: string): string => {
    if (text.length <= most) return text;
    texts++;
    characters += text.length - most;
    return truncate(text, most);
  };
  const newest = messages.findLastIndex((message) => message.role === 'user');
  const shortened = messages.map((message, index): Message => {
    if (message.role === 'user' && index !== newest) return { ...message, content: cut(message.content) };
    if (message.role !== 'tool') return message;
    return { ...message, toolResults: message.toolResults.map((result) => excerptOfResult(result, most, cut)) };
  });
  return { messages: shortened, texts, characters };
}
