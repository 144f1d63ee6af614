import type { FileMove, StoredFileChange } from '../../protocol/run/events.ts';
import { parentFolders } from '../../protocol/run/runFiles.ts';
import type { RecordedState } from './recordedChange.ts';

/** State of a path. The permissions are unknown if another tool wrote it. */
export type PathState = Omit<RecordedState, 'mode' | 'size'> & Partial<Pick<RecordedState, 'mode'>>;

/** Change of a workspace-relative path; `null`: nothing exists. `seq`: position before a change that the run made otherwise. */
export interface PathChange {
  path: string;
  before: PathState | null;
  after: PathState | null;
  seq?: number;
}

/** Changes that the run made by a file tool; `seq` is the number of the `tool-start` event. */
export interface OtherChange {
  seq: number;
  changes?: readonly StoredFileChange[] | undefined;
  moved?: FileMove | undefined;
}

/**
 * Returns what remains of the changes of a background command without those that the run made by file tools meanwhile. A file that both
 * have changed has one change for each turn of the command. Files that a tool changed and that are no plain UTF-8 are left out: what the
 * tool found and left is recorded with it.
 */
export function withoutOtherChanges(changes: readonly PathChange[], others: readonly OtherChange[]): PathChange[] {
  if (others.length === 0) return [...changes];
  const found = new Map(changes.map((change) => [change.path, change]));
  const expected = new Map<string, PathState | null>(changes.map(({ path, before }) => [path, before]));
  const touched = new Set<string>();
  const left = new Set<string>();
  const remaining: PathChange[] = [];
  for (const { seq, changes: edits = [], moved } of others) {
    for (const { path, ...edit } of edits) {
      if (!expected.has(path)) continue; // as before
      const { before, after } = statesOf(edit, found.get(path));
      const now = expected.get(path) ?? null;
      touched.add(path);
      if (edit.kind === undefined && !isTextOrNothing(found.get(path))) left.add(path);
      if (now?.id === after?.id) continue; // the recording began after it
      if (now?.id !== before?.id) remaining.push({ path, before: now, after: before, seq: seq - 0.5 });
      expected.set(path, after);
    }
    if (!moved) continue;
    for (const path of [moved.from, moved.to]) touched.add(path);
    for (const [path, state] of [...expected]) {
      if (path !== moved.from && !path.startsWith(`${moved.from}/`)) continue;
      const to = moved.to + path.slice(moved.from.length);
      for (const one of [path, to]) touched.add(one);
      expected.set(to, state);
      expected.set(path, null);
    }
  }
  const parents = parentFolders([...touched].map((path) => ({ path })));
  for (const [path, state] of expected) {
    const change = found.get(path);
    if (change && !touched.has(path)) {
      if (!isFolder(change) || !parents.has(path)) remaining.push(change);
      continue;
    }
    const now = change?.after ?? null;
    if (now?.id !== state?.id) remaining.push({ path, before: state, after: now });
  }
  return remaining.filter(({ path }) => !left.has(path));
}

/** Returns what a comparison has seen of file tools that ended while it was made, or after it. */
export function changesSeen(others: readonly OtherChange[], compared: readonly PathChange[]): OtherChange[] {
  const now = new Map(compared.map(({ path, after }) => [path, after?.id ?? null]));
  const isSeen = ({ path, before, after }: StoredFileChange) => {
    if (now.get(path) !== before || before === after) return true;
    now.set(path, after); // so that a later change is not seen, either
    return false;
  };
  const isMoved = ({ to }: FileMove) =>
    compared.some(({ path, before, after }) => !before && after && (path === to || path.startsWith(`${to}/`)));
  return others.map(({ seq, changes, moved }) => ({
    seq,
    changes: changes?.filter(isSeen),
    moved: moved && isMoved(moved) ? moved : undefined,
  }));
}

function statesOf(
  { before, after, kind, mode, afterKind, afterMode }: Omit<StoredFileChange, 'path'>,
  found: PathChange | undefined,
): Pick<PathChange, 'before' | 'after'> {
  const known = mode ?? found?.before?.mode ?? found?.after?.mode;
  const stateOf = (id: string, form: StoredFileChange['kind'], permissions: number | undefined): PathState => ({
    kind: form ?? 'file',
    id,
    ...(form === undefined && { isText: true }),
    ...(permissions !== undefined && { mode: permissions }),
  });
  return {
    before: before === null ? null : stateOf(before, kind, known),
    after: after === null ? null : stateOf(after, afterKind, afterMode ?? known),
  };
}

const isTextOrNothing = (change: PathChange | undefined): boolean =>
  [change?.before, change?.after].every((state) => !state || state.isText === true);

const isFolder = ({ before, after }: PathChange): boolean => before?.kind === 'folder' || after?.kind === 'folder';
