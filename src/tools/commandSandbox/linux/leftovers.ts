import { readdir } from 'node:fs/promises';
import * as paths from 'node:path';
import { removeCommandFolder } from './commandFolder.ts';

/** Removes the folders of processes that have ended. Their names begin with `prefix` and the process id. Nothing in them was kept. */
export async function removeLeftovers(parent: string, prefix = ''): Promise<void> {
  const names = await readdir(parent).catch((): string[] => []);
  const left = names.filter((name) => isEndedOwner(name, prefix));
  await Promise.all(left.map((name) => removeCommandFolder(paths.join(parent, name))));
}

/** Tests for a name that begins with `prefix` and the id of a process that has ended. */
export function isEndedOwner(name: string, prefix: string): boolean {
  const pid = name.startsWith(prefix) ? /^\d+(?=-)/.exec(name.slice(prefix.length))?.[0] : undefined;
  return pid !== undefined && hasEnded(Number(pid));
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
