import { isUnambiguous } from '../../protocol/values/jsonText.ts';
import { isObject, parseJson } from '../core/json.ts';

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
