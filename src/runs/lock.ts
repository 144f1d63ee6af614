import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { StoreError } from './journal.ts';

/** One window at a time writes a run. The lock is a file that names its process; a dead process's lock is taken over. */
export interface Lock {
  release(): Promise<void>;
}

export async function takeLock(file: string): Promise<Lock> {
  const mine = JSON.stringify({ pid: process.pid, id: randomUUID() });
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      await create(file, mine);
      return { release: () => release(file, mine) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw StoreError.from(error);
    }
    const holder = await fs.readFile(file, 'utf8').catch(() => undefined);
    if (holder === undefined) continue; // released in this moment
    if (isAlive(holder)) break;
    await removeStale(file, holder);
  }
  throw new StoreError('STORE_LOCKED', 'This run is at work in another window. Stop it there to go on here.');
}

/** Whether a living process has the lock; it is only looked at, so that looking is in nobody's way. */
export async function isLocked(file: string): Promise<boolean> {
  const holder = await fs.readFile(file, 'utf8').catch(() => undefined);
  return holder !== undefined && isAlive(holder);
}

/** Whole at once: a lock that is made and still empty would look like one that a crash left. */
async function create(file: string, content: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  await fs.writeFile(aside, content, { flag: 'wx', mode: 0o600 });
  try {
    await fs.link(aside, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw error;
    await fs.writeFile(file, content, { flag: 'wx', mode: 0o600 }); // a file system without hard links
  } finally {
    await fs.unlink(aside).catch(() => {});
  }
}

/** Moves the stale lock away under a name of our own, and puts it back should it have been a fresh one after all. */
async function removeStale(file: string, holder: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await fs.rename(file, aside);
    if ((await fs.readFile(aside, 'utf8')) !== holder) await fs.link(aside, file);
    await fs.unlink(aside);
  } catch {
    // Another window was faster; the next attempt sees what it left.
  }
}

async function release(file: string, mine: string): Promise<void> {
  if ((await fs.readFile(file, 'utf8').catch(() => '')) === mine) await fs.unlink(file).catch(() => {});
}

function isAlive(holder: string): boolean {
  let pid: unknown;
  try {
    pid = JSON.parse(holder).pid;
  } catch {
    return false;
  }
  if (typeof pid !== 'number' || pid === process.pid) return pid === process.pid;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
