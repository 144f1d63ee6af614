import { promises as fs } from 'node:fs';
import path from 'node:path';

/** Where they are in a store: what a local model has read, in files whose names begin with a run's id and a dot. */
export const modelStatesIn = (store: string): string => path.join(store, 'model-states');

/** Of a file's name, the run's id: what follows the first dot is the business of whoever writes it. */
const idOf = (name: string): string | undefined => /^(run-[\w-]{1,100})\./.exec(name)?.[1];

/** Removes what a local model has read of these runs. A file that cannot go now goes with the next sweep. */
export async function removeStates(folder: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const names = (await namesIn(folder)).filter((name) => ids.includes(idOf(name)!));
  for (const name of names) await fs.rm(path.join(folder, name), { force: true }).catch(() => {});
}

/** The runs that states are left of, and that are not there any more. */
export async function idsOfStates(folder: string, isThere: (id: string) => Promise<boolean>): Promise<string[]> {
  const ids = new Set((await namesIn(folder)).flatMap((name) => idOf(name) ?? []));
  const left: string[] = [];
  for (const id of ids) if (!(await isThere(id))) left.push(id);
  return left;
}

const namesIn = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
