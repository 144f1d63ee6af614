import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** Runs `work` while no other process does. A lock whose owner is gone is taken over. */
export function withFileLock<T>(file: string, work: () => T): T {
  while (!take(file)) {
    if (isStale(file)) rmSync(file, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  }
  try {
    return work();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isStale(file: string): boolean {
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    if (!owner) return Date.now() - statSync(file).mtimeMs > 5000; // made, but its owner's number never arrived
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
