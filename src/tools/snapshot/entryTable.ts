import type { BigIntStats } from 'node:fs';
import { type EntryIdentity, entryKinds, kindNumber, type WalkedEntry } from './walkedEntry.ts';

/** Permissions of a visited folder, and the range of its entries in a table: from `start` up to, but not including, `end`. */
interface WalkedFolder {
  mode: number;
  start: number;
  end: number;
}

/** Columns of a table in the form in which they are stored: one text of all names is written faster than each name. */
export type StoredEntryColumns = Omit<EntryColumns, 'names'> & { names: string };

/** State of entries, by index. */
interface EntryColumns {
  names: string[];
  kinds: Uint8Array;
  modes: Uint16Array;
  sizes: Float64Array;
  /** Modification and change time of each entry, in nanoseconds. */
  times: BigInt64Array;
  inodes: BigUint64Array;
  /** Visited folders by path relative to the root; the root is ''. */
  folders: Map<string, WalkedFolder>;
}

const initialCapacity = 1024;

/**
 * Files, links, empty folders and others below a root, by folder. Columns, because an object for each of 100,000 files costs more than a
 * look at the disk. The entry of an empty folder has the name '' in its own range.
 */
export class EntryTable {
  private readonly columns: EntryColumns;

  constructor(columns?: StoredEntryColumns) {
    this.columns = columns
      ? { ...columns, names: splitFields(columns.names) }
      : {
          names: [],
          kinds: new Uint8Array(initialCapacity),
          modes: new Uint16Array(initialCapacity),
          sizes: new Float64Array(initialCapacity),
          times: new BigInt64Array(2 * initialCapacity),
          inodes: new BigUint64Array(initialCapacity),
          folders: new Map(),
        };
  }

  get size(): number {
    return this.columns.names.length;
  }

  get folders(): Map<string, WalkedFolder> {
    return this.columns.folders;
  }

  add(name: string, stats: BigIntStats): void {
    const index = this.columns.names.push(name) - 1;
    if (index >= this.columns.kinds.length) this.grow();
    this.update(index, stats);
  }

  /** Replaces the state of an entry. */
  update(index: number, stats: BigIntStats): void {
    const { kinds, modes, sizes, times, inodes } = this.columns;
    const mode = Number(stats.mode);
    kinds[index] = kindNumber(mode);
    modes[index] = mode & 0o7777;
    sizes[index] = Number(stats.size);
    times[2 * index] = stats.mtimeNs;
    times[2 * index + 1] = stats.ctimeNs;
    inodes[index] = stats.ino;
  }

  /** Removes the entries from `start` on. */
  truncate(start: number): void {
    this.columns.names.length = start;
  }

  name(index: number): string {
    return this.columns.names[index]!;
  }

  kind(index: number): WalkedEntry['kind'] {
    return entryKinds[this.columns.kinds[index]!]!;
  }

  /** Returns the length of a file in bytes. */
  bytes(index: number): number {
    return this.columns.sizes[index]!;
  }

  /** Tests if an entry may change again without another identity: its change time is not before `time`, or there is no inode. */
  isYoung(index: number, time: bigint): boolean {
    return this.columns.times[2 * index + 1]! >= time || this.columns.inodes[index] === 0n;
  }

  entry(index: number): WalkedEntry {
    const { modes, sizes } = this.columns;
    return { kind: this.kind(index), identity: this.identity(index), size: sizes[index]!, mode: modes[index]! };
  }

  identity(index: number): EntryIdentity {
    const { times, inodes } = this.columns;
    return { modified: times[2 * index]!, changed: times[2 * index + 1]!, inode: inodes[index]! };
  }

  isSame(index: number, stats: BigIntStats): boolean {
    const { kinds, modes, sizes, times, inodes } = this.columns;
    const mode = Number(stats.mode);
    return (
      times[2 * index + 1] === stats.ctimeNs &&
      times[2 * index] === stats.mtimeNs &&
      inodes[index] === stats.ino &&
      sizes[index] === Number(stats.size) &&
      modes[index] === (mode & 0o7777) &&
      kinds[index] === kindNumber(mode)
    );
  }

  /** Returns the columns without unused capacity. */
  stored(): StoredEntryColumns {
    const { names, kinds, modes, sizes, times, inodes, folders } = this.columns;
    const { length } = names;
    return {
      names: joinFields(names),
      kinds: kinds.slice(0, length),
      modes: modes.slice(0, length),
      sizes: sizes.slice(0, length),
      times: times.slice(0, 2 * length),
      inodes: inodes.slice(0, length),
      folders,
    };
  }

  private grow(): void {
    const { columns } = this;
    const capacity = 2 * columns.kinds.length;
    columns.kinds = grown(columns.kinds, new Uint8Array(capacity));
    columns.modes = grown(columns.modes, new Uint16Array(capacity));
    columns.sizes = grown(columns.sizes, new Float64Array(capacity));
    columns.times = grown(columns.times, new BigInt64Array(2 * capacity));
    columns.inodes = grown(columns.inodes, new BigUint64Array(capacity));
  }
}

function grown<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}

/** Returns the path of an entry by its folder and name, both as in a table. */
export const entryPath = (folder: string, name: string): string =>
  folder === '' ? name : name === '' ? folder : `${folder}/${name}`;

/** Joins fields without NUL to a text of them. */
export const joinFields = (fields: readonly string[]): string => fields.map((field) => `${field}\0`).join('');

export const splitFields = (text: string): string[] => text.split('\0').slice(0, -1);
