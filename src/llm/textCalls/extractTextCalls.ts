import { readFencedToolCalls } from './fenced.ts';
import { jsonEndIndex, parseJsonToolCalls } from './json.ts';
import { classifyJsonOpening, maxJsonOpeningCharacters } from './jsonOpening.ts';
import { isQuotedMarkdownLine, MarkdownCodeTracker } from './markdownCode.ts';
import { classifyLineOpening } from './opening.ts';
import {
  classifyPythonList,
  classifyToolCallSyntaxOpening,
  findToolCallSyntaxInLine,
  readMarkedToolCalls,
  readPythonCallList,
} from './reader.ts';
import type { OfferedToolsByName, TextToolCall, TextToolCallRegion } from './toolLookup.ts';

/**
 * Extracts calls from the end of a message, starting at a line that may begin a call. Each region is read once; a region without a call is
 * skipped completely.
 */
export function extractTextToolCalls(
  text: string,
  known: OfferedToolsByName,
): { content: string; calls: TextToolCall[] } {
  const content: string[] = [];
  const calls: TextToolCall[] = [];
  for (let at = 0; at < text.length; ) {
    const region = readRegion(text, at, known);
    if (region.calls) calls.push(...region.calls);
    else content.push(text.slice(at, region.end));
    at = region.end;
  }
  return { content: content.join(''), calls };
}

function readRegion(text: string, at: number, known: OfferedToolsByName): TextToolCallRegion {
  const opening = classifyLineOpening(text.slice(at, at + maxJsonOpeningCharacters), known);
  const start = at + /^ */.exec(text.slice(at, at + 3))![0].length;
  if (opening === 'fence') return { end: endOfFence(text, at) };
  if (opening !== 'call') return readLine(text, at, known);
  if (text[start] === '`' || text[start] === '~')
    return readFencedToolCalls(text, start, known) ?? { end: endOfFence(text, at) };
  const isJson =
    text[start] === '{' ||
    (text[start] === '[' &&
      classifyJsonOpening(text.slice(start, start + maxJsonOpeningCharacters), known).opening === 'call');
  if (isJson) return readBare(text, start, known);
  if (classifyPythonList(text.slice(start, start + maxJsonOpeningCharacters), known) === 'call') {
    const { end, calls } = readPythonCallList(text, start, known) ?? { end: start };
    endMarks.lastIndex = end;
    endMarks.exec(text);
    const isLast = calls !== undefined && text.slice(endMarks.lastIndex).trim() === '';
    return isLast ? { end: text.length, calls } : { end: endOfLine(text, end) };
  }
  return endsLine(text, readMarkedToolCalls(text, start, known), known);
}

function readLine(text: string, at: number, known: OfferedToolsByName): TextToolCallRegion {
  const end = endOfLine(text, at);
  if (isQuotedMarkdownLine(text.slice(at, at + 8))) return { end };
  for (let from = at; ; ) {
    const mark = findToolCallSyntaxInLine(
      text.slice(from, end),
      text.slice(from, end + maxJsonOpeningCharacters),
      known,
      new MarkdownCodeTracker(),
    );
    if (mark?.opening !== 'call') return { end };
    const start = from + mark.at;
    const stop = endOfCalls(text, start, known);
    if (stop === text.length) return { end: start };
    from = Math.max(stop, start + 1);
    if (from >= end) return { end };
  }
}

function endOfCalls(text: string, start: number, known: OfferedToolsByName): number {
  for (let at = start; at < text.length; ) {
    const region = endsLine(text, readMarkedToolCalls(text, at, known), known);
    if (!region.calls || region.end === at) return at;
    at = region.end;
    const blank = /\s*/y;
    blank.lastIndex = at;
    at += blank.exec(text)![0].length;
    if (
      at < text.length &&
      classifyToolCallSyntaxOpening(text.slice(at, at + maxJsonOpeningCharacters), 0, known) !== 'call'
    )
      return at;
  }
  return text.length;
}

/** Reads JSON without marks, a call only if nothing else remains in the message. */
function readBare(text: string, start: number, known: OfferedToolsByName): TextToolCallRegion {
  const calls: TextToolCall[] = [];
  let at = start;
  for (;;) {
    const end = jsonEndIndex(text, at);
    const found = parseJsonToolCalls(text.slice(at, end === -1 ? undefined : end), known, false);
    const next = end === -1 ? text.length : end + /^\s*(;\s*)?/.exec(text.slice(end, end + 100))![0].length; // Llama separates by `;`
    const last = next >= text.length || text.slice(next).trim() === '';
    if (!found || !(last || text[next] === '{')) return { end: end === -1 ? text.length : endOfLine(text, end) };
    calls.push(...found);
    if (last) return { end: text.length, calls };
    at = next;
  }
}

const endMarks =
  /[ \t]*(?:(?:<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|end▁of▁sentence)\|>|<｜end▁of▁sentence｜>|<\/s>|<end_of_turn>)[ \t]*)*/y;

/** Requires a line end or another call after a call; a call before other text is a quotation. */
function endsLine(text: string, region: TextToolCallRegion, known: OfferedToolsByName): TextToolCallRegion {
  if (!region.calls) return region;
  endMarks.lastIndex = region.end;
  endMarks.exec(text);
  let end = endMarks.lastIndex;
  const behind = /^[ \t]*(\r?\n\s*|$)/.exec(text.slice(end, end + maxJsonOpeningCharacters));
  if (!behind) {
    const another =
      classifyLineOpening(text.slice(end, end + maxJsonOpeningCharacters), known) === 'call' && text[end] !== '{';
    return another ? { ...region, end } : { end: endOfLine(text, end) };
  }
  end += behind[0].length;
  const indent = /[ \t]*$/.exec(text.slice(region.end, end))![0].length;
  return { ...region, end: end - indent };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

function endOfFence(text: string, at: number): number {
  const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(text.slice(at, at + maxJsonOpeningCharacters))!;
  const close = new RegExp(`^ {0,3}${mark![0]}{${mark!.length},}[ \\t]*\\r?$`, 'gm');
  close.lastIndex = endOfLine(text, at);
  return close.exec(text) ? endOfLine(text, close.lastIndex) : text.length;
}
