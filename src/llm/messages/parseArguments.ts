import { isUnambiguousJson } from '../../protocol/values/jsonText.ts';
import { isObject, parseJson } from '../core/json.ts';

export interface ParsedToolArguments {
  arguments: Record<string, unknown>;
  /** Original text if it is no single JSON object; `arguments` is then empty. */
  malformed?: string;
}

/**
 * Parses call arguments strictly, without repair: a repaired `fs.write` would write half a file. Blank text is accepted as no arguments, as
 * providers send for tools without parameters. Besides invalid JSON, the parser rejects duplicate keys (the shown and the executed value
 * must be equal), the key `__proto__`, non-finite numbers and nesting beyond 200. A JSON string with such text is parsed again.
 */
export function parseToolArguments(text: string): ParsedToolArguments {
  if (text.trim() === '') return { arguments: {} };
  try {
    const value = parseJson(text);
    if (isObject(value) && isUnambiguousJson(text)) return { arguments: value };
    if (typeof value === 'string') {
      const inner = parseToolArguments(value); // each nested text is shorter, so the recursion ends
      if (inner.malformed === undefined) return inner;
    }
  } catch {
    // reported to the model as `malformed`
  }
  return { arguments: {}, malformed: text };
}

export function toolArgumentsToText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
