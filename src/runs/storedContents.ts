import { promises as fs } from 'node:fs';
import path from 'node:path';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { acquireShortLock, type RunLock } from './lock.ts';
import { contentsFolder, outputSuffix } from './storage/storedFolders.ts';

// Low limit, because the editor needs the disk, too.
const atOnce = 4;
const maxAtOnce = 50;

/** `contents`: the undo history; `outputs`: complete outputs of commands. */
export type StoredContentKind = 'contents' | 'outputs';

/** File with contents of a run. `run`: name of its folder; `lock`: file to lock before a removal. `size` in bytes, `mtimeMs` in epoch ms. */
export interface StoredContent {
  run: string;
  file: string;
  size: number;
  mtimeMs: number;
  lock?: string;
}

/**
 * Lists the files of a kind of each run.
 *
 * @param runs absolute paths of the folders of the runs
 * @param state `locked`: the runs can be open in a window, so that a removal takes their locks
 */
export async function listStoredContents(
  runs: readonly string[],
  kind: StoredContentKind,
  state?: 'locked',
): Promise<StoredContent[]> {
  const found = await mapLimit(runs, atOnce, async (folder) => {
    const run = path.basename(folder);
    const lock = state ? { lock: path.join(folder, 'lock') } : {};
    const files = (await statsIn(contentsFolder(folder))).filter(({ file }) => kindOf(file) === kind);
    return files.map((one) => ({ run, ...one, ...lock }));
  });
  return found.flat();
}

/** Removes files from the front until at most `bytes` of `total` remain, and returns the remaining bytes. Skips runs open in any window. */
export async function removeStoredContents(
  files: readonly StoredContent[],
  total: number,
  bytes: number,
): Promise<number> {
  let left = total;
  let held: { of?: string; lock?: RunLock; count: number } = { count: 0 };
  const open = new Set<string>();
  try {
    for (const { file, size, lock: of } of files) {
      if (left <= bytes) break;
      if (of !== undefined && open.has(of)) continue;
      if (held.of !== of || held.count >= maxAtOnce) {
        await held.lock?.release();
        held = { of, count: 0, lock: of === undefined ? undefined : await acquireShortLock(of).catch(() => undefined) };
      }
      if (of !== undefined && !held.lock) {
        open.add(of);
        continue;
      }
      await fs.rm(file, { force: true });
      held.count++;
      left -= size;
    }
  } finally {
    await held.lock?.release();
  }
  return left;
}

async function statsIn(folder: string): Promise<Pick<StoredContent, 'file' | 'size' | 'mtimeMs'>[]> {
  const stats = await mapLimit(await names(folder), atOnce, async (name) => {
    const file = path.join(folder, name);
    const stat = await fs.stat(file).catch(() => undefined);
    return stat ? [{ file, size: stat.size, mtimeMs: stat.mtimeMs }] : [];
  });
  return stats.flat();
}

/** Returns the bytes of the files of a folder; 0 for a missing folder. */
export const bytesInFolder = async (folder: string): Promise<number> =>
  (await statsIn(folder)).reduce((total, { size }) => total + size, 0);

/** Returns the bytes of the contents of a run by kind. */
export async function bytesOfContents(run: string): Promise<Record<StoredContentKind, number>> {
  const bytes = { contents: 0, outputs: 0 };
  for (const { file, size } of await statsIn(contentsFolder(run))) bytes[kindOf(file)] += size;
  return bytes;
}

const kindOf = (file: string): StoredContentKind => (file.endsWith(outputSuffix) ? 'outputs' : 'contents');

export const oldestContentsFirst = (files: readonly StoredContent[]): StoredContent[] =>
  files.toSorted((one, two) => one.mtimeMs - two.mtimeMs);

const names = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
