import type { JsonSchema, ToolDefinition } from '../../protocol/tools.ts';
import { parseJson } from '../json.ts';

/**
 * `<parameter=key>value</parameter> … </function>` (Qwen-Coder), from behind the name. The form has no escapes: values
 * that hold its own marks cannot be told from its end, and are refused. Undefined: damaged or cut.
 */
export function readParameters(
  text: string,
  start: number,
  tool: ToolDefinition,
): { arguments: Record<string, unknown>; end: number } | undefined {
  const given = new Map<string, unknown>();
  const key = /\s*<parameter=([\w.-]+)>/y;
  const close = /\s*<\/function>/y;
  for (let at = start; ; ) {
    close.lastIndex = at;
    if (close.test(text)) return { arguments: Object.fromEntries(given), end: close.lastIndex };
    key.lastIndex = at;
    const name = key.exec(text)?.[1];
    const end = name === undefined ? -1 : text.indexOf('</parameter>', key.lastIndex);
    if (name === undefined || end === -1 || given.has(name) || name === '__proto__') return undefined;
    const value = text.slice(key.lastIndex, end);
    if (/<parameter=|<\/?function|<\/?tool_call>/.test(value)) return undefined;
    given.set(name, toValue(value.replace(/^\r?\n/, '').replace(/\r?\n$/, ''), tool.parameters.properties?.[name]));
    at = end + '</parameter>'.length;
  }
}

/** Text where the schema takes text; else what it is as JSON. The text of a bad number stays: the schema refuses it. */
function toValue(text: string, schema: JsonSchema | undefined): unknown {
  const types = schema?.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0 || types.includes('string')) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
