import { endOfJsonString } from '../../protocol/values/jsonText.ts';
import { isObject } from '../core/json.ts';
import { parseToolArguments } from '../messages/parseArguments.ts';
import { classifyJsonOpening, maxJsonOpeningCharacters } from './jsonOpening.ts';
import { lookUpTool, type OfferedToolsByName, type TextToolCall } from './toolLookup.ts';

/** Returns the index after the bracket that closes the bracket at `start`, or -1. Strings are skipped; nothing else is validated. */
export function jsonEndIndex(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfJsonString(text, at);
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return -1;
}

/**
 * Parses calls from `{"name", "arguments"}` or an array, possibly damaged. Returns undefined if no known tool is named. `marked`: a
 * surrounding mark proves a call, so errors are reported.
 */
export function parseJsonToolCalls(
  text: string,
  known: OfferedToolsByName,
  marked: boolean,
): TextToolCall[] | undefined {
  const { name } = classifyJsonOpening(text.slice(0, maxJsonOpeningCharacters), known);
  const meant = name !== undefined && (marked || /"(arguments|parameters|args|input)"\s*:/.test(text));
  const asMalformed = meant ? [malformedTextToolCall(known, name, text)] : undefined;
  // inside an object, so that parseArguments applies its checks to arrays too
  const whole = parseToolArguments(`{"calls":${text}}`);
  if (whole.malformed !== undefined) return asMalformed;
  const items = Array.isArray(whole.arguments.calls) ? whole.arguments.calls : [whole.arguments.calls];
  const calls = items.map((item) => callIn(item, known, marked, text));
  return items.length > 0 && calls.every((call) => call !== undefined) ? calls : marked ? asMalformed : undefined;
}

const isArguments = /^(?:arguments|parameters|args|input)$/;

function callIn(item: unknown, known: OfferedToolsByName, marked: boolean, text: string): TextToolCall | undefined {
  if (!isObject(item)) return undefined;
  const { function: inner, type: _, id: __, ...rest } = item;
  const call = isObject(inner) && Object.keys(rest).length === 0 ? inner : item;
  const name = [call.name, call.tool_name, call.function].find((one) => typeof one === 'string');
  if (typeof name !== 'string' || !lookUpTool(known, name)) return undefined;
  const keys = Object.keys(call);
  const strange = keys.some(
    (key) => !/^(name|tool_name|function|type|id|tool_call_id)$/.test(key) && !isArguments.test(key),
  );
  const given = keys.filter((key) => isArguments.test(key));
  if (!marked && (strange || given.length !== 1)) return undefined;
  if (strange || given.length > 1) return malformedTextToolCall(known, name, text); // ambiguous, so never guessed
  const value = given.length === 0 ? {} : call[given[0]!];
  const toolName = lookUpTool(known, name)!.name;
  if (isObject(value)) return { name: toolName, arguments: value };
  if (typeof value === 'string') return { name: toolName, ...parseToolArguments(value) };
  return malformedTextToolCall(known, name, JSON.stringify(value));
}

export function malformedTextToolCall(known: OfferedToolsByName, name: string, text: string): TextToolCall {
  return { name: lookUpTool(known, name)!.name, arguments: {}, malformed: text };
}
