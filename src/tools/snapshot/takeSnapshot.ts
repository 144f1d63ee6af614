import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import * as paths from 'node:path';
import { contentPackSuffix } from '../../protocol/values/contentPack.ts';
import { readUnchangedFileSync } from '../sandbox/regularFile.ts';
import { CurrentContents, type StoredContentPosition } from './currentContents.ts';
import { type GitFolder, isInGit, readGitFolder } from './gitFiles.ts';
import { maxSmallBytes, maxSnapshotEntries } from './limits.ts';
import { readRepositories } from './repositorySnapshot.ts';
import {
  packsOfSnapshots,
  removeSnapshot,
  type SnapshotEntry,
  type SnapshotRoot,
  writeSnapshot,
} from './snapshotFile.ts';
import { identityOf, identityText, TooManyFilesError, type WalkedEntry, walkFiles } from './walkFiles.ts';

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

/** Coarsest time of a file system, in nanoseconds: an entry as young as this may change again without another identity. */
const coarsestTime = 2_000_000_000n;

interface Candidate {
  file: string;
  entry: SnapshotEntry;
  order: number;
}

/**
 * Records the state of the open folders before a call: the identity of each file, and the content of each file that the call could destroy.
 * Git holds the content of unchanged tracked files. Other contents are stored until the budget ends: changed tracked files, untracked
 * files, small ignored files, files of repositories besides objects, large untracked files, each from small to large. Folders that a pattern
 * ignores as a whole are left out. Nothing of the open folders is changed. Throws the error of the disk.
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
  const held = new Set<string>();
  const startedAt = BigInt(Date.now()) * 1_000_000n;
  const roots: SnapshotRoot[] = [];
  const candidates: Candidate[] = [];
  let entries = 0;
  for (const folder of outermostFolders(folders)) {
    const root: SnapshotRoot = { path: folder, scopes: [] };
    roots.push(root);
    const waiting = [''];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const scope = paths.join(folder, path);
      const git = isInGit(scope) ? await readGitFolder(scope).catch(() => undefined) : undefined;
      const { walked, skipped } = walkScope(scope, git, maxEntries - entries);
      entries += walked.entries.size;
      waiting.push(...walked.repositories.map((one) => joined(path, one)));
      const found = [...walked.entries].map(([name, entry]) => toSnapshotEntry(scope, name, entry, startedAt));
      root.scopes.push({
        path,
        isGit: git !== undefined,
        entries: found,
        folders: walked.folders,
        skipped: [...skipped, ...walked.unreadable],
      });
      for (const entry of found) {
        const file = paths.join(scope, entry.path);
        if (entry.target !== undefined) held.add(file);
        if (entry.kind !== 'file') continue;
        const blob = git?.blobs.get(entry.path);
        if (blob?.size === entry.size) entry.oid = blob.oid;
        // The blob of a file whose undo is promised is not relied on.
        const isHeld = entry.oid !== undefined && !withoutGit && !first.has(file);
        if (!isHeld) candidates.push({ file, entry, order: first.has(file) ? orders.first : orderOf(entry, git) });
      }
    }
  }
  const repositories: { git: string; isPartial: boolean; entries: SnapshotEntry[] }[] = [];
  const gitFolders = roots.flatMap(({ path, scopes }) =>
    scopes.filter(({ isGit }) => isGit).map((scope) => paths.join(path, scope.path)),
  );
  for (const { common, snapshot, entries: files } of await readRepositories(gitFolders)) {
    const found = [...files].map(([name, entry]) => toSnapshotEntry(common, name, entry, startedAt));
    const git = paths.join(snapshot.top, '.git');
    const scope = { path: '', isGit: false, entries: found, folders: new Map<string, number>(), skipped: [] };
    roots.push({ path: common, scopes: [scope], repository: snapshot });
    for (const entry of found)
      if (entry.kind === 'file')
        candidates.push({
          file: paths.join(common, entry.path),
          entry,
          order: first.has(git) ? orders.first : orders.repository,
        });
    repositories.push({ git, isPartial: snapshot.isPartial === true, entries: found });
  }
  candidates.sort((one, other) => one.order - other.order || one.entry.size - other.entry.size);
  mkdirSync(store, { recursive: true, mode: 0o700 });
  boundSnapshots({ store, maxBytes: 3 * budget });
  storeContents(store, candidates, budget, () => writeSnapshot(store, id, roots));
  for (const { file, entry } of candidates) if (entry.stored) held.add(file);
  for (const { git, isPartial, entries: found } of repositories)
    if (!isPartial && found.every((entry) => entry.stored)) held.add(git);
  return { holdsFirst: [...first].every((file) => held.has(file)) };
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

function storeContents(store: string, candidates: readonly Candidate[], budget: number, write: () => void) {
  const contents = new CurrentContents(store);
  const current = new Set<string>();
  let bytes = 0;
  try {
    for (const { file, entry, order } of candidates) {
      const isAbove = bytes + entry.size > budget || order === orders.largeIgnored;
      const known = isAbove ? undefined : contents.find(file, identityText(entry.identity!, entry.size));
      entry.stored = known ?? (isAbove ? undefined : storeFile(contents, file, entry));
      if (!entry.stored) continue;
      bytes += entry.size;
      current.add(file);
    }
    write();
    contents.finish(current, packsOfSnapshots(store));
  } catch (error) {
    contents.abandon();
    throw error;
  }
}

// Tries twice, because a file may change while it is read.
function storeFile(contents: CurrentContents, file: string, entry: SnapshotEntry): StoredContentPosition | undefined {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const pieces: Buffer[] = [];
      const stats = readUnchangedFileSync(file, (piece) => pieces.push(Buffer.from(piece)));
      if (!stats) continue;
      const bytes = Buffer.concat(pieces);
      entry.identity = identityOf(stats);
      entry.size = bytes.length;
      entry.mode = Number(stats.mode) & 0o7777;
      return contents.add(file, identityText(entry.identity, entry.size), bytes);
    } catch (error) {
      if (isDiskFull(error)) throw error;
      return undefined; // unreadable, or gone
    }
  }
  return undefined;
}

const orders = {
  first: 0,
  tracked: 1,
  untracked: 2,
  ignored: 3,
  repository: 4,
  largeUntracked: 5,
  inGit: 6,
  largeIgnored: 7,
};

function orderOf({ path, size, oid }: SnapshotEntry, git: GitFolder | undefined): number {
  if (oid !== undefined) return orders.inGit;
  if (git?.tracked.has(path)) return orders.tracked;
  const isSmall = size <= maxSmallBytes;
  if (git?.ignoredFiles.has(path)) return isSmall ? orders.ignored : orders.largeIgnored;
  return isSmall ? orders.untracked : orders.largeUntracked;
}

function walkScope(scope: string, git: GitFolder | undefined, maxEntries: number) {
  const skipped: string[] = [];
  const isSkipped = (path: string): boolean => {
    const isIgnored = git?.ignoredFolders.has(path) === true;
    if (isIgnored) skipped.push(path);
    return isIgnored;
  };
  return { walked: walkFiles(scope, '', { isSkipped, maxEntries }), skipped };
}

function toSnapshotEntry(
  scope: string,
  path: string,
  { kind, identity, size, mode }: WalkedEntry,
  startedAt: bigint,
): SnapshotEntry {
  const entry: SnapshotEntry = { path, kind, identity, size, mode };
  if (identity.inode === 0n || identity.changed >= startedAt - coarsestTime) entry.isRecent = true;
  const target = kind === 'link' ? linkTarget(paths.join(scope, path)) : undefined;
  if (target !== undefined) entry.target = target;
  return entry;
}

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
