import { isLeftoverTempFile } from '../core/tempFiles.ts';
import type { VirtualFiles } from '../core/workspace.ts';
import { installedPackageApprovalReason } from '../policy/protectedPaths.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { resolveVirtualPath, workspacePathOfUri } from '../sandbox/virtual.ts';
import { comparePaths } from './sortedResults.ts';

export interface VirtualFile {
  path: string;
  address: string;
}

// Limits of the walk: names, and milliseconds. Each folder is a remote request.
const maxNames = 10_000;
const timeLimit = 15_000;

const atOnce = 8;

interface VirtualWalkResult {
  files: VirtualFile[];
  cut?: string;
}

/**
 * Returns the files below a path, in order, within the limits. Folders of Git and package managers and links are omitted; ignore files are
 * not read. Throws like `resolveVirtualPath`.
 */
export async function virtualFilesBelow(
  virtual: VirtualFiles,
  path: string | undefined,
  signal: AbortSignal,
): Promise<VirtualWalkResult> {
  const all = path === undefined || path === '.' || path === './';
  const begin = all
    ? virtual.folders.map(({ address }) => ({ kind: 'folder' as const, path: address }))
    : [await resolveVirtualPath(virtual, path, 'search')];
  const files: VirtualFile[] = [];
  const named = (address: string) => ({ path: workspacePathOfUri(virtual, address) ?? address, address });
  let folders: string[] = [];
  for (const { kind, path: address } of begin)
    if (kind === 'folder') folders.push(address);
    else files.push(named(address));
  const asked = new Set(folders);
  let seen = 0;
  const until = performance.now() + timeLimit;
  while (folders.length > 0) {
    signal.throwIfAborted();
    const [now, later] = [folders.slice(0, atOnce), folders.slice(atOnce)];
    const lists = await Promise.all(
      now.map((folder) =>
        virtual.list(folder).catch((error) => {
          if (asked.has(folder)) throw error;
          return []; // deleted since, or not readable
        }),
      ),
    );
    const below: string[] = [];
    for (const [at, entries] of lists.entries())
      for (const { name, kind } of entries) {
        seen += 1;
        if (kind === 'folder' ? isLeftOut(name) : kind !== 'file' || isLeftoverTempFile(name)) continue;
        const address = virtual.below(now[at]!, [name]);
        if (kind === 'folder') below.push(address);
        else files.push(named(address));
      }
    folders = [...later, ...below];
    if (folders.length > 0 && (seen > maxNames || performance.now() > until))
      return {
        files: sorted(files),
        cut: `Not all of the virtual folders was looked at: ${seen} names of it. Give a path.`,
      };
  }
  return { files: sorted(files) };
}

const isLeftOut = (name: string) => name === '.git' || installedPackageApprovalReason([name]) !== undefined;
const sorted = (files: VirtualFile[]) => files.sort((one, other) => comparePaths(one.path, other.path));

/** Tests for a possible secret, which a search omits. */
export const isSecretVirtualFile = ({ path }: VirtualFile): boolean => secretFileReason(path.split('/')) !== undefined;
