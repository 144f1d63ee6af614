import { existsSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { mergeStorages } from '../../runs/mergeStorages.ts';

/**
 * Where what is kept of a workspace is, whichever of its windows asks. The editor gives a second window of the same folder (another
 * browser, or one that comes back before the server has noticed that the first one is gone) a storage of its own, named after the
 * first one: there would be no run of before in it, and nothing of it would be found again. What we keep is made for several windows.
 * @param given the extension's folder in the workspace's storage
 */
export function sharedStorage(given: string): string {
  const own = path.dirname(given);
  const first = /^(.+)-[1-9]$/.exec(path.basename(own))?.[1];
  if (first === undefined) return given;
  const workspace = path.join(path.dirname(own), first);
  return existsSync(workspace) ? path.join(workspace, path.basename(given)) : given;
}

/** Brings what second windows have kept in a storage of their own, before they shared the first one's, into that; gives how many runs came. */
export async function gatherStorages(shared: string): Promise<number> {
  const [workspace, own] = [path.dirname(shared), path.basename(shared)];
  const all = path.dirname(workspace);
  const names = await readdir(all).catch(() => []);
  let came = 0;
  for (const name of names) {
    if (!name.startsWith(`${path.basename(workspace)}-`) || sharedStorage(path.join(all, name, own)) !== shared)
      continue;
    came += await mergeStorages(path.join(all, name, own, 'store'), path.join(shared, 'store'));
  }
  return came;
}

/**
 * The same folder of every workspace of this machine that has one, and of none.
 * @param storage the extension's folder in the workspace's storage
 * @param without where it is without an open folder
 */
export function everyStorage(storage: string, without: string): string[] {
  const [extension, all] = [path.basename(storage), path.dirname(path.dirname(storage))];
  if (storage === without) return [without]; // what else there is is not known from here
  try {
    return [...readdirSync(all).map((name) => path.join(all, name, extension)), without].filter(existsSync);
  } catch {
    return [storage, without];
  }
}
