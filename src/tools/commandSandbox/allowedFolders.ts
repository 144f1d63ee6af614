// @invariant allowed-folders-hold-data: A folder outside of the workspace becomes writable in the sandbox only while it is the user's own, is
// no link, has no secrets, and is not on a path by which programs are found.
import { lstat, realpath, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { findHiddenPaths } from './hiddenPaths.ts';
import { protectedChangeReason } from './protectedChanges.ts';

export interface FolderSurroundings {
  home: string;
  /** Open folders, absolute and real. */
  folders: readonly string[];
  /** Paths that commands cannot read, absolute and real, with the storage of the editor. */
  hidden: readonly string[];
  environment: NodeJS.ProcessEnv;
  uid: number;
}

/**
 * Returns the folder that must be writable so that a command can write a path: the nearest one that exists. Undefined for a folder that no
 * command may write, such as the home folder.
 */
export async function findAllowableFolder(path: string, surroundings: FolderSurroundings): Promise<string | undefined> {
  if (!paths.isAbsolute(path)) return undefined;
  let nearest = paths.normalize(path);
  while (!(await lstat(nearest).catch(() => undefined)) && nearest !== '/') nearest = paths.dirname(nearest);
  const real = await realpath(nearest).catch(() => undefined);
  const stats = real === undefined ? undefined : await stat(real).catch(() => undefined);
  if (!real || !stats) return undefined; // a link that leads nowhere
  const folder = stats.isDirectory() ? real : paths.dirname(real);
  if (!(await mayBeAllowed(folder, surroundings))) return undefined;
  const { home } = surroundings;
  const found = await findHiddenPaths({ home, folders: [folder] });
  return found.isComplete && !found.paths.some(({ path }) => isBelow(path, folder)) ? folder : undefined;
}

/** Returns the folders of rules that commands may write now, none of them in another one. */
export async function usableFolders(allowed: readonly string[], surroundings: FolderSurroundings): Promise<string[]> {
  const usable: string[] = [];
  for (const folder of allowed)
    if ((await realpath(folder).catch(() => undefined)) === folder && (await mayBeAllowed(folder, surroundings)))
      usable.push(folder);
  return usable.filter((one) => !usable.some((other) => other !== one && isBelow(one, other)));
}

async function mayBeAllowed(folder: string, surroundings: FolderSurroundings): Promise<boolean> {
  const { folders, hidden, environment, uid } = surroundings;
  const home = await realpath(surroundings.home).catch(() => surroundings.home);
  const stats = await lstat(folder).catch(() => undefined);
  if (!stats?.isDirectory() || stats.uid !== uid || (stats.mode & 0o002) !== 0) return false;
  const kept = [home, ...folders, ...hidden, ...(await searchedFolders(environment))];
  if (kept.some((one) => isBelow(one, folder))) return false;
  if (kept.some((one) => one !== home && isBelow(folder, one))) return false;
  const cache = environment.XDG_CACHE_HOME ?? paths.join(home, '.cache');
  const isInCache = cache !== folder && isBelow(folder, cache) && isBelow(cache, home) && cache !== home;
  const isOfHome = isBelow(folder, home);
  const [top = '', ...rest] = paths.relative(isInCache ? cache : isOfHome ? home : '/', folder).split(paths.sep);
  if (!isOfHome && (uid === 0 || systemFolders.has(top))) return false;
  return [top, ...rest].every(isOrdinaryName) && !protectedChangeReason([top, ...rest, 'file'], 'workspace', 'file');
}

const systemFolders = new Set('bin boot dev etc lib lib32 lib64 libx32 proc root run sbin sys tmp usr var'.split(' '));

/** Hidden folders have settings; desktops and shells start what is in folders with such names, also of Windows under WSL. */
const isOrdinaryName = (name: string): boolean =>
  !name.startsWith('.') && !/^(?:s?bin|scripts|applications|library|appdata|startup)$/i.test(name);

/** Folders in which programs look for other programs, libraries and settings, by the variables that list them. */
async function searchedFolders(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const listed = Object.entries(environment).flatMap(([name, value]) =>
    /(?:PATH|_DIRS|LIB|CONFIG_HOME|DATA_HOME)$/.test(name) ? (value ?? '').split(paths.delimiter) : [],
  );
  const absolute = [...new Set(listed)].filter((folder) => folder !== '/' && paths.isAbsolute(folder));
  const real = await Promise.all(absolute.map((folder) => realpath(folder).catch(() => folder)));
  return real.map((folder) => paths.resolve(folder)).filter((folder) => folder !== '/');
}

const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(paths.sep) ? folder : folder + paths.sep);
