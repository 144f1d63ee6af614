import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import * as paths from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { contentPackSuffix } from '../../protocol/values/contentPack.ts';
import { contentId, PackWriter } from './packWriter.ts';
import { identityText, lookAtEntry } from './walkedEntry.ts';

interface StoredFile extends StoredContentPosition {
  identity: string;
}

const indexName = 'current';

/**
 * Contents of the files of the open folders that nothing else holds, stored in packs of one folder. A file with the same identity is never
 * read twice. Synchronous, for a worker thread; one instance per folder.
 */
export class CurrentContents {
  private readonly files: Map<string, StoredFile>;
  private writer: PackWriter | undefined;
  private isChanged = false;
  /** Packs that were looked for, and whether they exist. */
  private readonly packs = new Map<string, boolean>();

  /** @param folder absolute path, created with the first content */
  constructor(private readonly folder: string) {
    this.files = readIndex(folder);
  }

  /** Removes the index of a folder, so that all files are read again. */
  static forget(folder: string): void {
    rmSync(paths.join(folder, indexName), { force: true });
  }

  /** Returns the position of the content of a file (absolute path) if this identity is stored. */
  find(file: string, identity: string): StoredContentPosition | undefined {
    const stored = this.files.get(file);
    return stored?.identity === identity && this.isThere(stored.pack) ? positionOf(stored) : undefined;
  }

  private isThere(pack: string): boolean {
    let isThere = this.packs.get(pack);
    if (isThere === undefined) {
      isThere = existsSync(paths.join(this.folder, pack));
      this.packs.set(pack, isThere);
    }
    return isThere;
  }

  /**
   * Stores a content, unless it is stored already.
   * @param identity '': the file may change without another identity, so that it is read again
   */
  add(file: string, identity: string, content: Uint8Array): StoredContentPosition {
    const id = contentId(content);
    const former = this.files.get(file);
    if (former?.id === id && this.isThere(former.pack)) {
      if (former.identity !== identity) this.isChanged = true;
      former.identity = identity;
      return positionOf(former);
    }
    this.writer ??= new PackWriter(
      paths.join(this.folder, `${Date.now()}-${process.pid}-${++packs}${contentPackSuffix}`),
    );
    this.writer.add(content, id);
    const { offset, length } = this.writer.index.get(id)!;
    const stored = { identity, id, pack: paths.basename(this.writer.file), offset, length };
    this.files.set(file, stored);
    this.isChanged = true;
    return positionOf(stored);
  }

  /**
   * Writes the added contents to disk, and forgets all files but the current. Packs without a current file are removed, except packs of an
   * open snapshot.
   */
  finish(current: ReadonlySet<string>, needed: ReadonlySet<string>): void {
    this.writer?.finish();
    this.writer = undefined;
    for (const file of this.files.keys())
      if (!current.has(file)) {
        this.files.delete(file);
        this.isChanged = true;
      }
    if (!this.isChanged) return;
    this.isChanged = false;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    writeFileSync(paths.join(this.folder, indexName), serialize(this.files), { mode: 0o600 });
    remember(this.folder, this.files);
    const used = new Set([...this.files.values()].map(({ pack }) => pack));
    for (const name of readdirSync(this.folder))
      if (name.endsWith(contentPackSuffix) && !used.has(name) && !needed.has(name))
        rmSync(paths.join(this.folder, name), { force: true });
  }

  abandon(): void {
    lastIndex = undefined;
    this.writer?.abandon();
    this.writer = undefined;
    for (const [file, { pack }] of this.files) if (!existsSync(paths.join(this.folder, pack))) this.files.delete(file);
  }
}

let packs = 0;

const positionOf = ({ id, pack, offset, length }: StoredFile): StoredContentPosition => ({ id, pack, offset, length });

/** Position of a content in a pack of the folder, in bytes, with its ID (SHA-256). */
export interface StoredContentPosition {
  id: string;
  pack: string;
  offset: number;
  length: number;
}

/** Reads a content from a pack of the folder. Throws the error of the system. */
export function readContentAt(folder: string, { pack, offset, length }: StoredContentPosition): Buffer {
  const descriptor = openSync(paths.join(folder, pack), 'r');
  try {
    const bytes = Buffer.alloc(length);
    for (let done = 0; done < length; ) {
      const read = readSync(descriptor, bytes, done, length - done, offset + done);
      if (read === 0) throw new Error('The stored content is incomplete.');
      done += read;
    }
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

// Index that was read or written last. What it says of an identity stays true, also if another window has written since.
let lastIndex: { folder: string; identity: string; files: Map<string, StoredFile> } | undefined;

function remember(folder: string, files: Map<string, StoredFile>): void {
  const entry = lookAtEntry(paths.join(folder, indexName));
  lastIndex = entry && { folder, identity: identityText(entry.identity, entry.size), files };
}

function readIndex(folder: string): Map<string, StoredFile> {
  const file = paths.join(folder, indexName);
  const entry = lookAtEntry(file);
  if (!entry) return new Map();
  const identity = identityText(entry.identity, entry.size);
  if (lastIndex?.folder === folder && lastIndex.identity === identity) return lastIndex.files;
  try {
    const index: unknown = deserialize(readFileSync(file));
    const files = index instanceof Map ? index : new Map();
    lastIndex = { folder, identity, files };
    return files;
  } catch {
    return new Map(); // damaged: all files are read again
  }
}
