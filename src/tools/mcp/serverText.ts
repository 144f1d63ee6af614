import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import type { ListedTool } from './server.ts';

/** Everything about a tool that a model or the gate goes by. */
export type ToolWords = Pick<ListedTool, 'name' | 'title' | 'description' | 'inputSchema' | 'annotations'>;

export const wordsOf = ({ name, title, description, inputSchema, annotations }: ToolWords): ToolWords => ({
  name,
  title,
  description,
  inputSchema,
  annotations,
});

const hashes = new WeakMap<ToolWords, string>();

/** The same for the same words, in whatever order their keys come. */
export function definitionOf(tool: ToolWords): string {
  const hash =
    hashes.get(tool) ??
    createHash('sha256')
      .update(stringify(wordsOf(tool)))
      .digest('hex');
  hashes.set(tool, hash);
  return hash;
}
