import * as z from 'zod';
import type { AssistantMessage, ProviderMetadata } from '../../../protocol/content/messages.ts';
import { isObject, type JsonObject } from '../../core/json.ts';

/**
 * Items of a reply. Reasoning is stored verbatim because of its encryption. A text item stores length and phase (`commentary`,
 * `final_answer`), a call only its position, because the message contains the rest.
 */
export type ResponsesNativeItem =
  | { type: 'reasoning'; item: JsonObject }
  | { type: 'message'; length: number; phase?: string }
  | { type: 'function_call' };

/**
 * Returns the owner of a reply, because encrypted reasoning is valid at one address only. `openai-responses` and a model of `openai` that
 * requires this API are the same owner.
 */
const nativeProvider = (provider: string): string => `${provider.replace(/-responses$/, '')}-responses`;

export function toResponsesProviderMetadata(
  provider: string,
  items: readonly ResponsesNativeItem[],
): ProviderMetadata | undefined {
  const hasContent = items.some(
    (item) => item.type === 'reasoning' || (item.type === 'message' && item.phase !== undefined),
  );
  return hasContent ? { provider: nativeProvider(provider), content: [...items] } : undefined;
}

/** Returns the stored items of a message if the provider is the same and the items still match the message; else undefined. */
export function matchingResponsesNativeItems(
  { native, content, toolCalls = [] }: AssistantMessage,
  provider: string,
): ResponsesNativeItem[] | undefined {
  if (native?.provider !== nativeProvider(provider)) return undefined;
  const { success, data: items } = itemsSchema.safeParse(native.content);
  if (!success) return undefined;
  const length = items.reduce((sum, item) => sum + (item.type === 'message' ? item.length : 0), 0);
  const calls = items.filter(({ type }) => type === 'function_call');
  return length === content.length && calls.length === toolCalls.length ? items : undefined;
}

export const reasoningItemKey = (item: JsonObject): string =>
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
