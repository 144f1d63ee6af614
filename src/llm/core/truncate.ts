import type { ToolCall, ToolResult } from '../../protocol/content/messages.ts';
import { truncateMiddle } from '../../protocol/text/shorten.ts';

/** Truncates the long texts inside a result. A result that is long for another reason becomes text. */
export function truncateToolResult(
  result: ToolResult,
  most: number,
  cut = (text: string): string => truncateMiddle(text, most),
): ToolResult {
  if (result.content.length <= most) return result;
  const inside = cutInside(result.content, cut);
  return { ...result, content: inside.length <= most * 2 ? inside : cut(inside) };
}

/**
 * Truncates the long texts inside the arguments of a call longer than `most` characters. The arguments remain an object with the same
 * names. Other long values become text, and excess names are dropped from the end.
 */
export function truncateToolCall(call: ToolCall, most: number): ToolCall {
  const { arguments: args, malformed } = call;
  const isLong = JSON.stringify(args).length > most;
  if (!isLong && (malformed?.length ?? 0) <= most) return call;
  const text = malformed === undefined ? {} : { malformed: truncateMiddle(malformed, most) };
  return { ...call, ...(isLong && { arguments: excerptOfObject(args, most) }), ...text, cut: true };
}

function excerptOfObject(value: Record<string, unknown>, most: number): Record<string, unknown> {
  const inside = JSON.parse(cutInside(JSON.stringify(value), (text) => truncateMiddle(text, most))) as typeof value;
  let budget = most * 2;
  if (JSON.stringify(inside).length <= budget) return inside;
  const entries = Object.entries(inside);
  const share = Math.max(40, Math.floor(most / entries.length));
  const short = entries.map(([name, one]): [string, unknown] => {
    const text = JSON.stringify(one);
    return [name, text.length <= share ? one : truncateMiddle(text, share)];
  });
  const fitting = short.filter((entry) => {
    budget -= JSON.stringify(entry).length;
    return budget >= 0;
  });
  const left = short.length - fitting.length;
  return Object.fromEntries([...fitting, ...(left > 0 ? [['…', `${left} more left out`]] : [])]);
}

function cutInside(content: string, cut: (text: string) => string): string {
  try {
    return JSON.stringify(JSON.parse(content, (_, value) => (typeof value === 'string' ? cut(value) : value)));
  } catch {
    return content;
  }
}
