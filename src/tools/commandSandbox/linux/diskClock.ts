import { lstat, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a time in milliseconds, as disks record it: what was changed before has an earlier one, and what is changed from now on has this
 * or a later one. Kernels before 6.13 record the time of the last tick of their clock, which several changes can share.
 * @param path a file or folder whose times do not matter
 */
export async function readDiskClock(path: string): Promise<number> {
  const before = await changeTime(path);
  for (;;) {
    const now = await changeTime(path);
    if (now > before) return now;
    await sleep(1);
  }
}

async function changeTime(path: string): Promise<number> {
  const now = new Date();
  await utimes(path, now, now);
  return (await lstat(path)).ctimeMs;
}
