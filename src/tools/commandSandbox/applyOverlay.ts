import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { mapLimit } from '../../protocol/values/concurrency.ts';
import { newTempFilePath } from '../core/tempFiles.ts';
import { O_PATH } from '../sandbox/dirHandle.ts';
import type { FailedPath, OverlayEntry, OverlayLayers } from './overlayChanges.ts';
import { segmentsInGit } from './protectedChanges.ts';
import { joinRaw, type RawPath, toFilePath, toRawPath, toText } from './rawPaths.ts';

/**
 * Paths below the target that were not applied. `conflicts`: something else has changed them since the start of the command. `special`:
 * pipes, sockets, devices. `failed`: the system refused, with its code.
 */
interface AppliedOverlay {
  conflicts: string[];
  special: string[];
  failed: FailedPath[];
}

/** Real folder that is held open. `isOther`: something else has moved or mounted it there since the start of the command. */
interface HeldFolder {
  path: RawPath;
  isOther: boolean;
}

/** Files of a folder that are applied at the same time. */
const maxAtOnce = 8;

/**
 * Applies what a command has written in an overlay to the real folder. No link in the real folder is followed; what something else has
 * changed, moved or mounted there since the start of the command stays as it is. The data of a repository are applied together or not at
 * all.
 * @param since time (milliseconds) of the start of the command, by the clock of the disk
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
  let mount: string | undefined;
  await inFolder(toRawPath(target), async ({ path }) => {
    // A link may have taken the place of a folder above.
    if ((await readlink(path)) === target) await applyAll(applied, toRawPath(upper), { path, isOther: false });
    else result.failed.push({ path: '', code: 'ENOENT' });
  });
  for (const list of [result.conflicts, result.special]) list.sort();
  return result;

  async function applyAll(entries: readonly OverlayEntry[], from: RawPath, into: HeldFolder): Promise<void> {
    const applyOne = (entry: OverlayEntry) =>
      apply(entry, joinRaw(from, entry.name), into).catch((error: NodeJS.ErrnoException) => {
        result.failed.push({ path: toText(entry.path), code: error.code ?? String(error) });
      });
    for (const order of orders) {
      const some = entries.filter((entry) => orderOf(entry) === order);
      // One folder at a time: each is held open.
      for (const entry of some) if (entry.kind === 'folder') await applyOne(entry);
      await mapLimit(
        some.filter(({ kind }) => kind !== 'folder'),
        maxAtOnce,
        applyOne,
      );
    }
  }

  async function apply(entry: OverlayEntry, from: RawPath, folder: HeldFolder): Promise<void> {
    if (entry.isUnread || (entry.protectedReason && !isKept(entry))) return;
    if (entry.kind === 'special') {
      result.special.push(toText(entry.path));
      return;
    }
    const into = joinRaw(folder.path, entry.name);
    const before = await statsOf(into);
    if (before && folder.isOther && !before.isDirectory()) {
      result.conflicts.push(toText(entry.path));
    } else if (entry.kind === 'removed') {
      if (before) await remove(into, entry.path);
    } else if (entry.kind === 'folder') {
      await applyFolder(entry, from, into, before);
    } else {
      if (before && !(before.isDirectory() ? await remove(into, entry.path) : isAsBefore(before, entry.path))) return;
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
    const isOther = isSame && isMoved(before);
    if (!isSame) await mkdir(toFilePath(into), { mode: 0o700 });
    else if (!isOther && (before.mode & 0o700) !== 0o700) await chmod(toFilePath(into), before.mode | 0o700);
    await inFolder(into, (held) =>
      applyAll(entry.children!, from, { path: held.path, isOther: isOther || held.isOther }),
    );
    const { mode } = await lstat(toFilePath(into));
    if (!isOther && (mode & 0o777) !== entry.mode) await chmod(toFilePath(into), entry.mode);
  }

  /** Removes a file, or a folder that is as it was. False if something in it stays. */
  async function remove(into: RawPath, path: RawPath): Promise<boolean> {
    const before = await statsOf(into);
    if (!before) return true;
    if (!isAsBefore(before, path)) return false; // a folder, too: something was added, or it was moved there
    if (!before.isDirectory()) {
      await unlink(toFilePath(into));
      return true;
    }
    let isEmpty = true;
    if ((before.mode & 0o700) !== 0o700) await chmod(toFilePath(into), before.mode | 0o700);
    await inFolder(into, async (held) => {
      if (held.isOther) {
        isEmpty = false;
        result.conflicts.push(toText(path));
        return;
      }
      for (const name of await readdir(toFilePath(held.path), 'latin1'))
        if (!(await remove(joinRaw(held.path, name), joinRaw(path, name)))) isEmpty = false;
    });
    if (isEmpty) await rmdir(toFilePath(into));
    return isEmpty;
  }

  async function conflictsOf(entries: readonly OverlayEntry[], into: RawPath): Promise<string[]> {
    const found: string[] = [];
    for (const { kind, path, children } of entries) {
      if (kind === 'folder') found.push(...(await conflictsOf(children!, into)));
      else if (((await statsOf(joinRaw(into, path)))?.ctimeMs ?? 0) >= since) found.push(toText(path));
    }
    return found;
  }

  function isAsBefore({ ctimeMs }: Stats, path: RawPath): boolean {
    if (ctimeMs < since) return true;
    result.conflicts.push(toText(path));
    return false;
  }

  // A move changes the state of a folder, and not its contents. The files in it keep their times.
  function isMoved({ ctimeMs, mtimeMs }: Stats): boolean {
    return ctimeMs >= since && mtimeMs < since;
  }

  // The name of an open folder stays that folder, even if a link takes its place.
  async function inFolder(path: RawPath, work: (held: HeldFolder) => Promise<void>): Promise<void> {
    const handle = await open(toFilePath(path), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const own = await mountOf(handle.fd);
      mount ??= own;
      await work({ path: `/proc/self/fd/${handle.fd}`, isOther: own !== mount });
    } finally {
      await handle.close();
    }
  }
}

/** Mounts of one disk have the same device number, and different ids. */
const mountOf = async (descriptor: number): Promise<string | undefined> =>
  /^mnt_id:\s*(\d+)/m.exec(await readFile(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];

// The index of a repository names objects and follows the branch: it comes last.
const orders = [0, 1, 2, 3];
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
