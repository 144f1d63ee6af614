import { existsSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { mergeStorages } from '../../runs/mergeStorages.ts';

/**
 * Returns the storage folder shared by all windows of a workspace. A second window of the same folder (another browser, or a reconnect
 * before the server noticed the disconnect) gets its own storage from the editor, named after the first, without the existing runs. The
 * stores support several windows.
 *
 * @param given folder of the extension in the workspace storage
 */
export function sharedWorkspaceStorageFolder(given: string): string {
  const own = path.dirname(given);
  const first = /^(.+)-[1-9]$/.exec(path.basename(own))?.[1];
  if (first === undefined) return given;
  const workspace = path.join(path.dirname(own), first);
  return existsSync(workspace) ? path.join(workspace, path.basename(given)) : given;
}

/** Moves runs from the separate storages of second windows into the shared storage; returns their number. */
export async function mergeWindowStorages(shared: string): Promise<number> {
  const [workspace, own] = [path.dirname(shared), path.basename(shared)];
  const all = path.dirname(workspace);
  const names = await readdir(all).catch(() => []);
  let came = 0;
  for (const name of names) {
    if (
      !name.startsWith(`${path.basename(workspace)}-`) ||
      sharedWorkspaceStorageFolder(path.join(all, name, own)) !== shared
    )
      continue;
    came += await mergeStorages(path.join(all, name, own, 'store'), path.join(shared, 'store'));
  }
  return came;
}

/**
 * Returns the extension's storage of all workspaces and of windows without a folder.
 *
 * @param storage folder of the extension in the workspace storage
 * @param without storage without an open folder
 */
export function allWorkspaceStorages(storage: string, without: string): string[] {
  const [extension, all] = [path.basename(storage), path.dirname(path.dirname(storage))];
  if (storage === without) return [without]; // other storages are unknown from here
  try {
    return [...readdirSync(all).map((name) => path.join(all, name, extension)), without].filter(existsSync);
  } catch {
    return [storage, without];
  }
}
