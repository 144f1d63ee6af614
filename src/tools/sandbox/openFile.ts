import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, readlink, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { quoted, refuse } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { fromErrno, type ResolvedPath } from './paths.ts';
import { notPlain, openPlain } from './regularFile.ts';

/**
 * Opens a resolved file for reading and gives it only when it really is that file: a link swapped in anywhere along the
 * path between the decision and this moment is refused. The caller closes the handle.
 */
export async function openForReading(file: ResolvedPath): Promise<{ handle: FileHandle; stats: Stats }> {
  const plain = await openPlain(file.path, constants.O_NOFOLLOW ?? 0).catch((error) => {
    throw error.code === notPlain ? notAFile(file.relative) : fromErrno(error, file.relative);
  });
  try {
    if (!(await isReally(plain.handle, plain.stats, file.path))) throw swapped(file.relative);
    return plain;
  } catch (error) {
    await plain.handle.close();
    throw error instanceof ToolError ? error : fromErrno(error, file.relative);
  }
}

const notAFile = (path: string) => refuse('NOT_A_FILE', `${quoted(path)} is not a plain file.`);

/** Right before a write: the nearest folder that exists is still the real one, so that nothing lands elsewhere. */
export async function checkFolderOf(file: ResolvedPath): Promise<void> {
  let folder = paths.dirname(file.path);
  for (;;) {
    const real = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && paths.dirname(folder) !== folder) return undefined;
      throw fromErrno(error, file.relative);
    });
    if (real === folder) return;
    // A dangling link has no real path either, but it is there. A folder that is there is one that another write has just made.
    if (real !== undefined || (await isLink(folder))) throw swapped(file.relative);
    folder = paths.dirname(folder);
  }
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );

export const swapped = (path: string) =>
  refuse('SYMLINK_ESCAPE', `${quoted(path)} became a link while it was being opened.`);

/** The opened file is the one at this path, with no link on the way. */
async function isReally(handle: FileHandle, opened: Stats, path: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const actual = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
    if (actual !== undefined) return actual === path;
  }
  const before = await realpath(path);
  const named = await lstat(path);
  const after = await realpath(path);
  return before === path && after === path && named.ino === opened.ino && named.dev === opened.dev;
}
