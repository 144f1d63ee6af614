import { promises as fs } from 'node:fs';
import path from 'node:path';
import { isRunLocked } from './lock.ts';

export const sequenceStatesFolder = (store: string): string => path.join(store, 'model-states');

const idOf = (name: string): string | undefined => /^(run-[\w-]{1,100})\./.exec(name)?.[1];

export async function removeSequenceStatesOfRuns(folder: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const names = (await namesIn(folder)).filter((name) => ids.includes(idOf(name)!));
  for (const name of names) await fs.rm(path.join(folder, name), { force: true }).catch(() => {});
}

/** Removes the states of all runs in a store that are not open in any window, except those in `spared`. */
export async function removeRestingSequenceStates(store: string, spared: ReadonlySet<string>): Promise<void> {
  const folder = sequenceStatesFolder(store);
  const ids = await orphanedSequenceStateRunIds(folder, async (id) => {
    return spared.has(id) || isRunLocked(path.join(store, 'runs', id, 'lock'));
  });
  await removeSequenceStatesOfRuns(folder, ids);
}

export async function orphanedSequenceStateRunIds(
  folder: string,
  exists: (id: string) => Promise<boolean>,
): Promise<string[]> {
  const ids = new Set((await namesIn(folder)).flatMap((name) => idOf(name) ?? []));
  const left: string[] = [];
  for (const id of ids) if (!(await exists(id))) left.push(id);
  return left;
}

const namesIn = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
