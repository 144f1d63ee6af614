import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import type { RefChange, RepositoryChange, RepositoryFileChange } from '../../protocol/content/repositoryChange.ts';
import { readRegularFileSync } from '../sandbox/regularFile.ts';
import { readContentAt } from './currentContents.ts';
import { EntryTable, entryPath } from './entryTable.ts';
import type { RecordedChange } from './recordedChange.ts';
import {
  askRepository,
  findRepository,
  hashIndexEntries,
  headCommit,
  isIndexFile,
  isRefLog,
  type RepositoryRefs,
  type RepositorySnapshot,
  readRefs,
  readWorkingTreeLink,
  type WorkingTreeLink,
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
  const trees = new Map<string, WorkingTree[]>();
  for (const folder of folders) {
    const found = await findRepository(folder).catch(() => undefined);
    if (found) trees.set(found.common, [...(trees.get(found.common) ?? []), { ...found, folder }]);
  }
  const repositories: RecordedRepository[] = [];
  for (const [common, all] of trees) {
    // The repository outlives its linked working trees.
    const { own, top, folder } = all.find((one) => one.own === common) ?? all[0]!;
    const refs = await readRefs(own).catch(() => undefined);
    if (!refs) continue;
    const entries = filesBesideObjects(common);
    // Files outside of the folder could not be put back, and the refs of a reftable are not files.
    const isPartial = !entries || top !== folder || existsSync(paths.join(common, 'reftable'));
    const head = headCommit(own, refs);
    const files = all.map((one) => paths.join(one.top, '.git'));
    const snapshot = {
      ...{ folder, own, refs, head, trees: files, folders: all.map((one) => one.folder) },
      links: files.flatMap((file) => linkOf(file) ?? []),
      ...(isPartial && { isPartial: true as const }),
    };
    repositories.push({ common, snapshot, scope: scopeOf(entries ?? new EntryTable(), young) });
  }
  return repositories;
}

function linkOf(file: string): WorkingTreeLink | undefined {
  try {
    return readWorkingTreeLink(file);
  } catch {
    return undefined; // the folder of a repository
  }
}

type WorkingTree = Awaited<ReturnType<typeof findRepository>> & { folder: string };

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
  /** Stores a content for an undo and returns its ID. */
  keep(content: Buffer): string;
}

/**
 * Compares a repository with its state before a call. Undefined: nothing has changed.
 * @param changes changes of its files
 * @throws if the repository is gone or cannot be read
 */
export async function compareRepository(
  { common, scope, snapshot, store, keep }: Comparison,
  changes: readonly RecordedChange[],
): Promise<RepositoryChange | undefined> {
  const { folder, own, refs: before, head } = snapshot;
  const links = snapshot.links.flatMap((one) => changedLink(one, keep) ?? []);
  const isLinked = links.every(({ name }) => name !== paths.join(folder, '.git'));
  if (isLinked && (await findRepository(folder)).common !== common)
    throw new Error('The folder belongs to another repository.');
  const repository = existsSync(own) ? own : common; // the own folder of a removed working tree is gone
  const after = await readRefs(repository);
  const pushed = new Set(changes.flatMap(({ path }) => pushedRef(common, scope, path) ?? []));
  const refs = await changedRefs(repository, before, after, pushed);
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
  files.push(...links);
  if (refs.length === 0 && files.length === 0) return undefined;
  return {
    path: `${folder}${paths.sep}.git`,
    head: { before: head, after: headCommit(own, after) },
    refs,
    files,
  };
}

/** Returns the change of a `.git` file, named by its absolute path. Throws if something else is there now. */
function changedLink({ file, content, mode }: WorkingTreeLink, keep: Comparison['keep']) {
  const now = readWorkingTreeLink(file);
  if (now?.content.equals(content)) return undefined;
  const change: RepositoryFileChange = {
    name: file,
    before: keep(content),
    after: now ? keep(now.content) : null,
    mode,
    ...(now && { afterMode: now.mode }),
    isLink: true,
  };
  return change;
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

async function changedRefs(own: string, before: RepositoryRefs, after: RepositoryRefs, pushed: ReadonlySet<string>) {
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  const changes: RefChange[] = [];
  for (const name of changed.sort()) {
    const [old = null, now = null] = [before.get(name), after.get(name)];
    const isExamined = changed.length <= maxExamined && now !== null && !isSymbolic(now);
    const isNew = isExamined && (await isUnreachable(own, now, before));
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

async function isUnreachable(own: string, commit: string, refs: RepositoryRefs): Promise<boolean> {
  const others = [...new Set(refs.values())].filter((value) => !isSymbolic(value)).map((value) => `^${value}`);
  const input = [commit, ...others, ''].join('\n');
  return (await askRepository(own, ['rev-list', '--max-count=1', '--stdin'], input).catch(() => '')) !== '';
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
