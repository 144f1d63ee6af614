import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, readlink, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { quoted, refuse } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { fromErrno, type ResolvedPath } from './paths.ts';
import { notPlain, openPlain } from './regularFile.ts';

/**
 * Opens a resolved file for reading and verifies the identity: a link swapped in since the decision is refused. The caller closes the
 * handle.
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

/** Checks right before a write that the nearest existing folder is still the real one. */
export async function checkFolderOf(file: ResolvedPath): Promise<void> {
  let folder = paths.dirname(file.path);
  for (;;) {
    const real = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && paths.dirname(folder) !== folder) return undefined;
      throw fromErrno(error, file.relative);
    });
    if (real === folder) return;
    // A dangling link has no real path, but exists. An existing folder was just created by another write.
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

/** Tests if the opened file is at this path without a link on the way. */
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
