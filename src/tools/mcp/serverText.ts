import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import type { ListedTool } from './forms/toolSchema.ts';

export type ServerToolText = Pick<ListedTool, 'name' | 'title' | 'description' | 'inputSchema' | 'annotations'>;

export const pickServerToolText = ({
  name,
  title,
  description,
  inputSchema,
  annotations,
}: ServerToolText): ServerToolText => ({
  name,
  title,
  description,
  inputSchema,
  annotations,
});

const hashes = new WeakMap<ServerToolText, string>();

/** Hash of a tool's text, independent of the order of keys. */
export function hashServerTool(tool: ServerToolText): string {
  const hash =
    hashes.get(tool) ??
    createHash('sha256')
      .update(stringify(pickServerToolText(tool)))
      .digest('hex');
  hashes.set(tool, hash);
  return hash;
}
