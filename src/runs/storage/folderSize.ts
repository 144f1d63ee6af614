import { promises as fs } from 'node:fs';
import path from 'node:path';
import { mapLimit } from '../../protocol/values/concurrency.ts';

/**
 * Returns the bytes of all files below a folder; 0 for a missing folder.
 *
 * @param without names of entries of the folder that are not counted
 */
export async function bytesBelowFolder(folder: string, without: readonly string[] = []): Promise<number> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = await mapLimit(entries, 4, async (entry) => {
    const file = path.join(folder, entry.name);
    if (without.includes(entry.name)) return 0;
    if (entry.isDirectory()) return bytesBelowFolder(file);
    return entry.isFile() ? ((await fs.stat(file).catch(() => undefined))?.size ?? 0) : 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
