import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import type { RefChange, RepositoryChange, RepositoryFileChange } from '../../protocol/content/repositoryChange.ts';
import { readRegularFileSync } from '../sandbox/regularFile.ts';
import { readContentAt } from './currentContents.ts';
import { EntryTable, entryPath } from './entryTable.ts';
import { askGit } from './gitFiles.ts';
import type { RecordedChange } from './recordedChange.ts';
import {
  findRepository,
  hashIndexEntries,
  headCommit,
  isIndexFile,
  isRefLog,
  type RepositoryRefs,
  type RepositorySnapshot,
  readRefs,
} from './repositoryState.ts';
import type { SnapshotScope } from './snapshotFile.ts';
import { TooManyFilesError, walkFiles } from './walkFiles.ts';

interface RecordedRepository {
  /** Common folder of the repository, absolute. */
  common: string;
  snapshot: RepositorySnapshot;
  scope: SnapshotScope;
}

const maxFiles = 20_000;

/**
 * Reads the state of the repositories of working trees, each repository once: refs, index, logs, configuration, hooks and everything else
 * but objects. Folders outside of a repository, and unreadable repositories, are omitted.
 * @param young entries changed since (nanoseconds) may change again without another identity
 */
export async function readRepositories(folders: readonly string[], young: bigint): Promise<RecordedRepository[]> {
  const repositories = new Map<string, RecordedRepository>();
  for (const folder of folders) {
    const found = await findRepository(folder).catch(() => undefined);
    if (!found) continue;
    const { common, own, top } = found;
    const tree = paths.join(top, '.git');
    const known = repositories.get(common);
    known?.snapshot.trees.push(tree);
    const refs = known ? undefined : await readRefs(folder).catch(() => undefined);
    if (!refs) continue;
    const entries = filesBesideObjects(common);
    // Files outside of the folder could not be put back, and the refs of a reftable are not files.
    const isPartial = !entries || top !== folder || existsSync(paths.join(common, 'reftable'));
    const head = headCommit(own, refs);
    const snapshot = { folder, trees: [tree], own, refs, head, ...(isPartial && { isPartial: true as const }) };
    repositories.set(common, { common, snapshot, scope: scopeOf(entries ?? new EntryTable(), young) });
  }
  return [...repositories.values()];
}

function scopeOf(entries: EntryTable, young: bigint): SnapshotScope {
  const indexes = Array.from({ length: entries.size }, (_, index) => index);
  return {
    path: '',
    isGit: false,
    skipped: [],
    entries,
    recent: new Set(indexes.filter((index) => entries.isYoung(index, young))),
    oids: indexes.map(() => ''),
    stored: new Map(),
    targets: new Map(),
  };
}

/** Lists everything of a repository but objects and refs; undefined for too many entries. */
export function filesBesideObjects(common: string): EntryTable | undefined {
  try {
    const isSkipped = (path: string) => isSkippedFolder(common, path);
    return walkFiles(common, '', { isSkipped, maxEntries: maxFiles }).entries;
  } catch (error) {
    if (error instanceof TooManyFilesError) return undefined;
    throw error;
  }
}

/** Yields the index, name and folder of each file of the state, without locks, sockets and packed refs. */
export function* stateFiles(entries: EntryTable): Generator<[index: number, name: string, folder: string]> {
  for (const [folder, { start, end }] of entries.folders)
    for (let index = start; index < end; index++) {
      const name = entryPath(folder, entries.name(index));
      const isFile = entries.kind(index) === 'file' || entries.kind(index) === 'link';
      if (isFile && name !== 'packed-refs' && !name.endsWith('.lock')) yield [index, name, folder];
    }
}

// Objects are never changed. Refs are read and written by Git. A submodule inside of the open folders is a repository of its own.
function isSkippedFolder(common: string, path: string): boolean {
  const [parent, name] = [paths.posix.dirname(path), paths.posix.basename(path)];
  const isOf = (folder: string, ...names: string[]) =>
    names.every((one) => existsSync(paths.join(common, folder, one)));
  if (isOf(path, 'HEAD', 'objects')) return true;
  const isStore = ['objects', 'lfs', 'annex', 'refs', 'reftable'].includes(name);
  return isStore && (parent === '.' || isOf(parent, 'HEAD', 'commondir'));
}

/** Content of a file by its entry before the call; undefined if it was not stored. */
type ReadBefore = (name: string) => Buffer | undefined;

