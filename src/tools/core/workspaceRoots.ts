import path from 'node:path';
import type { WorkspaceRoot } from './workspace.ts';

/**
 * Returns the open folders under names that can begin a path. A name with several segments is replaced by the folder's own name; equal
 * names (ignoring case) receive parent folders: `api (client)`.
 * @param folders names of the editor, each with its absolute path
 */
export function toWorkspaceRoots(folders: readonly { name: string; path: string }[]): WorkspaceRoot[] {
  const roots = folders.map(({ name, path: at }) => ({ name: isSegment(name) ? name : ownName(at), path: at }));
  return roots.map((root) => {
    const others = roots.filter((other) => other !== root && same(other.name, root.name));
    if (others.length === 0) return root;
    const all = above(root.path).length;
    let depth = 1;
    const nameOf = ({ path: at }: WorkspaceRoot) => above(at).slice(-depth).join('-');
    while (depth < all && others.some((other) => same(nameOf(other), nameOf(root)))) depth++;
    return nameOf(root) ? { ...root, name: `${root.name} (${nameOf(root)})` } : root;
  });
}

const above = (folder: string): string[] => path.dirname(folder).split(/[\\/]/).filter(Boolean);
const isSegment = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[\\/]/.test(name);
const ownName = (folder: string): string => path.basename(folder) || 'root';
const same = (one: string, other: string): boolean =>
  one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();
