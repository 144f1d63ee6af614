import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import * as paths from 'node:path';
import { contentPackSuffix } from '../../protocol/values/contentPack.ts';
import { readUnchangedFileSync } from '../sandbox/regularFile.ts';
import { CurrentContents, type StoredContentPosition } from './currentContents.ts';
import { type EntryTable, entryPath } from './entryTable.ts';
import {
  type FilesByFolder,
  type GitFolder,
  gitBlobId,
  type IgnoredFiles,
  isInGit,
  readGitFolder,
  readIgnored,
} from './gitFiles.ts';
import { coarsestTime, maxSmallBytes, maxSnapshotEntries } from './limits.ts';
import { readRepositories, stateFiles } from './repositorySnapshot.ts';
import {
  packsOfSnapshots,
  removeSnapshot,
  type SnapshotRoot,
  type SnapshotScope,
  writeSnapshot,
} from './snapshotFile.ts';
import { identityText } from './walkedEntry.ts';
import { TooManyFilesError, walkFiles } from './walkFiles.ts';

export interface SnapshotRequest {
  id: string;
  /** Folder for snapshots and current contents, absolute. */
  store: string;
  /** Open folders, real paths. */
  folders: readonly string[];
  /** Maximum bytes of contents to store. */
  budget: number;
  /** Files, and `.git` of repositories, to store before all others, absolute real paths. */
  first?: readonly string[];
  /** Relies on no object of a repository, which the call might remove. */
  withoutGit?: boolean;
  /** Maximum files, links and empty folders; 100,000 by default. */
  maxEntries?: number;
}

interface SnapshotSummary {
  /** Tells whether the content of all `first` files is held. */
  holdsFirst: boolean;
}

interface Candidate {
  file: string;
  scope: SnapshotScope;
  index: number;
  size: number;
  order: number;
}

/**
 * Records the state of the open folders before a call: the identity of each file, and the content of each file that the call could destroy.
 * Git holds the content of unchanged tracked files. Other contents are stored until the budget ends: changed tracked files, untracked
 * files, small ignored files, large untracked files, each from small to large. Folders that a pattern ignores as a whole are left out.
 * Nothing of the open folders is changed. Throws the error of the disk.
 */
export async function takeSnapshot(request: SnapshotRequest): Promise<SnapshotSummary | SnapshotProblem> {
  try {
    return await take(request);
  } catch (error) {
    removeSnapshot(request.store, request.id); // an incomplete one, if the disk is full
    return toSnapshotProblem(error);
  }
}

/** Reason why the state of the open folders is not recorded. */
export interface SnapshotProblem {
  problem: 'too-many-files' | 'disk-full';
}

/** Converts an error to a reason. Throws any other error. */
export function toSnapshotProblem(error: unknown): SnapshotProblem {
  if (error instanceof TooManyFilesError) return { problem: 'too-many-files' };
  if (isDiskFull(error)) return { problem: 'disk-full' };
  throw error;
}

export const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

