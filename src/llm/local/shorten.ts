import type { Message, ToolResult } from '../../protocol/messages.ts';

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
    return ends(text, most);
  };
  const newest = messages.findLastIndex((message) => message.role === 'user');
  const shortened = messages.map((message, index): Message => {
    if (message.role === 'user' && index !== newest) return { ...message, content: cut(message.content) };
    if (message.role !== 'tool') return message;
    return { ...message, toolResults: message.toolResults.map((result) => shortResult(result, most, cut)) };
  });
  return { messages: shortened, texts, characters };
}

/** Long texts inside an outcome are cut where they stand; one that is long in other ways becomes text. */
function shortResult(result: ToolResult, most: number, cut: (text: string) => string): ToolResult {
  if (result.content.length <= most) return result;
  const inside = cutInside(result.content, cut);
  return { ...result, content: inside.length <= most * 2 ? inside : cut(inside) };
}

function cutInside(content: string, cut: (text: string) => string): string {
  try {
    return JSON.stringify(JSON.parse(content, (_, value) => (typeof value === 'string' ? cut(value) : value)));
  } catch {
    return content;
  }
}

function ends(text: string, most: number): string {
  const head = text.slice(0, Math.ceil(most * 0.6)).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(text.length - Math.floor(most * 0.4)).replace(/^[\udc00-\udfff]/, '');
  const left = (text.length - head.length - tail.length).toLocaleString('en-US');
  return `${head}\n… ${left} characters left out …\n${tail}`;
}
