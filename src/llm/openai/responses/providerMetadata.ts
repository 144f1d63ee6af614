import * as z from 'zod';
import type { AssistantMessage, Native } from '../../../protocol/content/messages.ts';
import { isObject, type JsonObject } from '../../core/json.ts';

/**
 * A reply item by item: the reasoning as it came, because it is encrypted; of text only the length and the phase
 * (`commentary`, `final_answer`), of a call only its place, because the message has the rest.
 */
export type NativeItem =
  | { type: 'reasoning'; item: JsonObject }
  | { type: 'message'; length: number; phase?: string }
  | { type: 'function_call' };

/**
 * Whose a reply is: what one address has encrypted no other one takes. `openai-responses` and a model of `openai` that
 * only answers here are the same.
 */
const nativeProvider = (provider: string): string => `${provider.replace(/-responses$/, '')}-responses`;

/** What to keep with a message; nothing where the order of its items says nothing. */
export function toNative(provider: string, items: readonly NativeItem[]): Native | undefined {
  const says = items.some((item) => item.type === 'reasoning' || (item.type === 'message' && item.phase !== undefined));
  return says ? { provider: nativeProvider(provider), content: [...items] } : undefined;
}

/** The items of a message of ours, when they are this provider's and still fit what it says; else undefined. */
export function nativeItems(
  { native, content, toolCalls = [] }: AssistantMessage,
  provider: string,
): NativeItem[] | undefined {
  if (native?.provider !== nativeProvider(provider)) return undefined;
  const { success, data: items } = itemsSchema.safeParse(native.content);
  if (!success) return undefined;
  const length = items.reduce((sum, item) => sum + (item.type === 'message' ? item.length : 0), 0);
  const calls = items.filter(({ type }) => type === 'function_call');
  return length === content.length && calls.length === toolCalls.length ? items : undefined;
}

/** What makes a reasoning item itself. */
export const reasoningKey = (item: JsonObject): string =>
  typeof item.encrypted_content === 'string' ? item.encrypted_content : JSON.stringify(item);

function isReasoning(item: unknown): boolean {
  return isObject(item) && item.type === 'reasoning';
}

const itemsSchema = z.array(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('reasoning'), item: z.custom<JsonObject>(isReasoning) }),
    z.object({ type: z.literal('message'), length: z.int().nonnegative(), phase: z.string().optional() }),
    z.object({ type: z.literal('function_call') }),
  ]),
);
