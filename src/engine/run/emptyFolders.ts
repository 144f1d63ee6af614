import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace } from '../../tools/core/workspace.ts';
import { resolvePath } from '../../tools/sandbox/paths.ts';

/** Tells whether something is at this path itself, also a link. */
export const isThere = async (workspace: Workspace, path: string): Promise<boolean> =>
  (await kindAt(workspace, path)) !== undefined;

/** Tells whether nothing is at this path but, at most, a folder that holds nothing but such folders. */
export async function holdsNothing(workspace: Workspace, path: string): Promise<boolean> {
  const there = await kindAt(workspace, path);
  return there === undefined || (there.kind === 'folder' && (await emptyFoldersIn(there.path)) !== undefined);
}

/** Removes a folder that holds nothing but such folders: a file that has gone has left it. Anything else stays whole. */
export async function removeEmptyFolders(workspace: Workspace, path: string): Promise<void> {
  const there = await kindAt(workspace, path);
  if (there?.kind !== 'folder') return;
  for (const folder of (await emptyFoldersIn(there.path)) ?? []) await rmdir(folder);
}

async function kindAt(workspace: Workspace, path: string) {
  const there = await resolvePath(workspace.roots, path, 'delete').catch(() => undefined);
  return there?.kind === 'missing' ? undefined : there;
}

/** The folder and those in it, the deepest first; undefined: there is something else. */
async function emptyFoldersIn(folder: string): Promise<string[] | undefined> {
  const all = await readdir(folder, { withFileTypes: true, recursive: true });
  if (!all.every((entry) => entry.isDirectory())) return undefined;
  const folders = all.map((entry) => join(entry.parentPath, entry.name));
  return [...folders.sort((one, other) => other.length - one.length), folder];
}
