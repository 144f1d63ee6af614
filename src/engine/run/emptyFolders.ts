import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace } from '../../tools/core/workspace.ts';
import { resolvePath } from '../../tools/sandbox/paths.ts';

export const existsInWorkspace = async (workspace: Workspace, path: string): Promise<boolean> =>
  (await kindAt(workspace, path)) !== undefined;

/** Tells whether a path is empty or contains only nested empty folders. */
export async function isEmptyOrNestedEmptyFolder(workspace: Workspace, path: string): Promise<boolean> {
  const found = await kindAt(workspace, path);
  return found === undefined || (found.kind === 'folder' && (await emptyFoldersIn(found.path)) !== undefined);
}

/** Removes a folder that contains only nested empty folders; anything else stays. */
export async function removeEmptyTree(workspace: Workspace, path: string): Promise<void> {
  const found = await kindAt(workspace, path);
  if (found?.kind !== 'folder') return;
  for (const folder of (await emptyFoldersIn(found.path)) ?? []) await rmdir(folder);
}

async function kindAt(workspace: Workspace, path: string) {
  const found = await resolvePath(workspace.roots, path, 'delete').catch(() => undefined);
  return found?.kind === 'missing' ? undefined : found;
}

async function emptyFoldersIn(folder: string): Promise<string[] | undefined> {
  const all = await readdir(folder, { withFileTypes: true, recursive: true });
  if (!all.every((entry) => entry.isDirectory())) return undefined;
  const folders = all.map((entry) => join(entry.parentPath, entry.name));
  return [...folders.sort((one, other) => other.length - one.length), folder];
}
