import { constants } from 'node:fs';
import { lstat, open, readdir, readlink, rename, rmdir, unlink } from 'node:fs/promises';
import * as paths from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { isTempFileOf, newTempFileName } from '../core/tempFiles.ts';
import { ToolError } from '../core/tool.ts';
import type { TreeEntry } from '../core/workspace.ts';
import { O_PATH, supportsFolderHandles, withStableFolder } from './dirHandle.ts';

/**
 * Lists a real path and everything below in a stable order, without following links, including links swapped in later. Undefined above
 * `most` entries.
 */
export async function listTree(path: string, most: number): Promise<TreeEntry[] | undefined> {
  let entries: TreeEntry[] | undefined;
  await withStableFolder(path, false, async (folder, name) => {
    entries = await list(folder, name, most);
  });
  return entries;
}

/**
 * Removes a file, a link or a whole folder, without following links, including links swapped in later. A folder must contain exactly the
 * listed entries (`E_PRECONDITION_FAILED`), and leaves its path at once.
 */
export async function removeTree(path: string, listed?: readonly TreeEntry[]): Promise<void> {
  await withStableFolder(path, false, async (folder, name) => {
    const at = paths.join(folder, name);
    if (!(await lstat(at)).isDirectory()) return unlink(at);
    const tempName = newTempFileName(name);
    const putBack = () => rename(paths.join(folder, tempName), at);
    await rename(at, paths.join(folder, tempName));
    // Another process with an open handle may still write for a moment.
    const now = listed && (await list(folder, tempName, listed.length).catch(() => undefined));
    if (!now || !isDeepStrictEqual(now, listed)) {
      await putBack();
      throw holdsSomethingElse(name);
    }
    try {
      await remove(folder, tempName);
    } catch (error) {
      await putBack();
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      const message = `${quoteForMessage(name)} was deleted only in part (${code}). What is left of it is where it was.`;
      throw new ToolError('TOOL_EXEC_FAILED', message);
    }
  });
}

/** Restores the rest of a folder whose removal was interrupted by a kill. Does nothing if the path exists or nothing remains. */
export async function restoreTree(path: string): Promise<void> {
  await withStableFolder(path, false, async (folder, name) => {
    const at = paths.join(folder, name);
    const tempNames = (await readdir(folder)).filter((one) => isTempFileOf(name, one));
    const stats = await lstat(at).catch(() => undefined);
    if (tempNames.length === 1 && !stats) await rename(paths.join(folder, tempNames[0]!), at);
  });
}

/** Checks the contents right before another component removes the folder. Throws `E_PRECONDITION_FAILED`. */
export async function checkTree(path: string, listed: readonly TreeEntry[]): Promise<void> {
  const now = await listTree(path, listed.length);
  if (!isDeepStrictEqual(now, listed)) throw holdsSomethingElse(paths.basename(path));
}

const holdsSomethingElse = (name: string) =>
  new ToolError(
    'E_PRECONDITION_FAILED',
    `${quoteForMessage(name)} holds something else than was shown: it changed meanwhile. Nothing was deleted.`,
  );

async function list(folder: string, name: string, most: number): Promise<TreeEntry[] | undefined> {
  const entries: TreeEntry[] = [];
  const visit = async (parent: string, name: string, path: string): Promise<boolean> => {
    if (entries.length === most) return false;
    const at = paths.join(parent, name);
    const stats = await lstat(at, { bigint: true });
    const mode = Number(stats.mode) & 0o777;
    const version = `${stats.dev} ${stats.ino} ${stats.mtimeNs}`;
    if (stats.isFile()) entries.push({ path, kind: 'file', size: Number(stats.size), mode, version });
    else if (stats.isSymbolicLink()) entries.push({ path, kind: 'link', size: 0, mode, target: await readlink(at) });
    else entries.push({ path, kind: stats.isDirectory() ? 'folder' : 'other', size: 0, mode });
    if (!stats.isDirectory()) return true;
    return inside(at, async (held) => {
      for (const child of (await readdir(held)).sort())
        if (!(await visit(held, child, path === '' ? child : `${path}/${child}`))) return false;
      return true;
    });
  };
  return (await visit(folder, name, '')) ? entries : undefined;
}

async function remove(folder: string, name: string): Promise<void> {
  const at = paths.join(folder, name);
  for (let attempt = 1; ; attempt++)
    try {
      if (!(await lstat(at)).isDirectory()) return await unlink(at);
      await inside(at, async (held) => {
        for (const child of await readdir(held)) await remove(held, child);
      });
      return await rmdir(at);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      // The kind changed a moment ago.
      if (attempt === 3 || !['ENOTDIR', 'EISDIR', 'ELOOP', 'EPERM'].includes(code)) throw error;
    }
}

// Works in a folder through a stable name (Linux only); fails if the folder has become a link.
async function inside<Value>(folder: string, work: (held: string) => Promise<Value>): Promise<Value> {
  if (!(await supportsFolderHandles())) return work(folder);
  const handle = await open(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}
