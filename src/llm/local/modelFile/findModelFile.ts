import { promises as fs } from 'node:fs';
import path from 'node:path';

interface ModelFileLocations {
  folders: readonly string[];
  files: readonly string[];
  /** Absolute paths of folders writable by others: their files count only if selected. */
  foreign: readonly string[];
}

/**
 * Returns the real path of a model file that belongs to the user; undefined for a missing or other file. llama.cpp parses the file with
 * native code, so a file from a repository must not be loaded by name.
 */
export async function findKnownModelFile(
  file: string,
  { folders, files, foreign }: ModelFileLocations,
): Promise<string | undefined> {
  const real = path.isAbsolute(file) ? await realPath(file) : undefined;
  if (real === undefined) return undefined;
  const reals = async (paths: readonly string[]) =>
    (await Promise.all(paths.map(realPath))).filter((one) => one !== undefined);
  if ((await reals(files)).includes(real)) return real;
  const isIn = (folder: string) =>
    !/^\.\.(?:[\\/]|$)/.test(path.relative(folder, real)) && !path.isAbsolute(path.relative(folder, real));
  if ((await reals(foreign)).some(isIn)) return undefined;
  return (await reals(folders)).some(isIn) ? real : undefined;
}

const realPath = (file: string): Promise<string | undefined> => fs.realpath(file).catch(() => undefined);
