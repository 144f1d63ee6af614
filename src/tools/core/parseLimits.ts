// What is asked of a text of a repository before a parser sees it. All of it is found in one pass without recursion: a parser goes
// down a level for each bracket, and at the end of its stack it may take the whole process with it.

/** Bytes (or characters) of a file that is parsed. */
export const maxJsonBytes = 256 * 1024;
/** Levels of maps and lists in each other, in a file and in what it means. */
export const maxJsonDepth = 50;

/** Why a text is not parsed, as a sentence, and where in it (characters); undefined: it can be. */
export type ParseProblem = { message: string; at: number } | undefined;

/** Characters of JSON that a model or a tool gave, whose size has limits of its own. */
export const maxAnswerLength = 5_000_000;
export const jsonTooLarge = `The file is larger than ${maxJsonBytes / 1024} KiB.`;
export const tooDeep = `Lists and maps are nested more than ${maxJsonDepth} levels deep here.`;

/**
 * Of JSON, with or without comments. What closes nothing that is open is passed over, as by a parser that reads on after a mistake;
 * a text ends with its line at the latest.
 */
export function jsonTrouble(text: string, most = maxJsonBytes): ParseProblem {
  if (text.length > most)
    return { message: most === maxJsonBytes ? jsonTooLarge : `It is longer than ${most} characters.`, at: 0 };
  const open: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') at = endOfText(text, at);
    else if (character === '/') at = endOfComment(text, at);
    else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']');
      if (open.length > maxJsonDepth) return { message: tooDeep, at };
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

/** `start` itself for a slash that begins no comment. */
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

/** JSON of a file, or (`most` characters) of a model or a tool. Throws `SyntaxError` with a sentence. */
export function parseLimitedJson(text: string, most = maxJsonBytes): unknown {
  const trouble = jsonTrouble(text, most);
  if (trouble) throw new SyntaxError(trouble.message);
  return JSON.parse(text);
}

/** Values with all that they hold, each counted as often as it is referred to, and how deep they go; no further than the limits. */
export function isTooMuch(value: unknown, most = { values: 50_000, characters: 4 * maxJsonBytes }): boolean {
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
