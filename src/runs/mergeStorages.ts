import { promises as fs } from 'node:fs';
import path from 'node:path';
import { mapLimit } from '../protocol/values/mapLimit.ts';
import { History } from './history.ts';
import { takeLock } from './lock.ts';
import { WindowStatus } from './windowStatus.ts';

/**
 * Takes the runs of another store into this one, deleted ones as well; gives how many came. Each goes whole, by one rename, so that it is
 * in one place whoever is killed. What somebody has open there stays, and what is here by that name already. Never rejects.
 * @param from folder of the other store, absolute
 * @param to folder of this one
 */
export async function mergeStorages(from: string, to: string): Promise<number> {
  const [history, marks] = [new History(from), new WindowStatus(path.join(from, 'now'))];
  const came = await mapLimit(await runsIn(path.join(from, 'runs')), 1, async (id) => {
    const lock = await takeLock(path.join(from, 'runs', id, 'lock')).catch(() => undefined);
    if (!lock) return false;
    try {
      if (!(await take(path.join(from, 'runs', id), path.join(to, 'runs', id)))) return false;
      await fs.rm(path.join(to, 'runs', id, 'lock'), { force: true });
      await history.drop(id); // nothing of it stays there
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

/** A run's folder, or a deleted one's. */
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
