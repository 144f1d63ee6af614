import * as z from 'zod';
import type { AssistantMessage, Native } from '../../protocol/content/messages.ts';

const provider = 'anthropic';

/**
 * A reply that thought, block by block: the thinking as it came, because it is signed; of text only the length, of a
 * call only its place, because the message has both.
 */
export type NativeBlock =
  | { type: 'thinking' | 'redacted_thinking'; [field: string]: unknown }
  | { type: 'text'; length: number }
  | { type: 'tool_use' };

export type ThinkingBlock = Extract<NativeBlock, { type: 'thinking' | 'redacted_thinking' }>;

/** The blocks to keep with a message; nothing where there was no thinking: then the order says nothing. */
export function toNative(blocks: readonly NativeBlock[]): Native | undefined {
  return blocks.some(isThinking) ? { provider, content: [...blocks] } : undefined;
}

/**
 * The blocks of a message of ours, when they still fit what it says; else undefined, and its thinking is left out as a
 * whole: a part of it, or in another place, is "thinking blocks cannot be modified".
 */
export function nativeBlocks({ native, content, toolCalls = [] }: AssistantMessage): NativeBlock[] | undefined {
  if (native?.provider !== provider || !Array.isArray(native.content)) return undefined;
  const blocks = native.content.filter(isBlock);
  const texts = blocks.filter((block) => block.type === 'text');
  const fits =
    blocks.length === native.content.length &&
    texts.reduce((sum, { length }) => sum + length, 0) === content.length &&
    blocks.filter(({ type }) => type === 'tool_use').length === toolCalls.length;
  return fits ? blocks : undefined;
}

export const isThinking = (block: { type: string }): block is ThinkingBlock =>
  block.type === 'thinking' || block.type === 'redacted_thinking';

/** What makes a block itself: its signature, or all there is of it. */
export function signatureOf(block: ThinkingBlock): string {
  return String(block.signature || block.data || block.thinking);
}

const isBlock = (value: unknown): value is NativeBlock => blockSchema.safeParse(value).success;

const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), length: z.int().nonnegative() }),
  z.object({ type: z.enum(['tool_use', 'thinking', 'redacted_thinking']) }),
]);
