import { lstat, readdir } from 'node:fs/promises';
import * as paths from 'node:path';

/**
 * Returns the files and folders of the kernel in `/proc` that its user could write: for root, settings of the machine. They belong to the
 * system user without regard to capabilities, and Bubblewrap does not cover those in which it cannot create a file.
 */
export async function findKernelFiles(): Promise<string[]> {
  if (process.getuid!() !== 0) return [];
  const names = (await readdir('/proc')).filter((name) => !/^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const path = paths.join('/proc', name);
      return (await hasWritableFile(path)) ? [path] : [];
    }),
  );
  return found.flat();
}

/** Tests if a file, or a file below a folder, has the permission to be written. Links lead to the folders of processes. */
async function hasWritableFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats || stats.isSymbolicLink()) return false;
  if (!stats.isDirectory()) return (stats.mode & 0o222) !== 0;
  for (const name of await readdir(path).catch(() => []))
    if (await hasWritableFile(paths.join(path, name))) return true;
  return false;
}
