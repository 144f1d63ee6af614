import { promises as fs } from 'node:fs';
import path from 'node:path';

export const sequenceStatesFolder = (store: string): string => path.join(store, 'model-states');

const idOf = (name: string): string | undefined => /^(run-[\w-]{1,100})\./.exec(name)?.[1];

export async function removeSequenceStatesOfRuns(folder: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const names = (await namesIn(folder)).filter((name) => ids.includes(idOf(name)!));
  for (const name of names) await fs.rm(path.join(folder, name), { force: true }).catch(() => {});
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
