import { promises as fs } from 'node:fs';
import path from 'node:path';

interface ModelFileLocations {
  /** Absolute paths of folders with the person's models. */
  folders: readonly string[];
  /** Absolute paths of model files that the person picked. */
  files: readonly string[];
  /** Absolute paths of folders where others write: what lies there is known only when it was picked. */
  foreign: readonly string[];
}

/**
 * The real path of a model file that is one of the person's own, for whoever only names it: llama.cpp reads it with native
 * code, so it is not to be a file that a repository brings. Undefined for any other, and for what is not there.
 */
export async function knownModelFile(
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
