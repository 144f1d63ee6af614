import path from 'node:path';
import type { WorkspaceRoot } from './workspace.ts';

/**
 * The open folders under names that can begin a path. A name that is no one segment of a path gives way to the folder's own; folders
 * that would be called the same (disks may tell no capitals) have as many of the folders above them added as it takes: `api (client)`.
 * @param folders as the editor names them, each with its absolute path
 */
export function rootsOf(folders: readonly { name: string; path: string }[]): WorkspaceRoot[] {
  const roots = folders.map(({ name, path: at }) => ({ name: isSegment(name) ? name : ownName(at), path: at }));
  return roots.map((root) => {
    const others = roots.filter((other) => other !== root && same(other.name, root.name));
    if (others.length === 0) return root;
    const all = above(root.path).length;
    let depth = 1;
    const words = ({ path: at }: WorkspaceRoot) => above(at).slice(-depth).join('-');
    while (depth < all && others.some((other) => same(words(other), words(root)))) depth++;
    return words(root) ? { ...root, name: `${root.name} (${words(root)})` } : root;
  });
}

/** The names of the folders above one, the outermost first. */
const above = (folder: string): string[] => path.dirname(folder).split(/[\\/]/).filter(Boolean);
const isSegment = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[\\/]/.test(name);
const ownName = (folder: string): string => path.basename(folder) || 'root';
const same = (one: string, other: string): boolean =>
  one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();
