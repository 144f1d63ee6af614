import { type ResolvedPath, realRootsOf, resolvePath } from '../gate/paths.ts';
import { secretReason } from '../gate/protected.ts';
import { refuse } from '../gate/spelling.ts';
import type { Workspace } from '../workspace.ts';

/** Where to look: a root's real folder, the target below it as ripgrep wants it, and what its paths begin with. */
export interface SearchPlace {
  folder: string;
  target: string;
  prefix: string;
}

/** The places a path means for a search; without a path all roots. A secret file is refused: `fs.read` asks for it. */
export async function searchPlaces(workspace: Workspace, path: string | undefined): Promise<SearchPlace[]> {
  const roots = await realRootsOf(workspace.roots);
  const prefixOf = (name: string) => (roots.length > 1 ? `${name}/` : '');
  if (isAll(path) && roots.length > 0) {
    return roots.map((root) => ({ folder: root.realPath, target: './', prefix: prefixOf(root.name) }));
  }
  const file: ResolvedPath = await resolvePath(workspace.roots, path ?? '.', 'search');
  const root = roots.find((root) => isBelow(root.realPath, file.path))!;
  const prefix = prefixOf(root.name);
  const below = file.relative.slice(prefix.length);
  if (file.kind === 'file' && secretReason(below.split('/')))
    throw refuse('SECRET_READ', 'Searches skip files that may hold secrets. fs.read asks the person.');
  return [{ folder: root.realPath, target: below === '.' || below === '' ? './' : `./${below}`, prefix }];
}

export const isAll = (path: string | undefined) => path === undefined || path === '.' || path === './';

const isBelow = (folder: string, path: string) =>
  path === folder ||
  path.startsWith(/[\\/]$/.test(folder) ? folder : folder + (process.platform === 'win32' ? '\\' : '/'));

/** A path of ripgrep's, as the workspace names it. */
export const workspacePath = (place: SearchPlace, path: string) =>
  place.prefix + path.replace(/^\.[\\/]/, '').replaceAll(process.platform === 'win32' ? '\\' : '/', '/');
