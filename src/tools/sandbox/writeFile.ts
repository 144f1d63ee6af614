import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, link, lstat, mkdir, open, rename, rm, symlink } from 'node:fs/promises';
import * as paths from 'node:path';
import { withTempFile } from '../core/tempFiles.ts';
import { withStableFolder } from './dirHandle.ts';
import { swappedLinkError } from './openFile.ts';
import { readRegularFile } from './regularFile.ts';

/**
 * Creates a file and missing folders at a real path, completely or not at all. A link swapped in during the operation is refused, and
 * nothing is created behind the link (on Linux; elsewhere checked before and after).
 */
export function createFile(path: string, bytes: Uint8Array, mode?: number): Promise<void> {
  return withStableFolder(path, true, (folder, name) => create(folder, name, bytes, mode));
}

export function createLink(path: string, target: string): Promise<void> {
  return withStableFolder(path, true, (folder, name) => symlink(target, paths.join(folder, name)));
}

export function createFolder(path: string, mode?: number): Promise<void> {
  return withStableFolder(path, true, (folder, name) =>
    mkdir(paths.join(folder, name), { mode }).then(() => undefined),
  );
}

/**
 * Replaces the bytes of the real file atomically: after a kill or a power loss, either version is complete. Permissions (without `mode`)
 * and owner are preserved; only this name of a hard-linked file changes. If replacement is impossible (own mount, foreign folder or owner),
 * writes in place; `isPartialWrite` (`changes/tornWrites.ts`) detects a partial write. Throws `ToolError` without any change.
 */
export function replaceFile(path: string, bytes: Uint8Array, mode?: number): Promise<void> {
  return withStableFolder(path, false, (folder, name) => replace(folder, name, bytes, mode));
}

const maxBytes = 100_000_000;

/** Gives a hard-linked file a separate inode: the other names may be outside of the workspace. */
export async function breakHardLink(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const nlink = await lstat(path).then(
    (stats) => stats.nlink,
    () => 1,
  );
  if (nlink < 2) return;
  await withStableFolder(path, false, async (folder, name) =>
    replace(folder, name, await readRegularFile(paths.join(folder, name), maxBytes)),
  );
}

/** Writes an own file of Towpath atomically. Missing folders are created, private to the user like the file. Throws the system's error. */
export async function writeOwnFile(path: string, bytes: Uint8Array | string): Promise<void> {
  const folder = paths.dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await withTempFile(folder, async (temporary) => {
    await fill(temporary, Buffer.from(bytes), 0o600);
    await rename(temporary, path);
  });
  await syncFolder(folder);
}

/** Creates a new file requested by the user in any folder, with missing folders. Throws `EEXIST`. */
export async function createRequestedFile(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(paths.dirname(path), { recursive: true });
  await create(paths.dirname(path), paths.basename(path), bytes);
}

async function create(folder: string, name: string, bytes: Uint8Array, mode?: number): Promise<void> {
  const made = paths.join(folder, name);
  await withTempFile(folder, async (temporary) => {
    await fill(temporary, bytes, mode);
    try {
      await link(temporary, made); // unlike a rename, a link never replaces a file
    } catch (error) {
      if (codeOf(error) === 'EEXIST' && (await isLinked(temporary, made))) return;
      if (!hasNoLinks.has(codeOf(error))) throw error;
      await (await open(made, 'wx', 0o600)).close();
      await rename(temporary, made).catch((error) => rm(made, { force: true }).then(() => Promise.reject(error)));
    }
  });
  await syncFolder(folder);
}

// Detects a lost NFS reply: the repeated request finds the link of the first.
async function isLinked(temporary: string, made: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(temporary), lstat(made)]);
  return isSame(one, other);
}

const hasNoLinks = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EXDEV']);

async function replace(folder: string, name: string, bytes: Uint8Array, mode?: number): Promise<void> {
  const at = paths.join(folder, name);
  const current = await lstat(at);
  if (!current.isFile()) throw swappedLinkError(name);
  await access(at, constants.W_OK); // a rename needs only folder permissions
  try {
    await withTempFile(folder, async (temporary) => {
      await fill(temporary, bytes, mode ?? current.mode & 0o777, current);
      if (!isSame(await lstat(at), current)) throw swappedLinkError(name);
      await rename(temporary, at);
    });
  } catch (error) {
    if (!renameRefusals.has(codeOf(error)) || current.nlink > 1) throw error;
    return writeInPlace(at, bytes, current);
  }
  await syncFolder(folder);
}

// Errors of the path, not of the disk: a full disk has no space for a write in place either.
const renameRefusals = new Set([...hasNoLinks, 'EBUSY', 'EROFS', 'ENAMETOOLONG']);

/**
 * Writes a new file and syncs to disk. Other users cannot read the file before the mode is set; without `mode`, the default mode applies.
 */
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

// Writes from the first byte and truncates at the end: a partial write has a prefix of the new content.
async function writeInPlace(at: string, bytes: Uint8Array, current: Stats): Promise<void> {
  const handle = await open(at, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    if (!isSame(await handle.stat(), current)) throw swappedLinkError(paths.basename(at));
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

const toDisk = (handle: FileHandle): Promise<void> =>
  handle
    .sync()
    .catch((error) => (['EINVAL', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error)) ? undefined : Promise.reject(error)));

// Syncs the folder entry. Windows cannot open folders and does not need this.
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | undefined)?.code);
