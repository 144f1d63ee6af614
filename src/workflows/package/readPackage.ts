import { unpackArchive } from './archive.ts';
import { isArchive } from './archiveNames.ts';
import { loadPackage, type Package } from './load.ts';
import { PackageError, type PackageProblem } from './problem.ts';

/** A package that was read, as plain data, or what is wrong with it and in which of its files. */
export type ReadPackage = { folder: string } & (
  | { source: Package }
  | (PackageProblem & { others?: readonly PackageProblem[] })
);

/**
 * Reads a package: a folder, or an archive, which is unpacked below `storage` first. `folder` is where it is read, for an archive that
 * cannot be unpacked the archive itself.
 */
export async function readPackage(place: string, storage: string): Promise<ReadPackage> {
  let folder = place;
  try {
    if (isArchive(place)) folder = await unpackArchive(place, storage);
    return { folder, source: await loadPackage(folder) };
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const { first, others } = error;
    return { folder, ...first, ...(others.length > 0 && { others }) };
  }
}
