import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import type { RefChange, RepositoryChange, RepositoryFileChange } from '../../protocol/content/repositoryChange.ts';
import { readRegularFileSync } from '../sandbox/regularFile.ts';
import { readContentAt } from './currentContents.ts';
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
import { TooManyFilesError, type WalkedEntry, walkFiles } from './walkFiles.ts';

interface RecordedRepository {
  /** Common folder of the repository, absolute. */
  common: string;
  snapshot: RepositorySnapshot;
  entries: Map<string, WalkedEntry>;
}

const maxFiles = 20_000;

/**
 * Reads the state of the repositories of working trees, each repository once: refs, index, logs, configuration, hooks and everything else
 * but objects. Folders outside of a repository, and unreadable repositories, are omitted.
 */
export async function readRepositories(folders: readonly string[]): Promise<RecordedRepository[]> {
  const repositories = new Map<string, RecordedRepository>();
  for (const folder of folders) {
    const found = await findRepository(folder).catch(() => undefined);
    if (!found || repositories.has(found.common)) continue;
    const refs = await readRefs(folder).catch(() => undefined);
    if (!refs) continue;
    const entries = filesBesideObjects(found.common);
    const { own, top } = found;
    const snapshot: RepositorySnapshot = { folder, top, own, refs, head: headCommit(own, refs) };
    if (!entries) snapshot.isPartial = true;
    repositories.set(found.common, { common: found.common, snapshot, entries: entries ?? new Map() });
  }
  return [...repositories.values()];
}

/** Lists the files of a repository, by name, but objects, refs and locks; undefined for too many. */
export function filesBesideObjects(common: string): Map<string, WalkedEntry> | undefined {
  try {
    const { entries } = walkFiles(common, '', {
      isSkipped: (path) => isSkippedFolder(common, path),
      maxEntries: maxFiles,
    });
    for (const [name, { kind }] of entries)
      if (kind === 'folder' || kind === 'other' || name === 'packed-refs' || name.endsWith('.lock'))
        entries.delete(name);
    return entries;
  } catch (error) {
    if (error instanceof TooManyFilesError) return undefined;
    throw error;
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
    const stored = scope.entries.find(({ path }) => path === name)?.stored;
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
  const own = paths.dirname(paths.join(common, name));
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
  const old = scope.entries.find(({ path }) => path === name)?.size ?? 0;
  const added = readRegularFileSync(file, maxLogBytes)?.subarray(old).toString('utf8') ?? '';
  return /\tupdate by push$/m.test(added) ? name.slice(name.indexOf('logs/') + 'logs/'.length) : undefined;
}

const nameIn = (common: string, file: string): string => paths.relative(common, file).split(paths.sep).join('/');

const isSymbolic = (value: string): boolean => value.startsWith('ref: ');
