import * as z from 'zod';
import { isObject, type JsonObject } from '../../core/json.ts';
import { parseToolArguments } from '../../messages/parseArguments.ts';
import { nonEmptyString, optionalNonEmptyStringSchema, tolerantListSchema } from '../../transport/wireFields.ts';
import type { ResponsesNativeItem } from './providerMetadata.ts';

export interface StreamedFunctionCallItem {
  type: 'function_call';
  index: number;
  id?: string;
  name?: string;
  pieces: string[];
  whole?: string;
  unfinished?: boolean;
  done: boolean;
  given: boolean;
}

export interface StreamedMessageItem {
  type: 'message';
  pieces: string[];
  length: number;
  phase?: string;
  done: boolean;
}

export interface StreamedReasoningItem {
  type: 'reasoning';
  /** Emitted part of the reasoning: summary or text, never both. */
  emitted?: 'summary' | 'text';
  part?: unknown;
  stored?: JsonObject;
  done: boolean;
}

export type StreamedItem =
  | StreamedFunctionCallItem
  | StreamedMessageItem
  | StreamedReasoningItem
  | { type: 'other'; done: boolean };

const partSchema = z
  .object({
    type: optionalNonEmptyStringSchema,
    text: optionalNonEmptyStringSchema,
    refusal: optionalNonEmptyStringSchema,
  })
  .catch({});
const partsSchema = z.array(partSchema).optional().catch(undefined);

const finalSchema = z.object({
  type: optionalNonEmptyStringSchema,
  id: optionalNonEmptyStringSchema,
  call_id: optionalNonEmptyStringSchema,
  name: optionalNonEmptyStringSchema,
  status: optionalNonEmptyStringSchema,
  phase: optionalNonEmptyStringSchema,
  content: partsSchema,
  summary: partsSchema,
});
export type ResponsesOutputItem = z.infer<typeof finalSchema> & { argumentsText?: string };

export function parseResponsesOutputItem(item: unknown): ResponsesOutputItem {
  const { arguments: given, ...fields } = isObject(item) ? item : {};
  const argumentsText = isObject(given) ? JSON.stringify(given) : nonEmptyString(given); // some servers send the object itself
  return { ...finalSchema.parse(fields), ...(argumentsText !== undefined && { argumentsText }) };
}

export function toStreamedItem({ type, call_id: id, name, phase }: ResponsesOutputItem, index: number): StreamedItem {
  switch (type) {
    case 'message':
      return { type, pieces: [], length: 0, ...(phase && { phase }), done: false };
    case 'reasoning':
      return { type, done: false };
    case 'function_call':
      return { type, index, ...(id && { id }), ...(name && { name }), pieces: [], done: false, given: false };
    default:
      return { type: 'other', done: false };
  }
}

export const responsesOutputItemText = (parts: ResponsesOutputItem['content'] = []): string =>
  parts.map(({ text, refusal }) => text ?? refusal ?? '').join('');

/**
 * Parses the arguments of the finished item, else of the streamed pieces; a final `{}` does not replace longer streamed text. An
 * interrupted call never counts as complete.
 */
export function parseItemArguments({ pieces, whole = '', unfinished }: StreamedFunctionCallItem) {
  const streamed = pieces.join('');
  const text = /^\s*(\{\s*\})?\s*$/.test(whole) && streamed.trim() !== '' ? streamed : whole;
  return unfinished ? { arguments: {}, malformed: text } : parseToolArguments(text);
}

/** Returns reasoning to send back; undefined without encrypted content or text, because the server does not store reasoning. */
export function resendableReasoningItem(item: JsonObject): JsonObject | undefined {
  const { status: _, ...stored } = item; // "Unknown parameter: 'input[1].status'"
  const encrypted = typeof stored.encrypted_content === 'string' && stored.encrypted_content !== '';
  return encrypted || (Array.isArray(stored.content) && stored.content.length > 0) ? stored : undefined;
}

/** Returns the items that can be sent back. A reply with unknown items or with calls that were not delivered loses its reasoning. */
export function resendableResponsesItems(items: readonly StreamedItem[]): ResponsesNativeItem[] {
  const known = items.every((item) => item.type !== 'other' && (item.type !== 'function_call' || item.given));
  if (!known) return [];
  return items.flatMap((item): ResponsesNativeItem[] => {
    if (item.type === 'message')
      return [{ type: 'message', length: item.length, ...(item.phase && { phase: item.phase }) }];
    if (item.type === 'function_call') return [{ type: 'function_call' }];
    return item.type === 'reasoning' && item.stored ? [{ type: 'reasoning', item: item.stored }] : [];
  });
}

export const responseEndSchema = z.object({
  model: optionalNonEmptyStringSchema,
  status: optionalNonEmptyStringSchema,
  output: tolerantListSchema.catch([]),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
  incomplete_details: z.object({ reason: optionalNonEmptyStringSchema }).catch({}),
});
