import { createHash, randomUUID } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import * as paths from 'node:path';

/**
 * Names of what is being written, beside its place, for a moment. Hidden, of an ending that watchers and builds know, of one
 * length whatever the file is called, and with the process that writes it: what a kill left behind is told from what is at work.
 */
const pattern = /^\.towpath-(\d+)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;
/** A folder that is being deleted has such a name meanwhile, by which its own is known again. */
const asidePattern = /^\.towpath-[0-9a-f]{16}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Both as a glob. */
export const leftoverGlob = '.towpath-[0-9a-f]*-*-*-*-*-*';

/** It is nothing of the person's: what the tools find, list and search leaves it out. */
export const isLeftover = (name: string): boolean => pattern.test(name) || asidePattern.test(name);

/** Of a path with `/`: whether one of its names is such a one. */
export const isInLeftover = (path: string): boolean => path.includes('.towpath-') && path.split('/').some(isLeftover);

export const tempFileFor = (name: string): string => `${asideStart(name)}${randomUUID()}`;
export const isTempFileOf = (name: string, aside: string): boolean =>
  asidePattern.test(aside) && aside.startsWith(asideStart(name));
const asideStart = (name: string) => `.towpath-${createHash('sha256').update(name).digest('hex').slice(0, 16)}-`;

/** In milliseconds. Nothing is written for so long; its process may have its number from elsewhere (a container). */
const surelyOver = 60 * 60 * 1000;

/** Being written by this process now. */
const atWork = new Set<string>();

/** A name for a new file that is moved to its place at once, before anything else of this process has its turn. */
export const temporaryIn = (folder: string): string =>
  paths.join(folder, `.towpath-${process.pid}-${randomUUID()}.tmp`);

/** Calls `work` with a path in `folder` for a new file, which is gone afterwards, as is what killed processes left there. */
export async function withTemporary(folder: string, work: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = temporaryIn(folder);
  const name = paths.basename(temporary);
  atWork.add(name);
  try {
    await work(temporary);
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
    atWork.delete(name);
    await sweepTempFiles(folder);
  }
}

/** Removes what killed processes left in a folder, not below it. Never throws. */
export async function sweepTempFiles(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    const [, pid] = pattern.exec(name) ?? [];
    if (pid === undefined || atWork.has(name)) continue;
    const file = paths.join(folder, name);
    if (await isOver(file, Number(pid))) await rm(file, { force: true }).catch(() => undefined);
  }
}

async function isOver(file: string, pid: number): Promise<boolean> {
  if (pid === process.pid) return true; // of one that had this number before
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  const stats = await lstat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > surelyOver;
}