async function take(request: SnapshotRequest): Promise<SnapshotSummary> {
  const { id, store, folders, budget, withoutGit = false, maxEntries = maxSnapshotEntries } = request;
  const first = new Set(request.first);
  const young = BigInt(Date.now()) * 1_000_000n - coarsestTime;
  const roots: SnapshotRoot[] = [];
  const candidates: Candidate[] = [];
  let entries = 0;
  for (const folder of outermostFolders(folders)) {
    const root: SnapshotRoot = { path: folder, scopes: [] };
    roots.push(root);
    const waiting = [''];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const read = await readScope(folder, path, maxEntries - entries);
      root.scopes.push(read.scope);
      entries += read.scope.entries.size;
      waiting.push(...read.repositories.map((one) => joined(path, one)));
      addCandidates(candidates, read, { young, first, withoutGit });
    }
  }
  const gitFolders = roots.flatMap(({ path, scopes }) =>
    scopes.filter(({ isGit }) => isGit).map((scope) => paths.join(path, scope.path)),
  );
  const repositories = await readRepositories(gitFolders, young);
  for (const { common, snapshot, scope } of repositories) {
    roots.push({ path: common, scopes: [scope], repository: snapshot });
    const order = snapshot.trees.some((tree) => first.has(tree)) ? orders.first : orders.repository;
    for (const [index, name] of stateFiles(scope.entries)) {
      const file = paths.join(common, name);
      const target = scope.entries.kind(index) === 'link' ? linkTarget(file) : undefined;
      if (target !== undefined) scope.targets.set(index, target);
      else candidates.push({ file, scope, index, size: scope.entries.bytes(index), order });
    }
  }
  candidates.sort((one, other) => one.order - other.order || one.size - other.size);
  mkdirSync(store, { recursive: true, mode: 0o700 });
  boundSnapshots({ store, maxBytes: 3 * budget });
  storeContents(store, candidates, { budget, young }, () => writeSnapshot(store, id, roots));
  const isHeld = ({ scope: { stored, targets }, index }: Candidate) => stored.has(index) || targets.has(index);
  const held = new Set(candidates.flatMap((one) => (isHeld(one) ? [one.file] : [])));
  for (const { snapshot, scope } of repositories)
    if (
      !snapshot.isPartial &&
      [...stateFiles(scope.entries)].every(([index]) => scope.stored.has(index) || scope.targets.has(index))
    )
      for (const tree of snapshot.trees) held.add(tree);
  return { holdsFirst: [...first].every((file) => held.has(file)) };
}

interface ScopeReading {
  scope: SnapshotScope;
  absolute: string;
  /** Folders with an own `.git`, not visited. */
  repositories: readonly string[];
  tracked: GitFolder | undefined;
  converted: FilesByFolder | undefined;
  ignored: IgnoredFiles | undefined;
}

async function readScope(folder: string, path: string, maxEntries: number): Promise<ScopeReading> {
  const absolute = paths.join(folder, path);
  const git = isInGit(absolute) ? await startGit(absolute) : undefined;
  const { walked, skipped, ignored } = await walkScope(absolute, git?.ignored, maxEntries);
  const { entries, repositories, unreadable } = walked;
  const tracked = ignored && (await git?.tracked);
  const converted = await tracked?.converted(attributeFilesIn(absolute, entries)).catch(() => undefined);
  const scope: SnapshotScope = {
    path,
    isGit: ignored !== undefined,
    entries,
    skipped: [...skipped, ...unreadable],
    recent: new Set(),
    oids: new Array<string>(entries.size).fill(''),
    stored: new Map(),
    targets: new Map(),
  };
  return { scope, absolute, repositories, tracked, converted, ignored };
}

interface CandidateOptions {
  young: bigint;
  first: ReadonlySet<string>;
  withoutGit: boolean;
}

/** Notes what is known about each entry of a scope, and adds the files to read. */
function addCandidates(candidates: Candidate[], reading: ScopeReading, options: CandidateOptions): void {
  const { scope, absolute, tracked, converted } = reading;
  const { young, first, withoutGit } = options;
  const { entries } = scope;
  for (const [folder, { start, end }] of entries.folders) {
    const blobOf = tracked && converted && blobFinder(tracked, converted, folder, entries);
    const prefix = absolute + paths.sep + (folder === '' ? '' : folder + paths.sep);
    for (let index = start; index < end; index++) {
      const kind = entries.kind(index);
      const isRecent = entries.isYoung(index, young);
      if (isRecent) scope.recent.add(index);
      const oid = kind === 'file' ? blobOf?.(index) : undefined;
      if (oid !== undefined) scope.oids[index] = oid;
      const isInGit = oid !== undefined && !withoutGit;
      if (isInGit && !isRecent && first.size === 0) continue;
      const file = prefix + entries.name(index);
      if (kind === 'link') {
        const target = linkTarget(file);
        if (target !== undefined) scope.targets.set(index, target);
      }
      // The blob of a file whose undo is promised is not relied on.
      const isFirst = first.has(file);
      if ((kind !== 'file' || (isInGit && !isRecent)) && !isFirst) continue;
      const own = isInGit ? orders.verified : orderOf(reading, index, folder);
      candidates.push({ file, scope, index, size: entries.bytes(index), order: isFirst ? orders.first : own });
    }
  }
}

