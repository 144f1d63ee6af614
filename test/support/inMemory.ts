import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';
import { isAlive } from './editor/ending.ts';

const gigabyte = 1024 ** 3;

/** What all editors, browsers and folders of a run may take at once. */
const needed = 4 * gigabyte;

/** Room beside that for the programs themselves. */
const spare = 4 * gigabyte;

/**
 * A folder in memory for temporary files, where there is one with room enough: tests make and delete them by the hundred thousand, and every
 * record is waited for until it is on disk. It goes with this process; undefined where files stay on the disk, also because
 * somebody said where (`TMPDIR`).
 */
export function temporaryInMemory(memory = '/dev/shm', given = process.env.TMPDIR): string | undefined {
  if (process.platform !== 'linux' || given) return undefined;
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < needed || freemem() < needed + spare) return undefined;
    for (const name of readdirSync(memory)) {
      const [, pid] = /^tests-(\d+)$/.exec(name) ?? [];
      if (pid && !isAlive(Number(pid))) rmSync(path.join(memory, name), { recursive: true, force: true }); // it was killed
    }
    const folder = path.join(memory, `tests-${process.pid}`); // short: names of sockets are
    mkdirSync(folder, { mode: 0o711 }); // files in it are another owner's at times
    process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
    if (runsPrograms(folder)) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // Not here, or not ours to write in: the disk it is.
  }
  return undefined;
}

/** Containers forbid it in such a folder at times. */
export function runsPrograms(folder: string): boolean {
  const file = path.join(folder, 'program');
  writeFileSync(file, '#!/bin/sh\nexit 7\n', { mode: 0o700 });
  const { status } = spawnSync(file);
  rmSync(file);
  return status === 7;
}
