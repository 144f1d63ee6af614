import * as z from 'zod';
import { isObject, type JsonObject } from '../../core/json.ts';
import { parseArguments } from '../../messages/parseArguments.ts';
import { list, word, wordIn } from '../../transport/wireFields.ts';
import type { NativeItem } from './providerMetadata.ts';

export interface CallItem {
  type: 'function_call';
  place: number;
  id?: string;
  name?: string;
  pieces: string[];
  /** The arguments as the finished item has them. */
  whole?: string;
  /** The model was stopped within it. */
  unfinished?: boolean;
  done: boolean;
  given: boolean;
}

export interface MessageItem {
  type: 'message';
  pieces: string[];
  /** Of the conversation's text, what stands before it included. */
  length: number;
  phase?: string;
  done: boolean;
}

export interface ReasoningItem {
  type: 'reasoning';
  /** What was told of it: its summary or its text, never both. */
  told?: 'summary' | 'text';
  /** The part that is being told. */
  part?: unknown;
  kept?: JsonObject;
  done: boolean;
}

/** An item of a reply while it is read. `other`: the provider's own tools, and what else we did not ask for. */
export type Item = CallItem | MessageItem | ReasoningItem | { type: 'other'; done: boolean };

const partSchema = z.object({ type: word, text: word, refusal: word }).catch({});
const partsSchema = z.array(partSchema).optional().catch(undefined);

/** An item as a finished one is sent: by its event, or in the list of a whole answer. */
const finalSchema = z.object({
  type: word,
  id: word,
  call_id: word,
  name: word,
  status: word,
  phase: word,
  content: partsSchema,
  summary: partsSchema,
});
export type FinalItem = z.infer<typeof finalSchema> & { argumentsText?: string };

export function readItem(item: unknown): FinalItem {
  const { arguments: given, ...fields } = isObject(item) ? item : {};
  const argumentsText = isObject(given) ? JSON.stringify(given) : wordIn(given); // some servers send the object itself
  return { ...finalSchema.parse(fields), ...(argumentsText !== undefined && { argumentsText }) };
}

/** `place` is the number of calls before it. */
export function toItem({ type, call_id: id, name, phase }: FinalItem, place: number): Item {
  switch (type) {
    case 'message':
      return { type, pieces: [], length: 0, ...(phase && { phase }), done: false };
    case 'reasoning':
      return { type, done: false };
    case 'function_call':
      return { type, place, ...(id && { id }), ...(name && { name }), pieces: [], done: false, given: false };
    default:
      return { type: 'other', done: false };
  }
}

export const textOf = (parts: FinalItem['content'] = []): string =>
  parts.map(({ text, refusal }) => text ?? refusal ?? '').join('');

/**
 * The arguments of a call: of the finished item, else as they came in pieces; `{}` at its end does not stand for more
 * that came before. A call that was stopped within is never taken for whole, whatever it looks like.
 */
export function argumentsOf({ pieces, whole = '', unfinished }: CallItem) {
  const streamed = pieces.join('');
  const text = /^\s*(\{\s*\})?\s*$/.test(whole) && streamed.trim() !== '' ? streamed : whole;
  return unfinished ? { arguments: {}, malformed: text } : parseArguments(text);
}

/** Reasoning to be given back: without its encrypted content or its text it is a name that this server has forgotten. */
export function providerReasoning(item: JsonObject): JsonObject | undefined {
  const { status: _, ...kept } = item; // "Unknown parameter: 'input[1].status'"
  const encrypted = typeof kept.encrypted_content === 'string' && kept.encrypted_content !== '';
  return encrypted || (Array.isArray(kept.content) && kept.content.length > 0) ? kept : undefined;
}

/** What can be said again item by item; a reply with items we do not know or did not give loses its reasoning. */
export function providerItems(items: readonly Item[]): NativeItem[] {
  const known = items.every((item) => item.type !== 'other' && (item.type !== 'function_call' || item.given));
  if (!known) return [];
  return items.flatMap((item): NativeItem[] => {
    if (item.type === 'message')
      return [{ type: 'message', length: item.length, ...(item.phase && { phase: item.phase }) }];
    if (item.type === 'function_call') return [{ type: 'function_call' }];
    return item.type === 'reasoning' && item.kept ? [{ type: 'reasoning', item: item.kept }] : [];
  });
}

export const endSchema = z.object({
  model: word,
  status: word,
  output: list.catch([]),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
  incomplete_details: z.object({ reason: word }).catch({}),
});
