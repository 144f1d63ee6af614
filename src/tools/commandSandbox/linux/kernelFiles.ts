import { readdir, stat } from 'node:fs/promises';
import * as paths from 'node:path';

/**
 * Returns the files and folders of the kernel in `/proc` that its user could write: for root, settings of the machine. They belong to the
 * system user without regard to capabilities, and Bubblewrap does not cover those in which it cannot create a file.
 */
export async function findKernelFiles(): Promise<string[]> {
  if (process.getuid!() !== 0) return [];
  const entries = await readdir('/proc', { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (/^\d+$/.test(entry.name) || entry.isSymbolicLink()) return [];
      const path = paths.join('/proc', entry.name);
      const stats = await stat(path).catch(() => undefined);
      return stats && (stats.isDirectory() || (stats.mode & 0o222) !== 0) ? [path] : [];
    }),
  );
  return found.flat();
}
