import { lstat } from 'node:fs/promises';
import * as paths from 'node:path';
import { isInGit, readIgnored } from '../snapshot/gitFiles.ts';
import { protectedChangeReason } from './protectedChanges.ts';

/** Overlays of one command: each needs a mount of its own. */
const maxFolders = 32;

/**
 * Returns the folders that Git ignores below an open folder (absolute and real), as relative path segments: builds write there. Protected
 * folders and folders of installed packages are left out.
 */
export async function findIgnoredFolders(folder: string): Promise<string[][]> {
  if (!isInGit(folder)) return [];
  const { folders } = await readIgnored(folder).catch(() => ({ folders: [] }));
  const found = await Promise.all(
    [...folders].map(async (path) => {
      const segments = path.split('/');
      const isProtected = protectedChangeReason(segments, 'workspace', 'folder') !== undefined;
      const stats = isProtected ? undefined : await lstat(paths.join(folder, path)).catch(() => undefined);
      return stats?.isDirectory() ? [segments] : [];
    }),
  );
  return found.flat().slice(0, maxFolders);
}
