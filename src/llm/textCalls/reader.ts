import type { JsonSchema } from '../../protocol/content/tools.ts';
import { parseJson } from '../core/json.ts';
import { parseToolArguments } from '../messages/parseArguments.ts';
import {
  compileToolCallSyntax,
  findToolCallMarker,
  matchToolCallMarker,
  normalizeToolCallMarkers,
  type ToolCallSyntaxElement,
} from './form.ts';
import { textToolCallSyntaxes } from './forms.ts';
import { jsonEndIndex, malformedTextToolCall, parseJsonToolCalls } from './json.ts';
import { classifyJsonOpening, maxJsonOpeningCharacters, type TextOpeningKind } from './jsonOpening.ts';
import { parseGemmaArguments } from './literal.ts';
import type { MarkdownCodeTracker } from './markdownCode.ts';
import { readPythonCall } from './python.ts';
import { lookUpTool, type OfferedToolsByName, type TextToolCall, type TextToolCallRegion } from './toolLookup.ts';

type Group = Extract<ToolCallSyntaxElement, { kind: 'group' }>;
type Mark = Extract<ToolCallSyntaxElement, { kind: 'mark' }>;

const compiled = textToolCallSyntaxes.map(({ form }) => compileToolCallSyntax(form));

export const toolCallSyntaxFirstCharacters: string = [
  ...new Set(textToolCallSyntaxes.flatMap(({ form }) => form.replace(/^\(+/, '')[0]!)),
].join('');

/** Classifies the text at `at`: a call in a known form of a known tool, text, or `wait` if the text ends too early. */
export function classifyToolCallSyntaxOpening(text: string, at: number, known: OfferedToolsByName): TextOpeningKind {
  const plain = normalizeToolCallMarkers(text);
  let wait = false;
  for (const elements of compiled) {
    const reading = new Reading(text, plain, known, true);
    const end = reading.run(elements, at);
    if (reading.opened) return 'call';
    wait ||= end === 'cut';
  }
  return wait ? 'wait' : 'text';
}

const firstMarks = compiled.flatMap((elements) => {
  const begin = elements.findIndex(
    (element) => element.kind === 'mark' || (element.kind === 'group' && element.repeat !== '?'),
  );
  const first = elements
    .slice(0, begin + 1)
    .map((element) => (element.kind === 'group' ? element.elements[0] : element));
  return first.flatMap((element) => (element?.kind === 'mark' ? [element.parts] : []));
});

export function hasToolCallSyntaxAt(line: string, at: number): boolean {
  const plain = normalizeToolCallMarkers(line);
  return firstMarks.some((parts) => {
    const end = matchToolCallMarker(parts, plain, at);
    if (typeof end !== 'number' || end - at < 6) return false;
    return /^\s*(?:$|[{<[\]]|[\w.:-]+(?:\s+[\w.:=-]+)?\s*(?:$|[<{(["]))/.test(plain.slice(end));
  });
}

/**
 * Finds the first form within a line outside of code: `call` if a known tool is named, `wait` if the text ends too early.
 *
 * @param text text from the line on
 * @param code tracker of the text before the line; advanced to the form or the line end
 */
export function findToolCallSyntaxInLine(
  line: string,
  text: string,
  known: OfferedToolsByName,
  code: MarkdownCodeTracker,
): { at: number; opening: 'call' | 'wait' } | undefined {
  let from = 0;
  for (const { index: at } of line.matchAll(/[<[\]]/g)) {
    code.add(line.slice(from, at));
    from = at;
    if (code.isCode || code.isQuoted || !beginsMark(line, at)) continue;
    const opening = classifyToolCallSyntaxOpening(text.slice(at, at + maxJsonOpeningCharacters), 0, known);
    if (opening === 'call' || opening === 'wait') return { at, opening };
  }
  code.add(line.slice(from));
  return undefined;
}

const beginsMark = (text: string, at: number): boolean =>
  text[at] === '<'
    ? /^<[\w|｜:-]*(?:[\w|｜▁:=>/ -]|$)/.test(text.slice(at, at + 12))
    : /^(?:\[[TU]|\[u|\]<|[[\]]$)/.test(text.slice(at, at + 2));

/**
 * Reads the calls in the form at `at`. A damaged or truncated call of a named tool is returned as malformed and never executed. Returns no
 * calls if no known tool is named.
 */
export function readMarkedToolCalls(text: string, at: number, known: OfferedToolsByName): TextToolCallRegion {
  const plain = normalizeToolCallMarkers(text);
  let damaged: TextToolCallRegion | undefined;
  for (const elements of compiled) {
    const reading = new Reading(text, plain, known, false, marksOf(elements));
    const end = reading.run(elements, at);
    if (typeof end === 'number' && reading.calls.length > 0 && !reading.goesOn(end))
      return { end, calls: reading.calls };
    if (!reading.named || damaged) continue;
    const isClear = typeof end !== 'number' && !reading.unsure;
    const stop = (isClear ? closeOf(elements, plain, reading.at) : undefined) ?? text.length;
    damaged = {
      end: stop,
      calls: [...reading.sealed, malformedTextToolCall(known, reading.named, text.slice(at, stop))],
    };
  }
  return damaged ?? { end: text.length };
}

const pythonList = compileToolCallSyntax('{python}');

/** Classifies a bracket: a list of Python calls (Llama 4), text, or undecided (`wait`). */
export function classifyPythonList(text: string, known: OfferedToolsByName): TextOpeningKind {
  const [, blank, name, paren] = /^\[(\s*)([A-Za-z_][\w.]*)?(\()?/.exec(text) ?? [];
  if (blank === undefined) return 'text';
  if (name !== undefined && paren !== undefined) return lookUpTool(known, name) ? 'call' : 'text';
  return /^\[\s*[\w.]*$/.test(text) ? 'wait' : 'text';
}

/** Reads a list of Python calls. The list has no mark, so it counts only if nothing else remains in the message. */
export function readPythonCallList(
  text: string,
  start: number,
  known: OfferedToolsByName,
): TextToolCallRegion | undefined {
  const reading = new Reading(text, normalizeToolCallMarkers(text), known);
  const end = reading.run(pythonList, start);
  if (typeof end === 'number') return { end, calls: reading.calls };
  const rest = text.slice(start);
  const isLast = !rest.includes(')]') || /\)\]\s*$/.test(rest);
  return isLast && reading.named
    ? { end: text.length, calls: [malformedTextToolCall(known, reading.named, rest)] }
    : undefined;
}

const marksOf = (elements: readonly ToolCallSyntaxElement[]): Mark[] =>
  elements.flatMap((element) => {
    if (element.kind === 'group') return marksOf(element.elements);
    const letters = element.kind === 'mark' ? element.parts.filter((part) => typeof part === 'string').join('') : '';
    return element.kind === 'mark' && letters.length >= 6 ? [element] : [];
  });

function closeOf(elements: readonly ToolCallSyntaxElement[], plain: string, from: number): number | undefined {
  const marks = elements.filter((element): element is Mark => element.kind === 'mark');
  return marks.length < 2 ? undefined : findToolCallMarker(marks.at(-1)!.parts, plain, from)?.end;
}

class Reading {
  /** Parsed calls. Calls of a completed repetition are `sealed`: later text cannot damage them. */
  calls: TextToolCall[] = [];
  private sealedCount = 0;
  named?: string;
  opened = false;
  unsure = false;
  at = 0;
  private call?: { name: string; given: Map<string, unknown>; whole?: TextToolCall };
  private key = '';
  private around?: { open: Mark; close: Mark };

  constructor(
    private readonly text: string,
    private readonly plain: string,
    private readonly known: OfferedToolsByName,
    private readonly onlyOpening = false,
    private readonly ownMarks: readonly Mark[] = [],
  ) {}

  get sealed(): TextToolCall[] {
    return this.calls.slice(0, this.sealedCount);
  }

  goesOn(end: number): boolean {
    if (!this.around) return false;
    const close = findToolCallMarker(this.around.close.parts, this.plain, end);
    const open = findToolCallMarker(this.around.open.parts, this.plain, end);
    return close !== undefined && (!open || close.start < open.start);
  }

  run(elements: readonly ToolCallSyntaxElement[], start: number): number | 'no' | 'cut' {
    let at = start;
    for (const [index, element] of elements.entries()) {
      const end = this.read(element, elements, index, at);
      if (this.onlyOpening && this.opened) return 'cut';
      if (typeof end !== 'number') return end;
      at = end;
      this.at = Math.max(this.at, at);
    }
    if (elements.some(({ kind }) => kind === 'name')) this.endCall();
    return at;
  }

  private endCall(): void {
    if (!this.call) return;
    const { name, given, whole } = this.call;
    this.calls.push(whole ?? { name, arguments: Object.fromEntries(given) });
    this.call = undefined;
  }

  private read(
    element: ToolCallSyntaxElement,
    all: readonly ToolCallSyntaxElement[],
    index: number,
    at: number,
  ): number | 'no' | 'cut' {
    switch (element.kind) {
      case 'mark':
        return matchToolCallMarker(element.parts, this.plain, at);
      case 'blank':
        return skip(this.text, at);
      case 'group':
        return this.readGroup(element, at);
      case 'name':
        return this.readName(at);
      case 'word':
        return this.pass(/[\w.-]+/y, at);
      case 'id':
        return this.pass(/[\w.:-]*/y, at);
      case 'key': {
        const end = this.pass(/[\w.$-]+/y, at);
        if (typeof end === 'number') this.key = this.text.slice(at, end);
        return end;
      }
      case 'value':
        return this.readValue(all, index, at);
      case 'args':
        return this.readArguments(at);
      case 'literal':
        return this.readLiteral(at);
      case 'json':
        return this.readJson(at);
      case 'keyed':
        return this.readKeyed(at);
      case 'python':
        return this.readPython(at);
    }
  }

  private pass(pattern: RegExp, at: number): number | 'no' | 'cut' {
    pattern.lastIndex = at;
    const found = pattern.exec(this.text);
    if (!found) return at >= this.text.length ? 'cut' : 'no';
    return this.onlyOpening && pattern.lastIndex >= this.text.length ? 'cut' : pattern.lastIndex;
  }

  private readGroup({ elements, repeat }: Group, start: number): number | 'no' | 'cut' {
    let at = start;
    let cut = false;
    for (let times = 0; repeat !== '?' || times === 0; times++) {
      const before = { calls: this.calls.length, call: this.call, reached: this.at };
      const end = this.run(elements, at);
      if (this.onlyOpening && this.opened) return 'cut';
      if (typeof end !== 'number') {
        // a started repetition is damaged; anything else is absent
        if (repeat !== '?' && (this.call !== before.call || this.begins(elements, at))) return end;
        cut = end === 'cut';
        this.at = before.reached;
        if (times === 0 && repeat === '+') return end;
        break;
      }
      if (end === at) break;
      at = end;
      if (this.call === undefined && this.calls.length > before.calls) this.sealedCount = this.calls.length;
    }
    // may still follow, so the caller must wait for more text
    return cut && this.onlyOpening ? 'cut' : at;
  }

  private begins(elements: readonly ToolCallSyntaxElement[], at: number): boolean {
    const [first, second] = elements[0]?.kind === 'blank' ? [elements[1], elements[2]] : elements;
    const start = elements[0]?.kind === 'blank' ? skip(this.text, at) : at;
    if (first?.kind === 'json') return this.text[start] === '{';
    if (first?.kind !== 'mark') return false;
    const end = matchToolCallMarker(first.parts, this.plain, start);
    if (typeof end !== 'number' || second?.kind === 'json') return false;
    return second?.kind !== 'key' || /\w/.test(this.text[end] ?? 'a');
  }

  private readName(at: number): number | 'no' | 'cut' {
    const end = this.pass(/[A-Za-z_][\w.-]*(?::\d+)?/y, at);
    if (typeof end !== 'number') return end;
    const name = this.text.slice(at, end).replace(/:\d+$/, '');
    const tool = lookUpTool(this.known, name);
    if (!tool) return 'no';
    this.endCall();
    this.named = name;
    this.opened = true;
    this.call = { name: tool.name, given: new Map() };
    return end;
  }

  private readArguments(at: number): number | 'no' | 'cut' {
    const end = this.text[at] === '{' ? jsonEndIndex(this.text, at) : -1;
    if (end === -1) return this.text[at] === '{' ? 'cut' : 'no';
    this.call!.whole = { name: this.call!.name, ...parseToolArguments(this.text.slice(at, end)) };
    return end;
  }

  private readLiteral(at: number): number | 'no' | 'cut' {
    try {
      const { value, end } = parseGemmaArguments(this.text, at);
      this.call!.whole = { name: this.call!.name, arguments: value };
      return end;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return 'no';
    }
  }

  private readValue(all: readonly ToolCallSyntaxElement[], index: number, start: number): number | 'no' | 'cut' {
    const close = all[index + 1] as Mark;
    const open = all.find((element): element is Mark => element.kind === 'mark')!;
    const found = findToolCallMarker(close.parts, this.plain, start);
    const { call } = this;
    const key = this.key;
    this.unsure = true;
    if (!found || !call || call.given.has(key) || key === '__proto__') return found ? 'no' : 'cut';
    const raw = this.text.slice(start, found.start);
    // forms have no escapes: the end of a value that contains a mark is ambiguous
    const inner = normalizeToolCallMarkers(raw);
    if (this.ownMarks.some(({ parts }) => findToolCallMarker(parts, inner, 0))) return 'no';
    this.unsure = false;
    this.around = { open, close };
    const [attributes = ''] = /[^<>]*>$/.exec(this.text.slice(Math.max(0, start - 60), start)) ?? [];
    const tool = this.known.get(call.name);
    call.given.set(
      key,
      toValue(
        raw,
        attributes,
        tool?.parameters.properties?.[key],
        typeof open.parts[0] === 'string' && open.parts[0].endsWith('='),
      ),
    );
    return found.start;
  }

  private readJson(at: number): number | 'no' | 'cut' {
    const first = this.text[at];
    if (first === undefined) return 'cut';
    if (first !== '{' && first !== '[') return 'no';
    const { opening, name } = classifyJsonOpening(this.text.slice(at, at + maxJsonOpeningCharacters), this.known);
    if (this.onlyOpening) {
      this.opened = opening === 'call';
      return opening === 'wait' ? 'cut' : 'no';
    }
    const end = jsonEndIndex(this.text, at);
    const text = this.text.slice(at, end === -1 ? undefined : end);
    const calls = parseJsonToolCalls(text, this.known, true);
    this.named = calls?.at(-1)?.name ?? (name === undefined ? undefined : lookUpTool(this.known, name)?.name);
    if (end === -1) return 'cut';
    if (!calls) return 'no';
    this.calls.push(...calls);
    return end;
  }

  /** Reads `[{"fs_read": {"path": "a"}}]`, objects with the tool name as the only key. */
  private readKeyed(at: number): number | 'no' | 'cut' {
    const head = /^\[?\s*(?:\{\s*(?:"([\w.-]*)(?:"\s*(:)?)?)?)?/.exec(this.text.slice(at, at + 400))!;
    const [all, name, whole] = head;
    if (!whole) return at + all.length >= this.text.length ? 'cut' : 'no';
    const tool = lookUpTool(this.known, name!);
    if (!tool) return 'no';
    this.named = name!;
    this.opened = true;
    if (this.onlyOpening) return 'cut';
    const end = jsonEndIndex(this.text, at);
    if (end === -1) return 'cut';
    const { arguments: given, malformed: bad } = parseToolArguments(`{"calls":${this.text.slice(at, end)}}`);
    if (bad !== undefined) return 'no';
    for (const item of [given.calls].flat()) {
      const [[key, value] = ['', undefined], ...others] = Object.entries(Object(item));
      const found = lookUpTool(this.known, key);
      if (!found || others.length > 0 || typeof value !== 'object' || value === null || Array.isArray(value))
        return 'no';
      this.calls.push({ name: found.name, arguments: value as Record<string, unknown> });
    }
    return end;
  }

  private readPython(start: number): number | 'no' | 'cut' {
    const listed = this.text[start] === '[';
    let at = listed ? skip(this.text, start + 1) : start;
    for (;;) {
      const [head, name = '', paren] = /^([A-Za-z_][\w.]*)?(\()?/.exec(this.text.slice(at, at + 400))!;
      if (!paren) return at + head.length >= this.text.length ? 'cut' : 'no';
      const tool = lookUpTool(this.known, name);
      if (!tool) return 'no';
      this.named = name;
      this.opened = true;
      if (this.onlyOpening) return 'cut';
      try {
        const call = readPythonCall(this.text, at);
        this.calls.push({ name: tool.name, arguments: call.arguments });
        at = call.end;
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return 'no';
      }
      const next = skip(this.text, at);
      if (listed && this.text[next] === ']') return next + 1;
      if (this.text[next] === ',' || this.text[next] === ';') at = skip(this.text, next + 1);
      else if (!listed && /[A-Za-z_]/.test(this.text[next] ?? '')) at = next;
      else return listed ? (next >= this.text.length ? 'cut' : 'no') : at;
    }
  }
}

/**
 * Converts a value: text if the schema accepts text, else JSON. An invalid number stays text, and the schema rejects the text.
 *
 * @param attributes attributes of the tag: `string="true"`, `type="number"` state the type
 * @param ownLines a line break at each end belongs to the form
 */
function toValue(raw: string, attributes: string, schema: JsonSchema | undefined, ownLines: boolean): unknown {
  const cdata = /^<!\[CDATA\[(.*)\]\]>$/s.exec(raw)?.[1];
  if (cdata !== undefined) return cdata;
  const framed = ownLines || /^\r?\n.*\n$/s.test(raw);
  const text = framed ? raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '') : raw;
  const types = schema?.type === undefined ? [] : [schema.type].flat();
  const declared = /(?:string="(true|false)"|type="(\w+)")/.exec(attributes);
  const isText = declared
    ? declared[1] === 'true' || declared[2] === 'string'
    : types.length === 0 || types.includes('string');
  if (isText) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function skip(text: string, at: number): number {
  let end = at;
  while (end < text.length && ' \t\r\n'.includes(text[end]!)) end++;
  return end;
}
