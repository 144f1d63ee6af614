import * as z from 'zod';
import type { JsonObject } from '../core/json.ts';
import { optionalNonEmptyStringSchema } from '../transport/wireFields.ts';
import type { AnthropicNativeBlock } from './providerMetadata.ts';

export interface AnthropicToolUseBlock {
  type: 'tool_use';
  index: number;
  id: string;
  name: string;
  /**
   * Initial value of the block: `{}` with the rest in `pieces`, or the whole input (some gateways, whole answers); some gateways send the
   * input as text.
   */
  input: unknown;
  pieces: string[];
  stopped: boolean;
  given: boolean;
}

export type AnthropicReplyBlock =
  | AnthropicToolUseBlock
  | { type: 'text'; length: number }
  | { type: 'thinking'; content: { type: 'thinking'; thinking: string; signature: string } }
  | { type: 'redacted_thinking'; content: { type: 'redacted_thinking'; [field: string]: unknown } }
  | { type: 'other' };

const startSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('thinking') }),
    z.object({ type: z.literal('redacted_thinking') }),
    z.object({
      type: z.literal('tool_use'),
      id: optionalNonEmptyStringSchema,
      name: optionalNonEmptyStringSchema,
      input: z.unknown().optional(),
    }),
    z.object({ type: z.literal('other') }),
  ])
  .catch({ type: 'other' });

export function toAnthropicReplyBlock(content: JsonObject, index: number): AnthropicReplyBlock {
  const start = startSchema.parse(content);
  switch (start.type) {
    case 'text':
      return { type: 'text', length: 0 };
    case 'thinking':
      return { type: 'thinking', content: { type: 'thinking', thinking: '', signature: '' } };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', content: { ...content, type: 'redacted_thinking' } }; // verbatim
    case 'tool_use': {
      const { id = '', name = '', input } = start;
      return { type: 'tool_use', index, id, name, input, pieces: [], stopped: false, given: false };
    }
    default:
      return { type: 'other' };
  }
}

/** Returns the blocks that can be sent back. A reply with unknown blocks or with calls that were not delivered loses its thinking. */
export function resendableAnthropicBlocks(blocks: readonly AnthropicReplyBlock[]): AnthropicNativeBlock[] {
  const known = blocks.every((block) => block.type !== 'other' && (block.type !== 'tool_use' || block.given));
  if (!known) return [];
  return blocks.flatMap((block): AnthropicNativeBlock[] => {
    if (block.type === 'tool_use') return [{ type: 'tool_use' }];
    if (block.type === 'text') return [{ type: 'text', length: block.length }];
    return block.type === 'other' ? [] : [block.content];
  });
}
