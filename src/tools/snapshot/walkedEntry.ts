import { type BigIntStats, lstatSync } from 'node:fs';

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

/** Kinds by their number in a table. */
export const entryKinds = ['file', 'link', 'folder', 'other'] as const;

const kindNumbers = new Map([
  [0o100000, entryKinds.indexOf('file')],
  [0o120000, entryKinds.indexOf('link')],
  [0o040000, entryKinds.indexOf('folder')],
]);

/** Returns the number of a kind in `entryKinds`. */
export const kindNumber = (mode: number): number => kindNumbers.get(mode & 0o170000) ?? entryKinds.indexOf('other');

/** Returns the state of an absolute path, without following a link; undefined if nothing exists. */
export const lookAt = (path: string): BigIntStats | undefined =>
  lstatSync(path, lookOptions) as BigIntStats | undefined;

const lookOptions = { bigint: true, throwIfNoEntry: false } as const;

/** Returns the entry at an absolute path, without following a link; undefined if nothing exists. */
export function lookAtEntry(path: string): WalkedEntry | undefined {
  const stats = lookAt(path);
  if (!stats) return undefined;
  const mode = Number(stats.mode);
  return {
    kind: entryKinds[kindNumber(mode)]!,
    identity: identityOf(stats),
    size: Number(stats.size),
    mode: mode & 0o7777,
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
