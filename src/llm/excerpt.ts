import type { ToolResult } from '../protocol/messages.ts';

/** Head and tail of a text that is longer than `most` characters, with what is missing between them; else the text. */
export function excerpt(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, Math.ceil(most * 0.6)).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(text.length - Math.floor(most * 0.4)).replace(/^[\udc00-\udfff]/, '');
  const left = (text.length - head.length - tail.length).toLocaleString('en-US');
  return `${head}\n… ${left} characters left out …\n${tail}`;
}

/** A result with its long texts cut where they stand; one that is long in other ways becomes text. */
export function excerptOfResult(
  result: ToolResult,
  most: number,
  cut = (text: string): string => excerpt(text, most),
): ToolResult {
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
