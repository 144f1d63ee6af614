import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { StoredContentPosition } from './currentContents.ts';
import { EntryTable, entryPath, joinFields, type StoredEntryColumns, splitFields } from './entryTable.ts';
import type { RepositorySnapshot } from './repositoryState.ts';
import type { EntryIdentity, WalkedEntry } from './walkedEntry.ts';

/**
 * Entry of a snapshot. `path` is relative to the scope. The content before the call is a stored content, else a blob of Git, or the target
 * of a link; absent, nothing holds it. `isRecent`: the entry may have changed since without another identity.
 */
export interface SnapshotEntry {
  path: string;
  kind: WalkedEntry['kind'];
  identity: EntryIdentity | undefined;
  size: number;
  mode: number;
  isRecent?: true;
  oid?: string;
  stored?: StoredContentPosition;
  target?: string;
}

/** Folder with its own ignore rules: an open folder, or a repository inside. `path` is relative to the open folder; '' is the folder itself. */
export interface SnapshotScope extends ScopeFacts {
  entries: EntryTable;
}

interface ScopeFacts {
  path: string;
  isGit: boolean;
  skipped: string[];
  /** Facts about single entries, by index. */
  recent: Set<number>;
  /** Blobs of Git; '': none. */
  oids: string[];
  stored: Map<number, StoredContentPosition>;
  targets: Map<number, string>;
}

/** Open folder, or the common folder of a repository with one scope. */
export interface SnapshotRoot {
  path: string;
  scopes: SnapshotScope[];
  repository?: RepositorySnapshot;
}

interface Snapshot {
  version: 2;
  roots: SnapshotRoot[];
}

type SerializedScope = Omit<ScopeFacts, 'oids'> & { entries: StoredEntryColumns; oids: string };

interface SerializedSnapshot {
  version: 2;
  roots: (Omit<SnapshotRoot, 'scopes'> & { scopes: SerializedScope[] })[];
}

/** Returns the entry with this index in a folder of the scope. */
export function snapshotEntry(scope: SnapshotScope, folder: string, index: number): SnapshotEntry {
  const { entries, recent, oids, stored, targets } = scope;
  const entry: SnapshotEntry = { path: entryPath(folder, entries.name(index)), ...entries.entry(index) };
  if (recent.has(index)) entry.isRecent = true;
  const [oid, position, target] = [oids[index], stored.get(index), targets.get(index)];
  if (oid) entry.oid = oid;
  if (position) entry.stored = position;
  if (target !== undefined) entry.target = target;
  return entry;
}

const suffix = '.snapshot';

const snapshotPath = (store: string, id: string): string => paths.join(store, `${id}${suffix}`);

// Snapshots of this process, by file. The file is read only after a kill of the editor.
const open = new Map<string, Snapshot>();

/** Writes the snapshot without a sync: it is needed after a kill of the editor, not after a power loss. */
export function writeSnapshot(store: string, id: string, roots: SnapshotRoot[]): void {
  const snapshot: Snapshot = { version: 2, roots };
  const serialized: SerializedSnapshot = {
    version: 2,
    roots: roots.map(({ scopes, ...root }) => ({
      ...root,
      scopes: scopes.map((scope) => ({ ...scope, entries: scope.entries.stored(), oids: joinFields(scope.oids) })),
    })),
  };
  writeFileSync(snapshotPath(store, id), serialize(serialized), { mode: 0o600 });
  open.set(snapshotPath(store, id), snapshot);
}

/** Throws for a missing or damaged snapshot. */
export function readSnapshot(store: string, id: string): Snapshot {
  const known = open.get(snapshotPath(store, id));
  if (known) return known;
  const { version, roots }: SerializedSnapshot = deserialize(readFileSync(snapshotPath(store, id)));
  if (version !== 2) throw new Error('The snapshot has another version.');
  return {
    version,
    roots: roots.map(({ scopes, ...root }) => ({
      ...root,
      scopes: scopes.map((scope) => ({
        ...scope,
        entries: new EntryTable(scope.entries),
        oids: splitFields(scope.oids),
      })),
    })),
  };
}

export function removeSnapshot(store: string, id: string): void {
  open.delete(snapshotPath(store, id));
  rmSync(snapshotPath(store, id), { force: true });
}

// Milliseconds after which the call of an open snapshot is never continued.
const maxAgeMs = 14 * 24 * 3_600_000;

/** Returns the packs with contents of open snapshots. Removes snapshots that are too old, or damaged. */
export function packsOfSnapshots(store: string): Set<string> {
  const packs = new Set<string>();
  for (const name of readdirSync(store).filter((one) => one.endsWith(suffix))) {
    const id = name.slice(0, -suffix.length);
    try {
      if (Date.now() - statSync(paths.join(store, name)).mtimeMs > maxAgeMs)
        throw new Error('The snapshot is too old.');
      for (const { scopes } of readSnapshot(store, id).roots)
        for (const { stored } of scopes) for (const { pack } of stored.values()) packs.add(pack);
    } catch {
      removeSnapshot(store, id);
    }
  }
  return packs;
}
