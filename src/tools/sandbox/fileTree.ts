import { constants } from 'node:fs';
import { lstat, open, readdir, readlink, rename, rmdir, unlink } from 'node:fs/promises';
import * as paths from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { quoted } from '../core/pathSyntax.ts';
import { isTempFileOf, tempFileFor } from '../core/tempFiles.ts';
import { ToolError } from '../core/tool.ts';
import type { TreeEntry } from '../core/workspace.ts';
import { hasHandles, O_PATH, withFolder } from './dirHandle.ts';

/**
 * What is at a real path and below it, in an order that does not change. No link is followed, also none that is swapped in
 * meanwhile. Undefined when there is more than `most` of it.
 */
export async function listTree(path: string, most: number): Promise<TreeEntry[] | undefined> {
  let entries: TreeEntry[] | undefined;
  await withFolder(path, false, async (folder, name) => {
    entries = await list(folder, name, most);
  });
  return entries;
}

/**
 * Removes a file, a link or a folder with all that is in it. No link is followed: what it leads to stays, also when it is
 * swapped in meanwhile. A folder must hold exactly what was listed (`E_PRECONDITION_FAILED`), and is gone from its place at once.
 */
export async function removeTree(path: string, listed?: readonly TreeEntry[]): Promise<void> {
  await withFolder(path, false, async (folder, name) => {
    const at = paths.join(folder, name);
    if (!(await lstat(at)).isDirectory()) return unlink(at);
    const aside = tempFileFor(name);
    const putBack = () => rename(paths.join(folder, aside), at);
    await rename(at, paths.join(folder, aside));
    // Whoever was about to change something in it may still do that, for a moment.
    const now = listed && (await list(folder, aside, listed.length).catch(() => undefined));
    if (!now || !isDeepStrictEqual(now, listed)) {
      await putBack();
      throw holdsSomethingElse(name);
    }
    try {
      await remove(folder, aside);
    } catch (error) {
      await putBack();
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      const message = `${quoted(name)} was deleted only in part (${code}). What is left of it is where it was.`;
      throw new ToolError('TOOL_EXEC_FAILED', message);
    }
  });
}

/**
 * After a kill: a folder that was being removed is where it was again, with what is left of it. Nothing happens when something is
 * at the path, or nothing is left.
 */
export async function restoreTree(path: string): Promise<void> {
  await withFolder(path, false, async (folder, name) => {
    const at = paths.join(folder, name);
    const asides = (await readdir(folder)).filter((one) => isTempFileOf(name, one));
    const isThere = await lstat(at).catch(() => undefined);
    if (asides.length === 1 && !isThere) await rename(paths.join(folder, asides[0]!), at);
  });
}

/** Right before somebody else removes it. Throws `E_PRECONDITION_FAILED`. */
export async function checkTree(path: string, listed: readonly TreeEntry[]): Promise<void> {
  const now = await listTree(path, listed.length);
  if (!isDeepStrictEqual(now, listed)) throw holdsSomethingElse(paths.basename(path));
}

const holdsSomethingElse = (name: string) =>
  new ToolError(
    'E_PRECONDITION_FAILED',
    `${quoted(name)} holds something else than was shown: it changed meanwhile. Nothing was deleted.`,
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
      // It was another kind of thing a moment ago.
      if (attempt === 3 || !['ENOTDIR', 'EISDIR', 'ELOOP', 'EPERM'].includes(code)) throw error;
    }
}

/** Works in a folder by a name that stays this folder; fails when it is a link by now. Only Linux has such names. */
async function inside<Value>(folder: string, work: (held: string) => Promise<Value>): Promise<Value> {
  if (!(await hasHandles())) return work(folder);
  const handle = await open(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}