/** Returns a function that finds the blob of Git with the bytes of a file, by its index in the table. */
function blobFinder(git: GitFolder, converted: FilesByFolder, folder: string, table: EntryTable) {
  const tracked = git.tracked.get(folder);
  if (!tracked) return undefined;
  const others = [git.dirty.get(folder), converted.get(folder)].filter((one) => one !== undefined);
  const indexSecond = git.indexTime - (git.indexTime % 1_000_000_000n);
  return (index: number): string | undefined => {
    const name = table.name(index);
    const file = tracked.get(name);
    if (file?.size !== table.bytes(index) || others.some((names) => names.has(name))) return undefined;
    // Git reads a file again only if its modification time is as young as the index. That of this file was set.
    const isUnseen = table.isYoung(index, indexSecond) && table.identity(index).modified < indexSecond;
    return isUnseen ? undefined : file.oid;
  };
}

function attributeFilesIn(scope: string, table: EntryTable): string[] {
  const files: string[] = [];
  for (const [folder, { start, end }] of table.folders)
    for (let index = start; index < end; index++)
      if (table.name(index) === '.gitattributes') files.push(paths.join(scope, folder, '.gitattributes'));
  return files;
}

/** Forgets all current contents if packs with few current contents have grown above the limit, in bytes. Open snapshots stay whole. */
export function boundSnapshots({ store, maxBytes }: { store: string; maxBytes: number }): void {
  if (!existsSync(store)) return;
  const packs = readdirSync(store).filter((name) => name.endsWith(contentPackSuffix));
  const bytes = packs.reduce(
    (sum, name) => sum + (statSync(paths.join(store, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  if (bytes <= maxBytes) return;
  const needed = packsOfSnapshots(store);
  for (const name of packs) if (!needed.has(name)) rmSync(paths.join(store, name), { force: true });
  if (needed.size === 0) CurrentContents.forget(store);
}

interface StoreOptions {
  budget: number;
  /** Files changed since may change again without another identity; nanoseconds. */
  young: bigint;
}

function storeContents(
  store: string,
  candidates: readonly Candidate[],
  { budget, young }: StoreOptions,
  write: () => void,
) {
  const contents = new CurrentContents(store);
  const current = new Set<string>();
  let bytes = 0;
  try {
    for (const candidate of candidates) {
      const { file, scope, index, size, order } = candidate;
      if (scope.entries.kind(index) !== 'file') continue;
      const isAbove = bytes + size > budget || order === orders.largeIgnored;
      const identity = identityText(scope.entries.identity(index), size);
      const known = isAbove ? undefined : contents.find(file, identity);
      const stored = known ?? readCandidate(candidate, young, isAbove ? undefined : contents);
      if (!stored) continue;
      scope.stored.set(index, stored);
      bytes += size;
      current.add(file);
    }
    write();
    contents.finish(current, packsOfSnapshots(store));
  } catch (error) {
    contents.abandon();
    throw error;
  }
}

/**
 * Compares a file with the blob of Git if it may have changed since Git was asked. Stores other contents.
 * @param contents undefined: nothing more is stored
 */
function readCandidate(
  { file, scope, index, size, order }: Candidate,
  young: bigint,
  contents: CurrentContents | undefined,
): StoredContentPosition | undefined {
  const { entries, oids, recent } = scope;
  const oid = oids[index]!;
  if (recent.has(index)) oids[index] = '';
  const isCompared = oid !== '' && recent.has(index) && size <= maxComparedBytes;
  if (!contents && !isCompared) return undefined;
  // Tries twice, because a file may change while it is read.
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const pieces: Buffer[] = [];
      const stats = readUnchangedFileSync(file, (piece) => pieces.push(Buffer.from(piece)));
      if (!stats) continue;
      const bytes = Buffer.concat(pieces);
      entries.update(index, stats);
      const isYoung = entries.isYoung(index, young);
      if (isYoung) recent.add(index);
      if (oid !== '') oids[index] = gitBlobId(bytes, oid.length) === oid ? oid : '';
      if (!contents || (order === orders.verified && oids[index] !== '')) return undefined;
      return contents.add(file, isYoung ? '' : identityText(entries.identity(index), bytes.length), bytes);
    } catch (error) {
      if (isDiskFull(error)) throw error;
      return undefined; // unreadable, or gone
    }
  }
  return undefined;
}

// Larger files are not read where nothing may be stored.
const maxComparedBytes = 100_000_000;

/** Order in which contents are stored until the budget ends. `verified`: read to compare with the blob of Git. */
const orders = {
  first: 0,
  verified: 1,
  tracked: 2,
  untracked: 3,
  ignored: 4,
  repository: 5,
  largeUntracked: 6,
  inGit: 7,
  largeIgnored: 8,
};

function orderOf({ scope, tracked, ignored }: ScopeReading, index: number, folder: string): number {
  const { entries, oids } = scope;
  if (oids[index] !== '') return orders.inGit;
  const name = entries.name(index);
  if (tracked?.tracked.get(folder)?.has(name)) return orders.tracked;
  const isSmall = entries.bytes(index) <= maxSmallBytes;
  if (ignored?.files.has(entryPath(folder, name))) return isSmall ? orders.ignored : orders.largeIgnored;
  return isSmall ? orders.untracked : orders.largeUntracked;
}

interface GitReading {
  ignored: Promise<IgnoredFiles | undefined>;
  tracked: Promise<GitFolder | undefined>;
}

/** Asks Git about a folder. Resolves when Git works in its own processes, so that the folder can be walked meanwhile. */
async function startGit(folder: string): Promise<GitReading> {
  const ignored = readIgnored(folder).catch(() => undefined);
  let tracked: Promise<GitFolder | undefined> = Promise.resolve(undefined);
  await new Promise<void>((resolve) => {
    tracked = readGitFolder(folder, resolve).catch(() => undefined);
    void tracked.then(() => resolve());
  });
  return { ignored, tracked };
}

// Ignored folders by scope, as Git named them last.
const formerIgnored = new Map<string, ReadonlySet<string>>();
const maxFormerIgnored = 20;

/** Walks a scope. Expects that Git ignores the same folders as last, and walks again if it does not. */
async function walkScope(scope: string, reading: GitReading['ignored'] | undefined, maxEntries: number) {
  const walk = (folders: ReadonlySet<string> | undefined) => {
    const skipped: string[] = [];
    const isSkipped = (path: string): boolean => {
      const isIgnored = folders?.has(path) === true;
      if (isIgnored) skipped.push(path);
      return isIgnored;
    };
    return { walked: walkFiles(scope, '', { isSkipped, maxEntries }), skipped };
  };
  const former = reading && formerIgnored.get(scope);
  const expected = former && attempt(() => walk(former));
  const ignored = await reading;
  if (ignored) {
    if (formerIgnored.size >= maxFormerIgnored) formerIgnored.clear();
    formerIgnored.set(scope, ignored.folders);
  }
  if (expected && ignored && isSameSet(former!, ignored.folders)) return { ...expected, ignored };
  return { ...walk(ignored?.folders), ignored };
}

// A walk by a guess may fail: the walk after it reports the error.
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

const isSameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((item) => other.has(item));

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Omits folders inside of other folders. */
const outermostFolders = (folders: readonly string[]): string[] =>
  folders.filter((one) => !folders.some((other) => other !== one && one.startsWith(other + paths.sep)));

const joined = (folder: string, path: string): string => (folder === '' ? path : `${folder}/${path}`);
