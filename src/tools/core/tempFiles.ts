import { createHash, randomUUID } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import * as paths from 'node:path';

/**
 * Names of temporary files next to the file that is being written: hidden, with an extension ignored by watchers and builds, and of
 * constant length. The process id separates leftovers of a killed process from active writes.
 */
const pattern = /^\.towpath-(\d+)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;
const tempFilePattern = /^\.towpath-[0-9a-f]{16}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const leftoverTempFileGlob = '.towpath-[0-9a-f]*-*-*-*-*-*';

export const isLeftoverTempFile = (name: string): boolean => pattern.test(name) || tempFilePattern.test(name);

export const hasLeftoverTempSegment = (path: string): boolean =>
  path.includes('.towpath-') && path.split('/').some(isLeftoverTempFile);

export const newTempFileName = (name: string): string => `${tempFilePrefix(name)}${randomUUID()}`;
export const isTempFileOf = (name: string, tempName: string): boolean =>
  tempFilePattern.test(tempName) && tempName.startsWith(tempFilePrefix(name));
const tempFilePrefix = (name: string) => `.towpath-${createHash('sha256').update(name).digest('hex').slice(0, 16)}-`;

/**
 * Milliseconds after which a temporary file is surely a leftover. No write lasts this long, and another container may use the same process
 * id.
 */
const surelyOver = 60 * 60 * 1000;

const atWork = new Set<string>();

/** Returns the path of a new file that is moved to its final location synchronously, before other code of this process runs. */
export const newTempFilePath = (folder: string): string =>
  paths.join(folder, `.towpath-${process.pid}-${randomUUID()}.tmp`);

/** Calls `work` with the path of a temporary file in `folder`. Removes the file afterwards, and also leftovers of killed processes. */
export async function withTempFile(folder: string, work: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = newTempFilePath(folder);
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

/** Removes leftovers of killed processes in a folder, without subfolders. Never throws. */
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
  if (pid === process.pid) return true; // an earlier process had the same id
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  const stats = await lstat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > surelyOver;
}
