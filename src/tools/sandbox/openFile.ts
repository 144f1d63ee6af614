import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, readlink, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { createPathRefusal, quoteForMessage } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { errnoToToolError, type ResolvedPath } from './paths.ts';
import { notRegularFileCode, openRegularFile } from './regularFile.ts';

/**
 * Opens a resolved file for reading and verifies the identity: a link swapped in since the decision is refused. The caller closes the
 * handle.
 */
export async function openForReading(file: ResolvedPath): Promise<{ handle: FileHandle; stats: Stats }> {
  const plain = await openRegularFile(file.path, constants.O_NOFOLLOW ?? 0).catch((error) => {
    throw error.code === notRegularFileCode ? notAFile(file.relative) : errnoToToolError(error, file.relative);
  });
  try {
    if (!(await isReally(plain.handle, plain.stats, file.path))) throw swappedLinkError(file.relative);
    return plain;
  } catch (error) {
    await plain.handle.close();
    throw error instanceof ToolError ? error : errnoToToolError(error, file.relative);
  }
}

const notAFile = (path: string) => createPathRefusal('NOT_A_FILE', `${quoteForMessage(path)} is not a plain file.`);

/** Checks right before a write that the nearest existing folder is still the real one. */
export async function checkParentFolder(file: ResolvedPath): Promise<void> {
  let folder = paths.dirname(file.path);
  for (;;) {
    const real = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && paths.dirname(folder) !== folder) return undefined;
      throw errnoToToolError(error, file.relative);
    });
    if (real === folder) return;
    // A dangling link has no real path, but exists. An existing folder was just created by another write.
    if (real !== undefined || (await isLink(folder))) throw swappedLinkError(file.relative);
    folder = paths.dirname(folder);
  }
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );

export const swappedLinkError = (path: string) =>
  createPathRefusal('SYMLINK_ESCAPE', `${quoteForMessage(path)} became a link while it was being opened.`);

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
