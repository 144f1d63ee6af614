import { promises as fs } from 'node:fs';
import path from 'node:path';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { RunHistoryIndex } from './history.ts';
import { acquireRunLock } from './lock.ts';
import { PublishedRunStatuses } from './windowStatus.ts';

/**
 * Moves the runs of another store into this store, deleted runs included; returns the number of runs. Each run moves by an atomic rename.
 * Open runs and existing names are skipped. Never rejects.
 *
 * @param from absolute folder of the other store
 * @param to absolute folder of this store
 */
export async function mergeStorages(from: string, to: string): Promise<number> {
  const [history, marks] = [new RunHistoryIndex(from), new PublishedRunStatuses(path.join(from, 'now'))];
  const came = await mapLimit(await runsIn(path.join(from, 'runs')), 1, async (id) => {
    const lock = await acquireRunLock(path.join(from, 'runs', id, 'lock')).catch(() => undefined);
    if (!lock) return false;
    try {
      if (!(await take(path.join(from, 'runs', id), path.join(to, 'runs', id)))) return false;
      await fs.rm(path.join(to, 'runs', id, 'lock'), { force: true });
      await history.drop(id);
      await marks.set(id, undefined);
      return true;
    } catch {
      return false;
    } finally {
      await lock.release();
    }
  });
  for (const name of await runsIn(path.join(from, 'deleted')))
    await take(path.join(from, 'deleted', name), path.join(to, 'deleted', name));
  return came.filter(Boolean).length;
}

const runsIn = async (folder: string): Promise<string[]> =>
  (await fs.readdir(folder).catch(() => [])).filter((name) => /^(\d{1,15}\.)?run-[\w-]{1,100}$/.test(name));

async function take(from: string, to: string): Promise<boolean> {
  try {
    await fs.mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    if (await fs.stat(to).catch(() => undefined)) return false;
    await fs.rename(from, to);
    return true;
  } catch {
    return false;
  }
}
