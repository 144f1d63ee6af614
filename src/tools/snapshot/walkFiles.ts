import { type BigIntStats, lstatSync, readdirSync } from 'node:fs';
import * as paths from 'node:path';

/**
 * Differs after any write to a file, also after an in-place write with restored times: modification and change time in nanoseconds, and
 * inode (0 if the disk reports none).
 */
export interface EntryIdentity {
  modified: bigint;
  changed: bigint;
  inode: bigint;
}

/** Entry of a folder on disk. */
export interface WalkedEntry {
  kind: 'file' | 'link' | 'folder' | 'other';
  identity: EntryIdentity;
  size: number;
  mode: number;
}

interface WalkedFolder {
  /** Files, links, empty folders and others, by path relative to the root, with `/`. */
  entries: Map<string, WalkedEntry>;
  /** Permissions of all visited folders; the root is ''. */
  folders: Map<string, number>;
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
  maxEntries: number;
}

export class TooManyFilesError extends Error {
  override readonly name = 'TooManyFilesError';
}

/**
 * Walks the folder `from` below `root`. Links are not followed; `.git` is never visited. Synchronous, for a worker thread. Throws
 * `TooManyFilesError`.
 */
export function walkFiles(root: string, from: string, { isSkipped, isKnown, maxEntries }: WalkOptions): WalkedFolder {
  const walked: WalkedFolder = {
    entries: new Map(),
    folders: new Map(),
    repositories: [],
    unreadable: [],
  };
  const { entries, folders, repositories, unreadable } = walked;
  const pending = [from];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const absolute = folder === '' ? root : root + paths.sep + folder;
    const prefix = folder === '' ? '' : `${folder}/`;
    let children: ReturnType<typeof readEntries>;
    try {
      children = readEntries(absolute);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') unreadable.push(folder);
      continue;
    }
    if (folder !== '' && !isKnown?.(folder) && children.some(({ name }) => name === '.git')) {
      repositories.push(folder);
      continue;
    }
    const own = lookAtEntry(absolute);
    if (!own) continue;
    folders.set(folder, own.mode);
    let isEmpty = true;
    for (const child of children) {
      const name = decodedName(child.name);
      if (name === '.git') continue;
      isEmpty = false;
      if (name === undefined) continue; // no path of ours can name it
      const path = prefix + name;
      if (child.isDirectory()) {
        if (!isSkipped(path)) pending.push(path);
        continue;
      }
      const entry = lookAtEntry(absolute + paths.sep + name);
      if (entry?.kind === 'folder') pending.push(path);
      else if (entry) entries.set(path, entry);
      if (entries.size + folders.size > maxEntries) throw new TooManyFilesError();
    }
    if (isEmpty && folder !== '') entries.set(folder, own);
  }
  return walked;
}

// Latin-1 preserves the bytes of any name, so that a name that is not UTF-8 is recognized.
const readEntries = (folder: string) => readdirSync(folder, { withFileTypes: true, encoding: 'latin1' });

function decodedName(latin1: string): string | undefined {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, 'latin1');
  const name = bytes.toString('utf8');
  return Buffer.from(name, 'utf8').equals(bytes) ? name : undefined;
}

/** Returns the entry at an absolute path, without following a link; undefined if nothing exists. */
export function lookAtEntry(path: string): WalkedEntry | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return undefined;
  const isFile = stats.isFile();
  return {
    kind: isFile ? 'file' : stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : 'other',
    identity: identityOf(stats),
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
  };
}

export const identityOf = ({ mtimeNs, ctimeNs, ino }: BigIntStats): EntryIdentity => ({
  modified: mtimeNs,
  changed: ctimeNs,
  inode: ino,
});

/** Text of an identity with the size, for a file. */
export const identityText = ({ modified, changed, inode }: EntryIdentity, size: number): string =>
  `${size}-${modified}-${changed}-${inode}`;
