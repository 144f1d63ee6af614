import { createPathRefusal } from '../core/pathSyntax.ts';
import { openFolderRoots, type Workspace, type WorkspaceRoot } from '../core/workspace.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { isNamedRoot, type ResolvedPath, resolvePath, resolveWorkspaceRoots } from '../sandbox/paths.ts';
import { secretContentReason } from '../sandbox/secretContent.ts';

export interface SearchRoot {
  folder: string;
  target: string;
  prefix: string;
}

/**
 * Returns the search locations of a path; without a path, all open folders. Secret files are refused; `fs.read` can request an approval.
 */
export async function searchRoots(workspace: Workspace, path: string | undefined): Promise<SearchRoot[]> {
  const roots = await resolveWorkspaceRoots(workspace.roots);
  const prefixOf = (root: WorkspaceRoot) => (isNamedRoot(roots, root) ? `${root.name}/` : '');
  const folders = openFolderRoots(roots);
  if (isWholeWorkspacePath(path) && folders.length > 0) {
    return folders.map((root) => ({ folder: root.realPath, target: './', prefix: prefixOf(root) }));
  }
  const file: ResolvedPath = await resolvePath(workspace.roots, path ?? '.', 'search');
  const root = roots.find((root) => root.mount === file.mount && isBelow(root.realPath, file.path))!;
  const prefix = prefixOf(root);
  const below = file.relative.slice(prefix.length);
  if (file.kind === 'file' && (secretFileReason(below.split('/')) || (await secretContentReason(file.path))))
    throw createPathRefusal('SECRET_READ', 'Searches skip files that may hold secrets. fs.read asks the person.');
  return [{ folder: root.realPath, target: below === '.' || below === '' ? './' : `./${below}`, prefix }];
}

export const isWholeWorkspacePath = (path: string | undefined) => path === undefined || path === '.' || path === './';

const isBelow = (folder: string, path: string) =>
  path === folder ||
  path.startsWith(/[\\/]$/.test(folder) ? folder : folder + (process.platform === 'win32' ? '\\' : '/'));

export function toWorkspacePath(root: SearchRoot, path: string): string {
  const named = process.platform === 'win32' ? path.replaceAll('\\', '/') : path;
  return root.prefix + (named.startsWith('./') ? named.slice(2) : named);
}
