import * as z from 'zod';
import type { JsonObject } from '../core/json.ts';
import { word } from '../transport/wireFields.ts';
import type { NativeBlock } from './providerMetadata.ts';

export interface CallBlock {
  type: 'tool_use';
  place: number;
  id: string;
  name: string;
  /** What the block began with: `{}` and the rest in pieces, or (some gateways, whole answers) everything; from some of these its text. */
  input: unknown;
  pieces: string[];
  stopped: boolean;
  given: boolean;
}

/** A block of a reply while it is read. */
export type Block =
  | CallBlock
  | { type: 'text'; length: number }
  | { type: 'thinking'; content: { type: 'thinking'; thinking: string; signature: string } }
  | { type: 'redacted_thinking'; content: { type: 'redacted_thinking'; [field: string]: unknown } }
  /** Tools of the provider's own and what else we did not ask for. */
  | { type: 'other' };

const startSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('thinking') }),
    z.object({ type: z.literal('redacted_thinking') }),
    z.object({ type: z.literal('tool_use'), id: word, name: word, input: z.unknown().optional() }),
    z.object({ type: z.literal('other') }),
  ])
  .catch({ type: 'other' });

/** From the `content_block` a block begins with; `place` is the number of calls before it. */
export function toBlock(content: JsonObject, place: number): Block {
  const start = startSchema.parse(content);
  switch (start.type) {
    case 'text':
      return { type: 'text', length: 0 };
    case 'thinking':
      return { type: 'thinking', content: { type: 'thinking', thinking: '', signature: '' } };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', content: { ...content, type: 'redacted_thinking' } }; // back as it came
    case 'tool_use': {
      const { id = '', name = '', input } = start;
      return { type: 'tool_use', place, id, name, input, pieces: [], stopped: false, given: false };
    }
    default:
      return { type: 'other' };
  }
}

/** What can be said again block by block; a reply with blocks we do not know or did not give loses its thinking. */
export function providerBlocks(blocks: readonly Block[]): NativeBlock[] {
  const known = blocks.every((block) => block.type !== 'other' && (block.type !== 'tool_use' || block.given));
  if (!known) return [];
  return blocks.flatMap((block): NativeBlock[] => {
    if (block.type === 'tool_use') return [{ type: 'tool_use' }];
    if (block.type === 'text') return [{ type: 'text', length: block.length }];
    return block.type === 'other' ? [] : [block.content];
  });
}
