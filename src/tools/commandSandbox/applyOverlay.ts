import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { newTempFilePath } from '../core/tempFiles.ts';
import { O_PATH } from '../sandbox/dirHandle.ts';
import type { OverlayEntry, OverlayLayers } from './overlayChanges.ts';
import { segmentsInGit } from './protectedChanges.ts';
import { joinRaw, type RawPath, toFilePath, toRawPath, toText } from './rawPaths.ts';

/**
 * Paths below the target that were not applied. `conflicts`: something else has changed them since the start of the command. `special`:
 * pipes, sockets, devices. `failed`: the system refused, with its code.
 */
interface AppliedOverlay {
  conflicts: string[];
  special: string[];
  failed: { path: string; code: string }[];
}

/**
 * Applies what a command has written in an overlay to the real folder. No link in the real folder is followed; a file that something else
 * has changed since the start of the command stays as it is. The data of a repository are applied together or not at all.
 * @param since change time (milliseconds) of a file that was written in the target at the start of the command
 * @param isKept false for a protected entry that the user did not allow
 */
export async function applyOverlay(
  { upper, target, within }: OverlayLayers,
  changes: readonly OverlayEntry[],
  since: number,
  isKept: (entry: OverlayEntry) => boolean,
): Promise<AppliedOverlay> {
  const result: AppliedOverlay = { conflicts: [], special: [], failed: [] };
  const inGit = (entry: OverlayEntry) => segmentsInGit(toText(entry.path).split('/'), within) !== undefined;
  const git = changes.filter(inGit);
  const gitConflicts = await conflictsOf(git, toRawPath(target));
  result.conflicts.push(...gitConflicts);
  const applied = gitConflicts.length > 0 ? changes.filter((entry) => !inGit(entry)) : changes;
  await inFolder(toRawPath(target), (held) => applyAll(applied, toRawPath(upper), held));
  return result;

  async function applyAll(entries: readonly OverlayEntry[], from: RawPath, into: RawPath): Promise<void> {
    for (const entry of [...entries].sort(inOrder)) {
      const places = [joinRaw(from, entry.name), joinRaw(into, entry.name)] as const;
      await apply(entry, ...places).catch((error: NodeJS.ErrnoException) => {
        result.failed.push({ path: toText(entry.path), code: error.code ?? String(error) });
      });
    }
  }

  async function apply(entry: OverlayEntry, from: RawPath, into: RawPath): Promise<void> {
    if (entry.protectedReason && !isKept(entry)) return;
    const before = await statsOf(into);
    if (entry.kind === 'special') {
      result.special.push(toText(entry.path));
    } else if (entry.kind === 'removed') {
      if (before) await remove(into, entry.path);
    } else if (entry.kind === 'folder') {
      await applyFolder(entry, from, into, before);
    } else {
      if (before?.isDirectory() ? !(await remove(into, entry.path)) : before && hasChanged(before, entry.path)) return;
      if (entry.isCopied || !(await moved(from, into))) await copy(entry, from, into);
    }
  }

  async function applyFolder(entry: OverlayEntry, from: RawPath, into: RawPath, before: Stats | undefined) {
    const isSame = before?.isDirectory() === true;
    if (before && !isSame && !(await remove(into, entry.path))) return;
    if (entry.isWhole && !isSame && (await moved(from, into))) {
      await chmod(toFilePath(into), entry.mode); // a folder is moved with the permission to write
      return;
    }
    if (!isSame) await mkdir(toFilePath(into), { mode: 0o700 });
    else if ((before.mode & 0o700) !== 0o700) await chmod(toFilePath(into), before.mode | 0o700);
    await inFolder(into, (held) => applyAll(entry.children!, from, held));
    const { mode } = await lstat(toFilePath(into));
    if ((mode & 0o777) !== entry.mode) await chmod(toFilePath(into), entry.mode);
  }

  /** Removes a file or a folder. False if something in it stays. */
  async function remove(into: RawPath, path: RawPath): Promise<boolean> {
    const before = await statsOf(into);
    if (!before) return true;
    if (!before.isDirectory()) {
      if (hasChanged(before, path)) return false;
      await unlink(toFilePath(into));
      return true;
    }
    let isEmpty = true;
    if ((before.mode & 0o700) !== 0o700) await chmod(toFilePath(into), before.mode | 0o700);
    await inFolder(into, async (held) => {
      for (const name of await readdir(toFilePath(held), 'latin1'))
        if (!(await remove(joinRaw(held, name), joinRaw(path, name)))) isEmpty = false;
    });
    if (isEmpty) await rmdir(toFilePath(into));
    return isEmpty;
  }

  async function conflictsOf(entries: readonly OverlayEntry[], into: RawPath): Promise<string[]> {
    const found: string[] = [];
    for (const { kind, path, children } of entries) {
      if (kind === 'folder') found.push(...(await conflictsOf(children!, into)));
      else if (((await statsOf(joinRaw(into, path)))?.ctimeMs ?? 0) > since) found.push(toText(path));
    }
    return found;
  }

  function hasChanged({ ctimeMs }: { ctimeMs: number }, path: RawPath): boolean {
    if (ctimeMs <= since) return false;
    result.conflicts.push(toText(path));
    return true;
  }
}

// The index of a repository names objects and follows the branch: it comes last.
const inOrder = (one: OverlayEntry, other: OverlayEntry): number => orderOf(one) - orderOf(other);
const orderOf = ({ name }: OverlayEntry): number =>
  name === 'objects' ? 0 : name === 'HEAD' ? 2 : name === 'index' ? 3 : 1;

async function moved(from: RawPath, into: RawPath): Promise<boolean> {
  try {
    await rename(toFilePath(from), toFilePath(into));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EXDEV') return false; // the store is on another disk
    throw error;
  }
}

/** Copies a file or a link, and puts it in place as a whole. */
async function copy({ kind, mode }: OverlayEntry, from: RawPath, into: RawPath): Promise<void> {
  const temporary = newTempFilePath(joinRaw(into, '..'));
  if (kind === 'link') await symlink(await readlink(toFilePath(from), 'buffer'), temporary);
  else {
    const { atime, mtime } = await lstat(toFilePath(from));
    await copyFile(toFilePath(from), temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await chmod(temporary, mode);
    await utimes(temporary, atime, mtime);
  }
  await rename(temporary, toFilePath(into)).catch(async (error) => {
    await unlink(temporary).catch(() => undefined);
    throw error;
  });
}

const statsOf = (path: RawPath): Promise<Stats | undefined> =>
  lstat(toFilePath(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

// The name of an open folder stays that folder, even if a link takes its place.
async function inFolder(path: RawPath, work: (held: RawPath) => Promise<void>): Promise<void> {
  const handle = await open(toFilePath(path), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}
