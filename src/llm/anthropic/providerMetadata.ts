import * as z from 'zod';
import type { AssistantMessage, ProviderMetadata } from '../../protocol/content/messages.ts';

const provider = 'anthropic';

/**
 * Blocks of a reply with thinking. Thinking is stored verbatim because of its signature. A text block stores its length and a call only its
 * position, because the message contains both.
 */
export type AnthropicNativeBlock =
  | { type: 'thinking' | 'redacted_thinking'; [field: string]: unknown }
  | { type: 'text'; length: number }
  | { type: 'tool_use' };

export type ThinkingBlock = Extract<AnthropicNativeBlock, { type: 'thinking' | 'redacted_thinking' }>;

export function toAnthropicProviderMetadata(blocks: readonly AnthropicNativeBlock[]): ProviderMetadata | undefined {
  return blocks.some(isThinkingBlock) ? { provider, content: [...blocks] } : undefined;
}

/**
 * Returns the stored blocks of a message if they still match its content, else undefined. The thinking is then omitted completely: partial
 * or moved thinking fails with "thinking blocks cannot be modified".
 */
export function matchingAnthropicNativeBlocks({
  native,
  content,
  toolCalls = [],
}: AssistantMessage): AnthropicNativeBlock[] | undefined {
  if (native?.provider !== provider || !Array.isArray(native.content)) return undefined;
  const blocks = native.content.filter(isBlock);
  const texts = blocks.filter((block) => block.type === 'text');
  const fits =
    blocks.length === native.content.length &&
    texts.reduce((sum, { length }) => sum + length, 0) === content.length &&
    blocks.filter(({ type }) => type === 'tool_use').length === toolCalls.length;
  return fits ? blocks : undefined;
}

export const isThinkingBlock = (block: { type: string }): block is ThinkingBlock =>
  block.type === 'thinking' || block.type === 'redacted_thinking';

export function thinkingSignature(block: ThinkingBlock): string {
  return String(block.signature || block.data || block.thinking);
}

const isBlock = (value: unknown): value is AnthropicNativeBlock => blockSchema.safeParse(value).success;

const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), length: z.int().nonnegative() }),
  z.object({ type: z.enum(['tool_use', 'thinking', 'redacted_thinking']) }),
]);
