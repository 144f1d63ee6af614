import type { BigIntStats } from 'node:fs';
import { readdirSync } from 'node:fs';
import * as paths from 'node:path';
import { EntryTable } from './entryTable.ts';
import { entryKinds, kindNumber, lookAt } from './walkedEntry.ts';

interface WalkResult {
  /** Entries in the visited folders. */
  entries: EntryTable;
  /** Folders with an own `.git`, not visited. */
  repositories: string[];
  /** Folders that cannot be read. */
  unreadable: string[];
}

interface WalkOptions {
  /** Tests for folders that are not visited, like ignored folders. */
  isSkipped(path: string): boolean;
  /** Tests for folders that are visited even with an own `.git`. */
  isKnown?(path: string): boolean;
  /** Entries of an earlier walk. Entries that have the same identity still are reported here and left out of the result. */
  earlier?: EarlierEntries;
  maxEntries: number;
}

interface EarlierEntries {
  entries: EntryTable;
  /** Receives an index; returns true if the identity decides. */
  onSame(index: number): boolean;
}

export class TooManyFilesError extends Error {
  override readonly name = 'TooManyFilesError';
}

/**
 * Walks the folder `from` below `root`. Links are not followed; `.git` is never visited. Synchronous, for a worker thread. Throws
 * `TooManyFilesError`.
 */
export function walkFiles(root: string, from: string, options: WalkOptions): WalkResult {
  const { isSkipped, isKnown, earlier, maxEntries } = options;
  const entries = new EntryTable();
  const result: WalkResult = { entries, repositories: [], unreadable: [] };
  let count = 0;
  const pending: string[] = [from];
  const visit = (folder: string): void => {
    const absolute = folder === '' ? root : root + paths.sep + folder;
    const names = readdirSync(absolute, 'latin1'); // preserves the bytes of any name, so that one that is not UTF-8 is recognized
    if (folder !== '' && !isKnown?.(folder) && names.includes('.git')) {
      result.repositories.push(folder);
      return;
    }
    const own = lookAt(absolute);
    if (!own) return;
    const start = entries.size;
    const find = earlier && earlierFinder(earlier.entries, folder);
    const add = (name: string, stats: BigIntStats) => {
      count++;
      const index = find ? find(name) : -1;
      if (index >= 0 && earlier!.entries.isSame(index, stats) && earlier!.onSame(index)) return;
      entries.add(name, stats);
    };
    const prefix = folder === '' ? '' : `${folder}/`;
    const inside: string[] = [];
    let isEmpty = true;
    for (const latin1 of names) {
      if (latin1 === '.git') continue;
      isEmpty = false;
      const name = decodedName(latin1);
      if (name === undefined) continue; // no path of ours can name it
      const stats = lookAt(absolute + paths.sep + name);
      if (!stats) continue;
      if (kindNumber(Number(stats.mode)) === folderKind) inside.push(prefix + name);
      else add(name, stats);
      if (count + entries.folders.size > maxEntries) throw new TooManyFilesError();
    }
    if (isEmpty && folder !== '') add('', own);
    entries.folders.set(folder, { mode: Number(own.mode) & 0o7777, start, end: entries.size });
    for (const path of inside) if (!isSkipped(path)) pending.push(path);
  };
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const start = entries.size;
    try {
      visit(folder);
    } catch (error) {
      if (error instanceof TooManyFilesError) throw error;
      entries.truncate(start);
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') result.unreadable.push(folder);
    }
  }
  return result;
}

const folderKind = entryKinds.indexOf('folder');

/** Returns a function that finds the earlier entries of a folder by name, fast if they are asked for in their order. Index -1: none. */
function earlierFinder(entries: EntryTable, folder: string): (name: string) => number {
  const range = entries.folders.get(folder);
  if (!range) return () => -1;
  let next = range.start;
  let byName: Map<string, number> | undefined;
  return (name) => {
    if (next < range.end && entries.name(next) === name) return next++;
    if (!byName) {
      byName = new Map();
      for (let index = range.start; index < range.end; index++) byName.set(entries.name(index), index);
    }
    const index = byName.get(name);
    if (index === undefined) return -1;
    next = index + 1;
    return index;
  };
}

function decodedName(latin1: string): string | undefined {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, 'latin1');
  const name = bytes.toString('utf8');
  return Buffer.from(name, 'utf8').equals(bytes) ? name : undefined;
}
