import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { ToolError } from '../tool.ts';
import { fromErrno, type ResolvedPath } from './paths.ts';
import { quoted, refuse } from './spelling.ts';

/**
 * Opens a resolved file for reading and gives it only when it really is that file: a link swapped in anywhere along the
 * path between the decision and this moment is refused. The caller closes the handle.
 */
export async function openForReading(file: ResolvedPath): Promise<{ handle: FileHandle; stats: Stats }> {
  let handle: FileHandle;
  try {
    // O_NONBLOCK: a pipe swapped in must not hang the open. Windows knows neither flag.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    handle = await open(file.path, flags);
  } catch (error) {
    throw fromErrno(error, file.relative);
  }
  try {
    const stats = await handle.stat();
    if (!(await isReally(handle, stats, file.path))) throw swapped(file.relative);
    if (!stats.isFile()) throw refuse('NOT_A_FILE', `${quoted(file.relative)} is not a plain file.`);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error instanceof ToolError ? error : fromErrno(error, file.relative);
  }
}

/** Right before a write: the nearest folder that exists is still the real one, so that nothing lands elsewhere. */
export async function checkFolderOf(file: ResolvedPath): Promise<void> {
  let folder = paths.dirname(file.path);
  for (;;) {
    const real = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && paths.dirname(folder) !== folder) return undefined;
      throw fromErrno(error, file.relative);
    });
    if (real === folder) return;
    // A dangling link has no real path either, but it is there.
    if (real !== undefined || (await lstat(folder).catch(() => undefined))) throw swapped(file.relative);
    folder = paths.dirname(folder);
  }
}

export const swapped = (path: string) =>
  refuse('SYMLINK_ESCAPE', `${quoted(path)} became a link while it was being opened.`);

/** The opened file is the one at this path, with no link on the way. */
export async function isReally(handle: FileHandle, opened: Stats, path: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const actual = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
    if (actual !== undefined) return actual === path;
  }
  const before = await realpath(path);
  const named = await lstat(path);
  const after = await realpath(path);
  return before === path && after === path && named.ino === opened.ino && named.dev === opened.dev;
}
