import { constants } from 'node:fs';
import {
  access,
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import * as paths from 'node:path';
import { ToolError } from '../tool.ts';
import { isReally, readPlain, swapped } from './open.ts';
import { fromErrno } from './paths.ts';
import { quoted } from './spelling.ts';

/** Linux: a handle that only names a folder; Node has no constant for it. */
export const O_PATH = 0o10000000;

/**
 * Creates a file, with missing folders, at a real path. A link swapped in anywhere along the path while that happens is
 * refused, and nothing is made behind it (on Linux; elsewhere that is checked before and after).
 */
export async function createFile(path: string, bytes: Uint8Array, mode?: number): Promise<void> {
  await withFolder(path, true, async (folder, name) => {
    const made = paths.join(folder, name);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
    const handle = await open(made, flags, 0o666);
    try {
      await handle.writeFile(bytes);
      if (mode !== undefined) await handle.chmod(mode);
    } catch (error) {
      await rm(made, { force: true }); // half a file is none
      throw error;
    } finally {
      await handle.close();
    }
  });
}

/** Makes a link again that was removed, in the same way; it is not followed. */
export function createLink(path: string, target: string): Promise<void> {
  return withFolder(path, true, (folder, name) => symlink(target, paths.join(folder, name)));
}

/** Makes an empty folder, in the same way. */
export function createFolder(path: string, mode?: number): Promise<void> {
  return withFolder(path, true, (folder, name) => mkdir(paths.join(folder, name), { mode }).then(() => undefined));
}

/** Puts other bytes into the file that really is at this path, in place. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    const flags = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    handle = await open(path, flags);
    const stats = await handle.stat();
    if (!stats.isFile() || !(await isReally(handle, stats, path))) throw swapped(paths.basename(path));
    await handle.truncate(0);
    await handle.writeFile(bytes);
  } catch (error) {
    throw asToolError(error, path);
  } finally {
    await handle?.close();
  }
}

/** More than any text that is changed. */
const mostBytes = 100_000_000;

/** A file with several names gets an inode of its own: its other names may be outside the workspace. */
export async function breakHardLink(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const nlink = await lstat(path).then(
    (stats) => stats.nlink,
    () => 1,
  );
  if (nlink < 2) return;
  await withFolder(path, false, async (folder, name) => {
    const copy = paths.join(folder, `${name}.${process.pid}.towpath`);
    try {
      const { mode } = await lstat(paths.join(folder, name));
      await writeFile(copy, await readPlain(paths.join(folder, name), mostBytes), { flag: 'wx', mode: 0o600 });
      await chmod(copy, mode & 0o777);
      await rename(copy, paths.join(folder, name));
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    }
  });
}

/** Calls `work` with a name for the folder of a path that stays the same folder whatever is swapped meanwhile. */
export async function withFolder(path: string, make: boolean, work: (folder: string, name: string) => Promise<void>) {
  const folder = paths.dirname(path);
  const handles: FileHandle[] = [];
  try {
    const held = await hold(folder, make, handles);
    await work(held ?? folder, paths.basename(path));
    if (held === undefined && (await realpath(folder)) !== folder) throw swapped(paths.basename(path));
  } catch (error) {
    throw asToolError(error, path);
  } finally {
    for (const handle of handles) await handle.close();
  }
}

/** Goes down from `/` one folder at a time, never through a link. Undefined where the system has no such handles. */
async function hold(folder: string, make: boolean, handles: FileHandle[]): Promise<string | undefined> {
  if (!(await hasHandles())) {
    if (make) await mkdir(folder, { recursive: true });
    if ((await realpath(folder)) !== folder) throw swapped(paths.basename(folder));
    return undefined;
  }
  let held = '/';
  for (const name of folder.split('/').filter(Boolean)) {
    const next = paths.join(held, name);
    const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const handle = await open(next, flags).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ELOOP' || error.code === 'ENOTDIR') throw swapped(name);
      if (error.code !== 'ENOENT' || !make) throw error;
      await mkdir(next).catch(() => undefined); // made by somebody else meanwhile is as good
      return open(next, flags);
    });
    handles.push(handle);
    held = `/proc/self/fd/${handle.fd}`;
  }
  return held;
}

/** The system has names for held folders. */
export const hasHandles = async (): Promise<boolean> =>
  process.platform === 'linux' &&
  access('/proc/self/fd').then(
    () => true,
    () => false,
  );

function asToolError(error: unknown, path: string): ToolError {
  if (error instanceof ToolError) return error;
  const name = paths.basename(path);
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'EEXIST') return new ToolError('E_PRECONDITION_FAILED', `${quoted(name)} exists already.`);
  if (code === 'ENOTDIR') return swapped(name);
  return fromErrno(error, name);
}
