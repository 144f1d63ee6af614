import { jsonEndIndex, malformedTextToolCall, parseJsonToolCalls } from './json.ts';
import { maxJsonOpeningCharacters } from './jsonOpening.ts';
import { classifyLineOpening, pythonCallHeadPattern } from './opening.ts';
import { readPythonCall } from './python.ts';
import { readMarkedToolCalls } from './reader.ts';
import { lookUpTool, type OfferedToolsByName, type TextToolCall, type TextToolCallRegion } from './toolLookup.ts';

/**
 * Reads fenced calls (Gemma, and many models after a request for JSON) if nothing but fences remains in the message. Returns undefined for
 * a fence with a code sample.
 */
export function readFencedToolCalls(
  text: string,
  start: number,
  known: OfferedToolsByName,
): TextToolCallRegion | undefined {
  const calls: TextToolCall[] = [];
  for (let at = start; ; ) {
    const [head, mark] = /^ {0,3}(`{3,}|~{3,})[^\n]*\n\s*/.exec(text.slice(at, at + maxJsonOpeningCharacters))!;
    const body = at + head.length;
    const close = new RegExp(`\\s*${mark![0]}{${mark!.length},}[ \\t]*(?:\\r?\\n\\s*|$)`, 'y');
    const read = bodyReader(text, body);
    const found = read(text, body, close, known);
    if (!found.calls) return undefined;
    calls.push(...found.calls);
    if (found.end >= text.length) return { end: text.length, calls };
    const another = classifyLineOpening(text.slice(found.end, found.end + maxJsonOpeningCharacters), known) === 'call';
    if (!another || !/^[`~]/.test(text.slice(found.end, found.end + 1))) return undefined;
    at = found.end;
  }
}

function bodyReader(text: string, body: number): typeof readJsonBody {
  if (text[body] === '{' || (text[body] === '[' && !/^\[(TOOL_CALLS|unused)/.test(text.slice(body, body + 20))))
    return readJsonBody;
  return pythonCallHeadPattern.test(text.slice(body, body + maxJsonOpeningCharacters)) ? readPythonBody : readFormBody;
}

function readFormBody(text: string, start: number, close: RegExp, known: OfferedToolsByName): TextToolCallRegion {
  const calls: TextToolCall[] = [];
  for (let at = start; ; ) {
    const region = readMarkedToolCalls(text, at, known);
    if (!region.calls) return { end: region.end };
    calls.push(...region.calls);
    const closed = endAt(text, region.end, close);
    if (closed !== -1) return { end: closed, calls };
    const next = region.end + /^\s*/.exec(text.slice(region.end))![0].length;
    if (next >= text.length)
      return {
        end: text.length,
        calls: calls.map(({ name }) => malformedTextToolCall(known, name, text.slice(start))),
      };
    if (next === at) return { end: text.length };
    at = next;
  }
}

function readJsonBody(text: string, start: number, close: RegExp, known: OfferedToolsByName): TextToolCallRegion {
  const jsonEnd = jsonEndIndex(text, start);
  const end = jsonEnd === -1 ? -1 : endAt(text, jsonEnd, close);
  const calls = jsonEnd === -1 ? undefined : parseJsonToolCalls(text.slice(start, jsonEnd), known, false);
  const sound = calls?.every(({ malformed }) => malformed === undefined);
  if (end !== -1 || (sound && text.slice(jsonEnd).trim() !== '')) return { end, calls: end === -1 ? undefined : calls };
  return unclosed(text, start, close, (body) =>
    parseJsonToolCalls(body, known, false)?.map(({ name }) => ({ name, arguments: {}, malformed: body })),
  );
}

function readPythonBody(text: string, start: number, close: RegExp, known: OfferedToolsByName): TextToolCallRegion {
  const calls: TextToolCall[] = [];
  try {
    for (let at = start; ; ) {
      const { name, arguments: given, end } = readPythonCall(text, at);
      const tool = lookUpTool(known, name);
      if (!tool) return { end };
      calls.push({ name: tool.name, arguments: given });
      const closed = endAt(text, end, close);
      if (closed !== -1) return { end: closed, calls };
      const [between] = /^[ \t]*[;\r\n]\s*/.exec(text.slice(end, end + maxJsonOpeningCharacters)) ?? [];
      if (between === undefined) throw new SyntaxError('words behind a call');
      at = end + between.length;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const name = pythonCallHeadPattern.exec(text.slice(start, start + maxJsonOpeningCharacters))![1]!;
    return unclosed(text, start, close, (body) => [malformedTextToolCall(known, name, body)]);
  }
}

function unclosed(
  text: string,
  start: number,
  close: RegExp,
  read: (body: string) => TextToolCall[] | undefined,
): TextToolCallRegion {
  const line = new RegExp(`\\n {0,3}${close.source.slice(3)}`, 'g');
  line.lastIndex = start;
  const found = line.exec(text);
  const end = found ? line.lastIndex : text.length;
  return { end, calls: read(text.slice(start, found ? found.index : end)) };
}

function endAt(text: string, at: number, close: RegExp): number {
  close.lastIndex = at;
  return close.test(text) ? close.lastIndex : -1;
}
