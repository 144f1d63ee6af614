import { parseJsonToDepth } from '../../protocol/values/jsonText.ts';

// Limits that a text of a repository must meet before a parser reads the text. One pass without recursion checks all limits: a parser
// recurses for each bracket, and a stack overflow may end the whole process.

/** Maximum size of a parsed file in bytes (or characters). */
export const maxJsonBytes = 256 * 1024;
export const maxJsonDepth = 50;

/** Reason not to parse a text, as a sentence, and the position in characters; undefined if the text can be parsed. */
export type ParseProblem = { message: string; at: number } | undefined;

/** Maximum characters of JSON from a model or a tool; other limits bound the size earlier. */
export const maxJsonAnswerLength = 5_000_000;
export const jsonTooLargeReason = `The file is larger than ${maxJsonBytes / 1024} KiB.`;
export const jsonTooDeepReason = `Lists and maps are nested more than ${maxJsonDepth} levels deep here.`;

const tooLongReason = (most: number): string =>
  most === maxJsonBytes ? jsonTooLargeReason : `It is longer than ${most} characters.`;

/**
 * Checks JSON, with or without comments. Closing brackets without an opening bracket are ignored, like in a parser that recovers from
 * errors; a string ends at the end of its line.
 */
export function checkJsonLimits(text: string, most = maxJsonBytes): ParseProblem {
  if (text.length > most) return { message: tooLongReason(most), at: 0 };
  const open: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') at = endOfText(text, at);
    else if (character === '/') at = endOfComment(text, at);
    else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']');
      if (open.length > maxJsonDepth) return { message: jsonTooDeepReason, at };
    } else if (character === open.at(-1)) open.pop();
  }
  return undefined;
}

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"' || character === '\n' || character === '\r') return at;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  const next = text[start + 1];
  if (next === '/') {
    let at = start + 2;
    while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++;
    return at;
  }
  if (next !== '*') return start;
  const end = text.indexOf('*/', start + 2);
  return end < 0 ? text.length : end + 1;
}

/** Parses JSON of a file, or of a model or a tool (`most` characters). Throws `SyntaxError` with a sentence for the user. */
export function parseLimitedJson(text: string, most = maxJsonBytes): unknown {
  if (text.length > most) throw new SyntaxError(tooLongReason(most));
  return parseJsonToDepth(text, maxJsonDepth, jsonTooDeepReason);
}

/** Tests if a value exceeds the limits of size and depth. Each reference to a shared value counts; the walk stops at the limits. */
export function exceedsValueLimits(value: unknown, most = { values: 50_000, characters: 4 * maxJsonBytes }): boolean {
  let { values, characters } = most;
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    values--;
    if (typeof next.value === 'string') characters -= next.value.length;
    if (values < 0 || characters < 0 || next.depth > maxJsonDepth) return true;
    if (typeof next.value !== 'object' || next.value === null) continue;
    for (const [key, inner] of Object.entries(next.value)) {
      characters -= key.length;
      open.push({ value: inner, depth: next.depth + 1 });
    }
  }
  return false;
}