interface Comparison {
  common: string;
  scope: SnapshotScope;
  snapshot: RepositorySnapshot;
  /** Folder for temporary files, absolute. */
  store: string;
}

/**
 * Compares a repository with its state before a call. Undefined: nothing has changed.
 * @param changes changes of its files
 * @throws if the repository is gone or cannot be read
 */
export async function compareRepository(
  { common, scope, snapshot, store }: Comparison,
  changes: readonly RecordedChange[],
): Promise<RepositoryChange | undefined> {
  const { folder, own, refs: before, head } = snapshot;
  const found = await findRepository(folder);
  if (found.common !== common) throw new Error('The folder belongs to another repository.');
  const after = await readRefs(folder);
  const pushed = new Set(changes.flatMap(({ path }) => pushedRef(common, scope, path) ?? []));
  const refs = await changedRefs(folder, before, after, pushed);
  const readBefore: ReadBefore = (name) => {
    const index = indexOf(scope, name);
    const stored = index === undefined ? undefined : scope.stored.get(index);
    return stored && readContentAt(store, stored);
  };
  const files: RepositoryFileChange[] = [];
  for (const { path, before: old, after: now } of changes) {
    const name = nameIn(common, path);
    const change: RepositoryFileChange = {
      name,
      before: old?.id ?? null,
      after: now?.id ?? null,
      ...(old && { mode: old.mode }),
      ...(now && { afterMode: now.mode }),
    };
    if (isIndexFile(name)) {
      const listing = await listingsOf(common, name, old ? readBefore(name) : undefined, store);
      if (listing.before === listing.after) continue;
      change.listing = listing;
    }
    files.push(change);
  }
  if (refs.length === 0 && files.length === 0) return undefined;
  return {
    path: `${folder}${paths.sep}.git`,
    head: { before: head, after: headCommit(own, after) },
    refs,
    files,
  };
}

async function listingsOf(common: string, name: string, before: Buffer | undefined, store: string) {
  const folder = paths.dirname(paths.join(common, name));
  const own = existsSync(folder) ? folder : common; // a working tree may be gone
  const copy = paths.join(store, `${randomUUID()}.index`);
  try {
    if (before) writeFileSync(copy, before, { mode: 0o600 });
    return {
      before: await hashIndexEntries(own, copy),
      after: await hashIndexEntries(own, paths.join(common, name)),
    };
  } finally {
    rmSync(copy, { force: true });
  }
}

const maxExamined = 20;

async function changedRefs(folder: string, before: RepositoryRefs, after: RepositoryRefs, pushed: ReadonlySet<string>) {
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  const changes: RefChange[] = [];
  for (const name of changed.sort()) {
    const [old = null, now = null] = [before.get(name), after.get(name)];
    const isExamined = changed.length <= maxExamined && now !== null && !isSymbolic(now);
    const isNew = isExamined && (await isUnreachable(folder, now, before));
    changes.push({
      name,
      before: old,
      after: now,
      ...(isNew && { isNew: true as const }),
      ...(pushed.has(name) && { isPushed: true as const }),
    });
  }
  return changes;
}

async function isUnreachable(folder: string, commit: string, refs: RepositoryRefs): Promise<boolean> {
  const others = [...new Set(refs.values())].filter((value) => !isSymbolic(value)).map((value) => `^${value}`);
  const input = [commit, ...others, ''].join('\n');
  return (await askGit(folder, ['rev-list', '--max-count=1', '--stdin'], input).catch(() => '')) !== '';
}

const maxLogBytes = 100_000_000;

/** Returns the ref whose log has got an entry of a push. Source of the words: `transport_update_tracking_ref` in Git's transport.c. */
function pushedRef(common: string, scope: SnapshotScope, file: string): string | undefined {
  const name = nameIn(common, file);
  if (!isRefLog(name)) return undefined;
  const index = indexOf(scope, name);
  const old = index === undefined ? 0 : scope.entries.bytes(index);
  const added = readRegularFileSync(file, maxLogBytes)?.subarray(old).toString('utf8') ?? '';
  return /\tupdate by push$/m.test(added) ? name.slice(name.indexOf('logs/') + 'logs/'.length) : undefined;
}

function indexOf({ entries }: SnapshotScope, wanted: string): number | undefined {
  for (const [index, name] of stateFiles(entries)) if (name === wanted) return index;
  return undefined;
}

const nameIn = (common: string, file: string): string => paths.relative(common, file).split(paths.sep).join('/');

const isSymbolic = (value: string): boolean => value.startsWith('ref: ');
