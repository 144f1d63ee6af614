import { endOfString, isObject, parseJson } from './json.ts';

export interface ParsedArguments {
  arguments: Record<string, unknown>;
  /** The text as the model wrote it, when it is not exactly one JSON object; then `arguments` is empty. */
  malformed?: string;
}

/**
 * The arguments of a call, read strictly and never repaired: a mended `fs.write` is a file cut in half. Blank text is
 * what providers send for a tool without parameters. Refused besides bad JSON: a key given twice (what is shown to a
 * person and what runs must be one thing), the key `__proto__`, numbers that are not finite, nesting beyond 200. A JSON text of such a
 * text means the same.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { arguments: {} };
  try {
    const value = parseJson(text);
    if (isObject(value) && isUnambiguous(text)) return { arguments: value };
    if (typeof value === 'string') {
      const inner = parseArguments(value); // the text of the text: shorter each time, so that this ends
      if (inner.malformed === undefined) return inner;
    }
  } catch {
    // told to the model as `malformed`
  }
  return { arguments: {}, malformed: text };
}

/** The text of arguments that a server may send as their text or, parsed, as a value. */
export function textOfArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

const number = /-?\d[\d.eE+-]*/y;

/** Of text that is known to be JSON: a string before a colon is a key, and nothing else is. */
function isUnambiguous(text: string): boolean {
  const keysInScope: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '{' || character === '[') keysInScope.push(new Set());
    else if (character === '}' || character === ']') keysInScope.pop();
    else if (character === '"') {
      const end = endOfString(text, at);
      if (isFollowedByColon(text, end + 1)) {
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        const keys = keysInScope.at(-1)!;
        if (keys.has(key) || key === '__proto__') return false;
        keys.add(key);
      }
      at = end;
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      number.lastIndex = at;
      const digits = number.exec(text)![0];
      if (!Number.isFinite(Number(digits))) return false;
      at += digits.length - 1;
    }
  }
  return true;
}

function isFollowedByColon(text: string, at: number): boolean {
  while (' \t\n\r'.includes(text[at] ?? ':') && at < text.length) at++;
  return text[at] === ':';
}
