import { parseArguments } from '../arguments.ts';
import { callsIn, endOfJson, malformed } from './json.ts';
import type { KnownTools, Region, WrittenCall } from './known.ts';
import { readParameters } from './parameters.ts';

/** Calls between marks that a model family has for them. Begins at the mark; a known tool is named behind it. */
export function readMarked(text: string, start: number, known: KnownTools): Region {
  if (text.startsWith('<tool_call>', start)) return readToolCall(text, start, known);
  if (text.startsWith('<function=', start)) return readFunction(text, start, known);
  if (text.startsWith('[TOOL_CALLS]', start)) return readMistral(text, start, known);
  if (text.startsWith('<|python_tag|>', start)) return readPythonTag(text, start, known);
  return readDeepSeek(text, start, known);
}

/** Qwen, Hermes: `<tool_call>{…}</tool_call>`, or around Qwen-Coder's form. */
function readToolCall(text: string, start: number, known: KnownTools): Region {
  const inner = skip(text, start + '<tool_call>'.length);
  if (text[inner] !== '{') {
    const region = readFunction(text, inner, known, false);
    const close = skip(text, region.end);
    if (text.startsWith('</tool_call>', close)) return { ...region, end: close + '</tool_call>'.length };
    const end = after(text, '</tool_call>', region.end);
    return { end, calls: region.calls?.map(({ name }) => malformed(known, name, text.slice(start, end))) };
  }
  const jsonEnd = endOfJson(text, inner);
  const close = jsonEnd === -1 ? -1 : skip(text, jsonEnd);
  if (close !== -1 && text.startsWith('</tool_call>', close)) {
    return { end: close + '</tool_call>'.length, calls: callsIn(text.slice(inner, jsonEnd), known, true) };
  }
  const end = after(text, '</tool_call>', inner);
  return { end, calls: broken(text.slice(inner, end), known) };
}

/** Llama `<function=name>{…}</function>`, Qwen-Coder `<function=name><parameter=…>…</parameter></function>`. */
function readFunction(text: string, start: number, known: KnownTools, alone = true): Region {
  const [head, name] = /^<function=([\w.-]+)>/.exec(text.slice(start, start + 400))!;
  const tool = known.get(name!)!;
  const inner = skip(text, start + head.length);
  if (text[inner] === '{') {
    const jsonEnd = endOfJson(text, inner);
    const close = jsonEnd === -1 ? -1 : skip(text, jsonEnd);
    if (close !== -1 && text.startsWith('</function>', close)) {
      const end = close + '</function>'.length;
      return { end, calls: [{ name: tool.name, ...parseArguments(text.slice(inner, jsonEnd)) }] };
    }
  } else {
    const read = readParameters(text, start + head.length, tool);
    if (read && !(Object.keys(read.arguments).length > 0 && goesOn(text, read.end))) {
      const close = skip(text, read.end); // Qwen-Coder forgets the opening mark, and writes the closing one
      const end = alone && text.startsWith('</tool_call>', close) ? close + '</tool_call>'.length : read.end;
      return { end, calls: [{ name: tool.name, arguments: read.arguments }] };
    }
    return { end: text.length, calls: [malformed(known, name!, text.slice(start))] }; // where it ends nobody knows
  }
  const end = after(text, '</function>', inner);
  return { end, calls: [malformed(known, name!, text.slice(start, end))] };
}

/** A closing mark that nothing opened: what looked like the end was part of a value. */
function goesOn(text: string, at: number): boolean {
  const close = text.indexOf('</parameter>', at);
  const open = text.indexOf('<parameter=', at);
  return close !== -1 && (open === -1 || close < open);
}

/** Mistral: `[TOOL_CALLS][{…}]`, and newer `[TOOL_CALLS]name[CALL_ID]…[ARGS]{…}`. */
function readMistral(text: string, start: number, known: KnownTools): Region {
  const inner = skip(text, start + '[TOOL_CALLS]'.length);
  if (text[inner] === '[' || text[inner] === '{') return readJson(text, inner, known);
  const head = /^([\w.-]+)(\[CALL_ID\][\w-]*)?(\[ARGS\])?\s*/.exec(text.slice(inner, inner + 400))!;
  const json = inner + head[0].length;
  const end = head[3] && text[json] === '{' ? endOfJson(text, json) : -1;
  if (end === -1) return { end: text.length, calls: [malformed(known, head[1]!, text.slice(start))] };
  return { end, calls: [{ name: known.get(head[1]!)!.name, ...parseArguments(text.slice(json, end)) }] };
}

/** Llama: `<|python_tag|>{…}; {…}`. */
function readPythonTag(text: string, start: number, known: KnownTools): Region {
  const calls: WrittenCall[] = [];
  for (let at = skip(text, start + '<|python_tag|>'.length); ; ) {
    const region = readJson(text, at, known);
    if (!region.calls) return region;
    calls.push(...region.calls);
    const next = skip(text, region.end);
    const another = text[next] === ';' ? skip(text, next + 1) : -1;
    if (another === -1 || text[another] !== '{') return { end: region.end, calls };
    at = another;
  }
}

function readJson(text: string, start: number, known: KnownTools): Region {
  const end = endOfJson(text, start);
  if (end === -1) return { end: text.length, calls: broken(text.slice(start), known) };
  return { end, calls: callsIn(text.slice(start, end), known, true) };
}

const begin = /\s*<[|｜]tool[_▁]call[_▁]begin[|｜]>(?:function(?=<[|｜]tool))?/y;
const named = /(?:<[|｜]tool[_▁]sep[|｜]>)?([\w.-]+)(?:<[|｜]tool[_▁]sep[|｜]>)?\s*(?:```json\s*)?/y;
const callEnd = /\s*(?:```\s*)?<[|｜]tool[_▁]call[_▁]end[|｜]>/y;
const callsEnd = /\s*<[|｜]tool[_▁]calls[_▁]end[|｜]>/y;

/** DeepSeek: V3 and R1 write `function<sep>name` and a fence, V3.1 `name<sep>{…}`. */
function readDeepSeek(text: string, start: number, known: KnownTools): Region {
  const calls: WrittenCall[] = [];
  let at = start + '<|tool_calls_begin|>'.length;
  const take = (mark: RegExp) => {
    mark.lastIndex = at;
    const found = mark.exec(text);
    if (found) at = mark.lastIndex;
    return found;
  };
  while (take(begin)) {
    const name = take(named)?.[1];
    if (name === undefined || !known.has(name)) return { end: text.length }; // nobody knows what it asks for
    const jsonEnd = text[at] === '{' ? endOfJson(text, at) : -1;
    const json = text.slice(at, jsonEnd === -1 ? undefined : jsonEnd);
    at = jsonEnd === -1 ? text.length : jsonEnd;
    if (!take(callEnd)) return { end: text.length, calls: [...calls, malformed(known, name, text.slice(start))] };
    calls.push({ name: known.get(name)!.name, ...parseArguments(json) });
  }
  take(callsEnd);
  return calls.length > 0 ? { end: at, calls } : { end: text.length };
}

/** JSON that was not closed as it should be: told, and not run, even where it could be read. */
function broken(text: string, known: KnownTools): WrittenCall[] | undefined {
  return callsIn(text, known, true)?.map(({ name }) => ({ name, arguments: {}, malformed: text }));
}

function skip(text: string, at: number): number {
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at++;
  return at;
}

function after(text: string, mark: string, at: number): number {
  const place = text.indexOf(mark, at);
  return place === -1 ? text.length : place + mark.length;
}
