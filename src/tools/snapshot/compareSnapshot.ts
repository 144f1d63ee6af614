import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { RepositoryChange } from '../../protocol/content/repositoryChange.ts';
import { diffSequences } from '../edit/diff.ts';
import { linesWithoutEndings } from '../sandbox/fileText.ts';
import { readUnchangedFileSync } from '../sandbox/regularFile.ts';
import { readContentAt } from './currentContents.ts';
import { type EntryTable, entryPath } from './entryTable.ts';
import { gitBlobId, ignoredPaths, readGitBlobs } from './gitFiles.ts';
import { maxSnapshotEntries } from './limits.ts';
import { contentId, PackWriter } from './packWriter.ts';
import type { RecordedChange, RecordedState } from './recordedChange.ts';
import { compareRepository, filesBesideObjects, stateFiles } from './repositorySnapshot.ts';
import type { RepositorySnapshot } from './repositoryState.ts';
import {
  readSnapshot,
  type SnapshotEntry,
  type SnapshotRoot,
  type SnapshotScope,
  snapshotEntry,
} from './snapshotFile.ts';
import { isDiskFull, type SnapshotProblem, toSnapshotProblem } from './takeSnapshot.ts';
import { lookAtEntry, type WalkedEntry } from './walkedEntry.ts';
import { walkFiles } from './walkFiles.ts';

export interface CompareRequest {
  id: string;
  /** Folder for snapshots and current contents, absolute. */
  store: string;
  /** Pack to create with the contents of the changes, absolute path. Not created without contents. */
  pack: string;
}

export interface SnapshotComparison {
  changes: RecordedChange[];
  /** Changed files without an earlier content, so that they cannot be restored, absolute paths. */
  lost: string[];
  /** Sums over the changed texts; absent without a change of a text, or if they are too long to compare. */
  lines?: { added: number; removed: number };
  /** Folders without a record that are gone, absolute paths. */
  deletedFolders: string[];
  /** Changed repositories; `path` is the absolute `.git` of the working tree. */
  repositories: RepositoryChange[];
}

// Contents after a call are stored for diffs and branches only up to this size each, and in all.
const maxAfterBytes = 1_000_000;
const maxAllAfterBytes = 50_000_000;
// Larger texts are not compared by line, and none once so much is compared.
const maxComparedBytes = 200_000;
const maxAllComparedBytes = 5_000_000;
const maxUtf8Bytes = 10_000_000;

interface Difference {
  path: string;
  file: string;
  /** Common folder of the repository with the blobs. */
  common?: string;
  before?: SnapshotEntry;
  after?: WalkedEntry;
}

/**
 * Compares the open folders with a snapshot. Contents before the call, and texts after it, are stored in one pack. The snapshot stays until
 * the changes are on record. Throws the error of the disk.
 */
export async function compareSnapshot(request: CompareRequest): Promise<SnapshotComparison | SnapshotProblem> {
  try {
    return await compare(request);
  } catch (error) {
    return toSnapshotProblem(error);
  }
}

