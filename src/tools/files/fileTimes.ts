import { lstat } from 'node:fs/promises';
import type { ToolCall } from '../../protocol/content/messages.ts';
import type { Workspace } from '../core/workspace.ts';
import { resolvePath } from '../sandbox/paths.ts';

/**
 * Returns sizes and times of the files named by a call of a file tool, as one text for a later comparison; undefined if there are none, for
 * other tools, or without folders on disk. Missing and refused files have a state too.
 */
export async function fileSizesAndTimes(
  { roots, virtual }: Workspace,
  { name, arguments: { path, to }, malformed }: ToolCall,
): Promise<string | undefined> {
  const named = [path, to].filter((one) => typeof one === 'string');
  if (virtual || malformed !== undefined || !name.startsWith('fs.') || named.length === 0) return undefined;
  const states = named.map(async (one) => {
    try {
      const { size, mtimeNs, ctimeNs } = await lstat((await resolvePath(roots, one, 'read')).path, { bigint: true });
      return [size, mtimeNs, ctimeNs].join(' ');
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code);
    }
  });
  return (await Promise.all(states)).join('\n');
}
