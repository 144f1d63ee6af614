import { unpackArchive } from './archive.ts';
import { isArchive } from './archiveNames.ts';
import { loadPackage, type WorkflowPackage } from './load.ts';
import { PackageError, type PackageProblem } from './problem.ts';

export type PackageReadResult = { folder: string } & (
  | { source: WorkflowPackage }
  | (PackageProblem & { others?: readonly PackageProblem[] })
);

/**
 * Reads a package: a folder, or an archive that is first unpacked below `storage`. `folder` is the path of the files; for an archive that
 * cannot be unpacked, the archive.
 */
export async function readWorkflowPackage(source: string, storage: string): Promise<PackageReadResult> {
  let folder = source;
  try {
    if (isArchive(source)) folder = await unpackArchive(source, storage);
    return { folder, source: await loadPackage(folder) };
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const { first, others } = error;
    return { folder, ...first, ...(others.length > 0 && { others }) };
  }
}
