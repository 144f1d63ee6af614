import { lookUpTool, type OfferedToolsByName } from './toolLookup.ts';

/** Kind of a line by its beginning: call of a known tool (`call`), ordinary fence (`fence`), text, or undecided (`wait`). */
export type TextOpeningKind = 'call' | 'fence' | 'text' | 'wait';

export const maxJsonOpeningCharacters = 400;

const jsonToken = /\s*([{}[\]:,]|"(?:[^"\\]|\\.)*"|[^\s{}[\]:,"]+)/y;

/** Matches `{"name": "<known>"`, after an optional `[`, `"type": "function"`, `"id"` or `"function": {`. */
export function classifyJsonOpening(
  text: string,
  known: OfferedToolsByName,
): { opening: TextOpeningKind; name?: string } {
  jsonToken.lastIndex = 0;
  const next = () => jsonToken.exec(text)?.[1];
  const wait = { opening: 'wait' } as const;
  const no = { opening: 'text' } as const;
  let token = next();
  if (token === '[') token = next();
  if (token === undefined) return wait;
  for (;;) {
    if (token !== '{' && token !== ',') return no;
    const key = next();
    const colon = key && next();
    const position = jsonToken.lastIndex;
    const value = colon && next();
    if (key === undefined) return wait;
    if (!/^"(name|tool_name|type|id|tool_call_id|function|arguments|parameters)"$/.test(key)) return no;
    if (colon === undefined) return wait;
    if (colon !== ':') return no;
    if (value === undefined) return /^\s*("|$)/.test(text.slice(position)) ? wait : no;
    if (key === '"arguments"' || key === '"parameters"') return value === '{' ? { opening: 'call' } : no;
    if (key === '"function"' && value === '{') {
      token = value;
      continue;
    }
    if (value[0] !== '"') return no;
    if (/^"(name|tool_name|function)"$/.test(key)) {
      const name = value.slice(1, -1);
      return lookUpTool(known, name) ? { opening: 'call', name } : no;
    }
    if (key === '"type"' && value !== '"function"') return no;
    token = next();
    if (token === undefined) return wait;
  }
}
