import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, link, lstat, mkdir, open, rename, rm, rmdir, symlink } from 'node:fs/promises';
import * as paths from 'node:path';
import { withTemporary } from '../core/tempFiles.ts';
import { withFolder } from './dirHandle.ts';
import { swapped } from './openFile.ts';
import { readPlain } from './regularFile.ts';

/**
 * Creates a file, with missing folders, at a real path, whole or not at all. A link swapped in anywhere along the path while
 * that happens is refused, and nothing is made behind it (on Linux; elsewhere that is checked before and after).
 */
export function createFile(path: string, bytes: Uint8Array, mode?: number): Promise<void> {
  return withFolder(path, true, (folder, name) => create(folder, name, bytes, mode));
}

/** Makes a link again that was removed, in the same way; it is not followed. */
export function createLink(path: string, target: string): Promise<void> {
  return withFolder(path, true, (folder, name) => symlink(target, paths.join(folder, name)));
}

/** Makes an empty folder, in the same way. */
export function createFolder(path: string, mode?: number): Promise<void> {
  return withFolder(path, true, (folder, name) => mkdir(paths.join(folder, name), { mode }).then(() => undefined));
}

/** Removes a folder that is empty, in the same way. Throws what the system says. */
export function removeEmptyFolder(path: string): Promise<void> {
  return withFolder(path, false, (folder, name) => rmdir(paths.join(folder, name)));
}

/**
 * Puts other bytes in the place of the file that really is at this path: whoever looks, also after a kill or a power cut, sees
 * the old ones or the new ones. Its permissions stay, if no `mode` is given, and its owner; of several names that it has, only this one is the new file.
 * Where no other file can take its place (a mount of its own, a folder or an owner that is somebody else's), it is written in
 * place; what a kill leaves half then, `isTorn` (`torn.ts`) knows. Throws `ToolError`, having changed nothing.
 */
export function replaceFile(path: string, bytes: Uint8Array, mode?: number): Promise<void> {
  return withFolder(path, false, (folder, name) => replace(folder, name, bytes, mode));
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
  await withFolder(path, false, async (folder, name) =>
    replace(folder, name, await readPlain(paths.join(folder, name), mostBytes)),
  );
}

/**
 * Writes a file of Towpath's own, whatever was there, in the same way. Its folders are made, for the person alone as the file
 * is. Throws what the system says.
 */
export async function keepFile(path: string, bytes: Uint8Array | string): Promise<void> {
  const folder = paths.dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await withTemporary(folder, async (temporary) => {
    await fill(temporary, Buffer.from(bytes), 0o600);
    await rename(temporary, path);
  });
  await syncFolder(folder);
}

/** A new file that the person has asked for, in their folder by whatever name it has; its folders are made. Throws `EEXIST`. */
export async function makeFile(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(paths.dirname(path), { recursive: true });
  await create(paths.dirname(path), paths.basename(path), bytes);
}

async function create(folder: string, name: string, bytes: Uint8Array, mode?: number): Promise<void> {
  const made = paths.join(folder, name);
  await withTemporary(folder, async (temporary) => {
    await fill(temporary, bytes, mode);
    try {
      await link(temporary, made); // unlike a rename it takes nobody's place
    } catch (error) {
      if (codeOf(error) === 'EEXIST' && (await isLinked(temporary, made))) return;
      if (!hasNoLinks.has(codeOf(error))) throw error;
      await (await open(made, 'wx', 0o600)).close();
      await rename(temporary, made).catch((error) => rm(made, { force: true }).then(() => Promise.reject(error)));
    }
  });
  await syncFolder(folder);
}

/** NFS: a reply was lost, and the repeated request found the link that the first had made. */
async function isLinked(temporary: string, made: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(temporary), lstat(made)]);
  return isSame(one, other);
}

const hasNoLinks = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EXDEV']);

async function replace(folder: string, name: string, bytes: Uint8Array, mode?: number): Promise<void> {
  const at = paths.join(folder, name);
  const there = await lstat(at);
  if (!there.isFile()) throw swapped(name);
  await access(at, constants.W_OK); // a rename asks the folder alone
  try {
    await withTemporary(folder, async (temporary) => {
      await fill(temporary, bytes, mode ?? there.mode & 0o777, there);
      if (!isSame(await lstat(at), there)) throw swapped(name);
      await rename(temporary, at);
    });
  } catch (error) {
    if (!onlyInPlace.has(codeOf(error)) || there.nlink > 1) throw error;
    return writeInPlace(at, bytes, there);
  }
  await syncFolder(folder);
}

/** Of the place, not of the disk: one that is full has no room for the file where it is, either. */
const onlyInPlace = new Set([...hasNoLinks, 'EBUSY', 'EROFS', 'ENAMETOOLONG']);

/** A new file, on disk when this returns. Nobody else can read it before it has its mode; without one it gets that of any new file. */
async function fill(path: string, bytes: Uint8Array, mode?: number, owner?: Stats): Promise<void> {
  const handle = await open(path, 'wx', mode === undefined ? 0o666 : 0o600);
  try {
    await handle.writeFile(bytes);
    const { uid, gid } = await handle.stat();
    if (owner && (owner.uid !== uid || owner.gid !== gid)) await handle.chown(owner.uid, owner.gid);
    if (mode !== undefined) await handle.chmod(mode);
    await toDisk(handle);
  } finally {
    await handle.close();
  }
}

/** From the first byte on, and shortened at the end: what a kill leaves begins as the new one and goes on as the old one. */
async function writeInPlace(at: string, bytes: Uint8Array, there: Stats): Promise<void> {
  const handle = await open(at, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    if (!isSame(await handle.stat(), there)) throw swapped(paths.basename(at));
    const before = await handle.readFile();
    const put = async (content: Uint8Array) => {
      for (let done = 0; done < content.length; )
        done += (await handle.write(content, done, content.length - done, done)).bytesWritten;
      await handle.truncate(content.length);
      await toDisk(handle);
    };
    await put(bytes).catch((error) => put(before).then(() => Promise.reject(error)));
  } finally {
    await handle.close();
  }
}

const isSame = (one: Stats, other: Stats) => one.isFile() && one.ino === other.ino && one.dev === other.dev;

/** Some file systems have no way to say so. */
const toDisk = (handle: FileHandle): Promise<void> =>
  handle
    .sync()
    .catch((error) => (['EINVAL', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error)) ? undefined : Promise.reject(error)));

/** The name itself is on disk. Windows cannot open folders, and needs no such thing. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | undefined)?.code);