async function compare({ id, store, pack }: CompareRequest): Promise<SnapshotComparison> {
  const { roots } = readSnapshot(store, id);
  const differences: Difference[] = [];
  const deletedFolders: string[] = [];
  for (const root of roots.filter(({ repository }) => !repository))
    for (const scope of root.scopes) {
      const folder = paths.join(root.path, scope.path);
      const nested = root.scopes.flatMap(({ path }) => (path === scope.path ? [] : [relativeTo(scope.path, path)]));
      const { current, missing, unreadable } = await walkAgain(
        folder,
        scope,
        new Set(nested.filter((one) => one !== undefined)),
      );
      deletedFolders.push(...missing.map((one) => paths.join(folder, one)));
      const isUnknown = (path: string) => unreadable.some((one) => isBelow(one, path));
      const common = roots.find(({ repository }) => repository?.folders.includes(folder))?.path;
      for (const one of differencesOf(folder, scope, current))
        if (!isUnknown(one.path)) differences.push({ ...one, ...(common !== undefined && { common }) });
    }
  const writer = new PackWriter(pack);
  try {
    const result = await record(store, differences, writer);
    const repositories: RepositoryChange[] = [];
    for (const root of roots) {
      if (!root.repository) continue;
      try {
        const change = await repositoryChange(store, root, root.repository, writer);
        if (change) repositories.push(change);
      } catch (error) {
        if (isDiskFull(error)) throw error;
        result.lost.push(paths.join(root.repository.folder, '.git'));
      }
    }
    writer.finish();
    return { ...result, deletedFolders, repositories };
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

async function repositoryChange(
  store: string,
  { path: common, scopes }: SnapshotRoot,
  snapshot: RepositorySnapshot,
  writer: PackWriter,
): Promise<RepositoryChange | undefined> {
  const scope = scopes[0]!;
  const now = filesBesideObjects(common);
  const { changes, lost } = await record(store, now ? repositoryDifferences(common, scope, now) : [], writer);
  const isFile = ({ before, after }: RecordedChange) => [before, after].every((one) => !one || one.kind === 'file');
  const files = changes.filter(isFile);
  const keep = (content: Buffer) => writer.add(content);
  const change = await compareRepository({ common, scope, snapshot, store, keep }, files);
  const isIncomplete = lost.length > 0 || files.length < changes.length || (change && (snapshot.isPartial ?? !now));
  if (isIncomplete) throw new Error('The repository has changes that are not recorded.');
  return change;
}

function repositoryDifferences(common: string, scope: SnapshotScope, now: EntryTable): Difference[] {
  const then = new Map(
    [...stateFiles(scope.entries)].map(([index, name, folder]) => [name, snapshotEntry(scope, folder, index)]),
  );
  const current = new Map([...stateFiles(now)].map(([index, name]) => [name, now.entry(index)]));
  return [...new Set([...then.keys(), ...current.keys()])].flatMap((path) => {
    const [before, after] = [then.get(path), current.get(path)];
    if (before && !before.isRecent && isSameIdentity(before, after)) return [];
    return [{ path, file: paths.join(common, path), ...(before && { before }), ...(after && { after }) }];
  });
}

/** State of a scope now. `entries` are those that may differ, `unchanged` the indexes of the others in the snapshot. */
interface CurrentScope {
  entries: ReadonlyMap<string, WalkedEntry>;
  unchanged: Uint8Array;
  /** Permissions of all folders, empty or not. */
  folders: ReadonlyMap<string, number>;
}

/** Created and deleted folders count, so that an undo and a redo are exact. */
function differencesOf(folder: string, scope: SnapshotScope, { entries: now, unchanged, folders }: CurrentScope) {
  const differences: Difference[] = [];
  const existed = scope.entries.folders;
  const known = new Set<string>();
  for (const [inside, { start, end }] of existed)
    for (let index = start; index < end; index++) {
      if (unchanged[index]) continue;
      const before = snapshotEntry(scope, inside, index);
      known.add(before.path);
      const after =
        now.get(before.path) ?? (folders.has(before.path) ? lookAtEntry(paths.join(folder, before.path)) : undefined);
      if (before.kind === 'folder' && after?.kind === 'folder') continue;
      if (!isSameIdentity(before, after) || before.isRecent)
        differences.push({
          path: before.path,
          file: paths.join(folder, before.path),
          before,
          ...(after && { after }),
        });
    }
  for (const [path, after] of now)
    if (!known.has(path) && !existed.has(path)) differences.push({ path, file: paths.join(folder, path), after });
  for (const path of folders.keys()) {
    if (existed.has(path) || known.has(path) || now.has(path)) continue;
    const after = lookAtEntry(paths.join(folder, path));
    if (after) differences.push({ path, file: paths.join(folder, path), after });
  }
  for (const [path, { mode }] of existed) {
    if (folders.has(path) || known.has(path)) continue;
    const isTop = path === '';
    if (isTop && (scope.path === '' || lookAtEntry(folder))) continue; // a replaced folder is a change of the scope around
    const after = now.get(path);
    const before = { path, kind: 'folder' as const, identity: undefined, size: 0, mode };
    differences.push({ path, file: paths.join(folder, path), before, ...(after && { after }) });
  }
  return differences;
}

/** Walks a scope as before. New folders are visited unless a pattern ignores them; new repositories are not. */
async function walkAgain(folder: string, scope: SnapshotScope, nested: ReadonlySet<string>) {
  const skipped = new Set(scope.skipped);
  const known = scope.entries.folders;
  const entries = new Map<string, WalkedEntry>();
  const unchanged = new Uint8Array(scope.entries.size);
  const present = new Set<string>();
  const folders = new Map<string, number>();
  const unreadable: string[] = [];
  const onSame = (index: number) => {
    if (scope.recent.has(index)) return false;
    unchanged[index] = 1;
    return true;
  };
  for (let from = ['']; from.length > 0; ) {
    const created: string[] = [];
    for (const start of from) {
      const walked = walkFiles(folder, start, {
        isSkipped(path) {
          if (skipped.has(path) || nested.has(path)) return Boolean(present.add(path));
          if (known.has(path)) return false;
          created.push(path);
          return true;
        },
        isKnown: (path) => known.has(path),
        earlier: { entries: scope.entries, onSame },
        maxEntries: 4 * maxSnapshotEntries - entries.size, // what the call created must not hide what it changed
      });
      for (const [inside, { mode, start, end }] of walked.entries.folders) {
        folders.set(inside, mode);
        for (let index = start; index < end; index++)
          entries.set(entryPath(inside, walked.entries.name(index)), walked.entries.entry(index));
      }
      unreadable.push(...walked.unreadable);
    }
    const ignored = scope.isGit
      ? await ignoredPaths(folder, created).catch(() => new Set<string>())
      : new Set<string>();
    from = created.filter((one) => !ignored.has(one));
  }
  const missing = scope.skipped.filter((one) => !present.has(one));
  return { current: { entries, unchanged, folders }, unreadable, missing };
}

async function record(store: string, differences: readonly Difference[], writer: PackWriter) {
  const blobs = await blobsOf(differences);
  const changes: RecordedChange[] = [];
  const lost: string[] = [];
  const lines = { added: 0, removed: 0 };
  let afterBytes = 0;
  let comparedBytes = 0;
  for (const { file, common, before, after } of differences) {
    const now = after && stateNow(file, after);
    if (after && after.kind !== 'other' && !now) {
      lost.push(file); // unreadable, or it changes all the time
      continue;
    }
    if (before && isSameIdentity(before, after)) {
      if (!now || isSameContent(before, now)) continue;
      if (before.oid !== undefined && !before.stored && common !== undefined)
        for (const [oid, bytes] of await readGitBlobs(common, [before.oid])) blobs.set(oid, bytes);
    }
    const content = before && contentBefore(store, before, blobs);
    const then = before && content && stateOf(before.kind, before.mode, content);
    if (before && !then) {
      if (before.kind !== 'other') lost.push(file);
      continue;
    }
    if ((!then && !now) || (then && now && isSameState(then.state, now.state))) continue;
    if (then?.bytes) writer.add(then.bytes, then.state.id);
    if (now?.bytes && now.bytes.length <= maxAfterBytes && afterBytes < maxAllAfterBytes) {
      afterBytes += now.bytes.length;
      writer.add(now.bytes, now.state.id);
    }
    const texts = [then, now].flatMap((one) => (one?.state.isText && one.bytes ? [one.bytes] : []));
    const length = texts.reduce((sum, { length }) => sum + length, 0);
    if (texts.length > 0 && length <= maxComparedBytes) {
      comparedBytes += length;
      if (comparedBytes <= maxAllComparedBytes) countLines(lines, textOf(then), textOf(now));
    }
    changes.push({ path: file, before: then?.state ?? null, after: now?.state ?? null });
  }
  const isCounted = comparedBytes > 0 && comparedBytes <= maxAllComparedBytes;
  return { changes, lost, ...(isCounted && { lines }) };
}

const textOf = (one: StateWithBytes | undefined): string =>
  one?.state.isText ? (one.bytes?.toString('utf8') ?? '') : '';

function countLines(lines: { added: number; removed: number }, before: string, after: string): void {
  for (const hunk of diffSequences(linesWithoutEndings(before), linesWithoutEndings(after))) {
    lines.added += hunk.toEnd - hunk.toStart;
    lines.removed += hunk.fromEnd - hunk.fromStart;
  }
}

const isSameIdentity = (before: SnapshotEntry, after: WalkedEntry | undefined): boolean =>
  after?.kind === before.kind &&
  after.size === before.size &&
  after.mode === before.mode &&
  after.identity.changed === before.identity?.changed &&
  after.identity.modified === before.identity.modified &&
  after.identity.inode === before.identity.inode;

const isSameState = (one: RecordedState, other: RecordedState): boolean =>
  one.id === other.id && one.kind === other.kind && one.mode === other.mode;

/** State with its content; a large content is only hashed. */
interface StateWithBytes {
  state: RecordedState;
  bytes?: Buffer;
}

function stateOf(kind: SnapshotEntry['kind'], mode: number, bytes: Buffer): StateWithBytes | undefined {
  if (kind === 'other') return undefined;
  if (kind !== 'file') return { state: { kind, id: contentId(bytes), mode }, bytes };
  const isText = isPlainText(bytes);
  return { state: { kind, id: contentId(bytes), mode, size: bytes.length, ...(isText && { isText }) }, bytes };
}

function stateNow(file: string, { kind, mode, size }: WalkedEntry): StateWithBytes | undefined {
  try {
    if (kind === 'link') return stateOf(kind, mode, Buffer.from(readlinkSync(file)));
    if (kind === 'folder') return stateOf(kind, mode, Buffer.alloc(0));
    if (kind === 'other') return undefined;
    return size > maxUtf8Bytes ? hashNow(file) : (readNow(file) ?? readNow(file));
  } catch {
    return undefined; // gone or unreadable by now
  }
}

function readNow(file: string): StateWithBytes | undefined {
  const pieces: Buffer[] = [];
  const stats = readUnchangedFileSync(file, (piece) => pieces.push(Buffer.from(piece)));
  return stats && stateOf('file', Number(stats.mode) & 0o7777, Buffer.concat(pieces));
}

function hashNow(file: string): StateWithBytes | undefined {
  const hash = createHash('sha256');
  const stats = readUnchangedFileSync(file, (piece) => hash.update(piece));
  if (!stats) return undefined;
  const state = { kind: 'file' as const, id: hash.digest('hex'), mode: Number(stats.mode) & 0o7777 };
  return { state: { ...state, size: Number(stats.size) } };
}

function contentBefore(store: string, entry: SnapshotEntry, blobs: ReadonlyMap<string, Buffer>): Buffer | undefined {
  if (entry.kind === 'folder') return Buffer.alloc(0);
  if (entry.kind === 'link') return entry.target === undefined ? undefined : Buffer.from(entry.target);
  if (entry.stored) return readContentAt(store, entry.stored);
  return entry.oid === undefined ? undefined : blobs.get(entry.oid);
}

/** Compares contents where the identity does not decide. */
function isSameContent({ kind, oid, stored }: SnapshotEntry, { state, bytes }: StateWithBytes): boolean {
  if (kind !== 'file') return true;
  if (oid !== undefined) return bytes !== undefined && gitBlobId(bytes, oid.length) === oid;
  return stored === undefined || state.id === stored.id;
}

async function blobsOf(differences: readonly Difference[]): Promise<Map<string, Buffer>> {
  const wanted = new Map<string, Set<string>>();
  for (const { common, before, after } of differences) {
    if (common === undefined || before?.oid === undefined || before.stored || isSameIdentity(before, after)) continue;
    wanted.set(common, (wanted.get(common) ?? new Set()).add(before.oid));
  }
  const blobs = new Map<string, Buffer>();
  for (const [common, oids] of wanted)
    for (const [oid, bytes] of await readGitBlobs(common, [...oids])) blobs.set(oid, bytes);
  return blobs;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isPlainText(bytes: Buffer): boolean {
  if (bytes.length > maxUtf8Bytes || bytes.includes(0)) return false;
  if (bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return false;
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

const isBelow = (folder: string, path: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`);

const relativeTo = (folder: string, path: string): string | undefined =>
  folder === '' ? path : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
