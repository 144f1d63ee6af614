import type { FileMove, RemovedFileKind } from '../../protocol/run/events.ts';
import { parentFolders } from '../../protocol/run/runFiles.ts';
import {
  hasOtherFileForm,
  isAncestorOrDescendantPath,
  isSameOrBelowPath,
  isUndoMove,
  pathAfterMove,
  reverseMove,
  type UndoMove,
  type UndoOperation,
} from '../../runs/undoSteps.ts';
import { currentContentId } from '../../tools/changes/changeState.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { existsInWorkspace, isEmptyOrNestedEmptyFolder } from './emptyFolders.ts';

/** Expected content by id; null: none. `something`: any content, for a move. */
type Expected = 'something' | { id: string | null; kind?: RemovedFileKind | undefined };

type Files = Map<string, Expected>;

/**
 * Returns the number of operations applied by an interrupted, unrecorded undo or redo. Operations run in order, so the files match a state
 * between two operations. If later changes prevent a match, the closest state counts.
 */
export async function countAppliedUndoOperations(
  workspace: Workspace,
  operations: readonly UndoOperation[],
): Promise<number> {
  const files = filesBefore(operations);
  const matches = createMatcher(workspace);
  const different = new Map<string, number>();
  const compare = async (paths: Iterable<string>) => {
    for (const path of paths) {
      const expected = files.get(path) ?? (hasAbsentFolder(files, path) ? nothing : undefined);
      if (!expected || (await matches(path, expected))) different.delete(path);
      else different.set(path, expected === 'something' ? moveWeight : 1);
    }
    return [...different.values()].reduce((sum, one) => sum + one, 0);
  };
  let best = { count: await compare(files.keys()), done: 0 };
  for (const [index, operation] of operations.entries()) {
    if (best.count === 0) break;
    applyTo(files, operation);
    const paths = isUndoMove(operation) ? [...files.keys()] : [operation.at];
    const count = await compare([...paths, ...different.keys()]);
    if (count < best.count) best = { count, done: index + 1 };
  }
  return best.done;
}

/** Tests if a folder of the path is expected to be absent, and thus the path, too. */
function hasAbsentFolder(files: Files, path: string): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const expected = files.get(path.slice(0, end));
    if (expected && isNothing(expected)) return true;
  }
  return false;
}

/** Exceeds any number of changed files, because all paths depend on moves. */
const moveWeight = 1_000_000;

function filesBefore(operations: readonly UndoOperation[]): Files {
  let files: Files = new Map();
  for (const [index, operation] of [...operations.entries()].reverse()) {
    const before: Files = new Map();
    if (isUndoMove(operation)) {
      const { from, to } = operation;
      for (const [path, expected] of files)
        if (isSameOrBelowPath(to, path)) before.set(pathAfterMove(path, reverseMove(operation)), expected);
        else if (!isSameOrBelowPath(from, path) && !(isNothing(expected) && isSameOrBelowPath(path, from)))
          before.set(path, expected);
      if (isNothing(before.get(from) ?? nothing)) {
        before.delete(from);
        if (!isFolderEmptiedBeforeUndo(operations, index)) before.set(from, 'something');
      }
      before.set(to, nothing);
    } else {
      const { at, to, left, leftKind } = operation;
      for (const [path, expected] of files)
        if (path !== at && !(isSameOrBelowPath(at, path) && (left !== null || to !== null))) before.set(path, expected);
      if (left !== null) forgetNothingAround(before, at);
      else
        for (const path of [...before.keys()])
          if (isSameOrBelowPath(path, at) && before.get(path) === 'something') before.delete(path);
      before.set(at, { id: left, kind: leftKind });
    }
    files = before;
  }
  return files;
}

function applyTo(files: Files, operation: UndoOperation): void {
  if (isUndoMove(operation)) {
    const { from, to } = operation;
    const moved = [...files].filter(([path]) => isSameOrBelowPath(from, path));
    for (const path of [...files.keys()])
      if (isSameOrBelowPath(from, path) || isSameOrBelowPath(to, path)) files.delete(path);
    forgetNothingAround(files, to);
    for (const [path, expected] of moved) files.set(pathAfterMove(path, operation), expected);
    files.set(from, nothing);
  } else {
    const { at, to, was } = operation;
    for (const path of [...files.keys()]) if (isSameOrBelowPath(at, path)) files.delete(path);
    if (to !== null) forgetNothingAround(files, at);
    files.set(at, { id: to, kind: was?.kind });
  }
}

const nothing: Expected = { id: null };
const isNothing = (expected: Expected): boolean => expected !== 'something' && expected.id === null;

function forgetNothingAround(files: Files, path: string): void {
  for (const [around, expected] of files)
    if (around !== path && isSameOrBelowPath(around, path) && isNothing(expected)) files.delete(around);
}

function createMatcher(workspace: Workspace): (path: string, expected: Expected) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const look = async (path: string, expected: Expected): Promise<boolean> => {
    if (expected === 'something') return existsInWorkspace(workspace, path);
    const { id, kind } = expected;
    if (id === null) return isEmptyOrNestedEmptyFolder(workspace, path);
    return (await currentContentId(workspace, { path, before: id, ...(kind && { kind }) })) === id;
  };
  return (path, expected) => {
    const key = JSON.stringify([path, expected]);
    const result = known.get(key) ?? look(path, expected).catch(() => false);
    known.set(key, result);
    return result;
  };
}

/** Converts a path before operation `from` to the path before operation `to`. */
export function pathAfterUndoOperations(
  operations: readonly UndoOperation[],
  path: string,
  from: number,
  to: number,
): string {
  if (from <= to) return operations.slice(from, to).filter(isUndoMove).reduce<string>(pathAfterMove, path);
  return operations
    .slice(to, from)
    .filter(isUndoMove)
    .reduceRight((at, move) => pathAfterMove(at, reverseMove(move)), path);
}

/** Origin of an operation's file: a path, or another operation with the content `id`. */
type Origin = { path: string } | { id: string | null; isOtherForm: boolean };

/** Returns the origin of an operation's file before the operations from `first` on. */
export function undoOperationOrigin(operations: readonly UndoOperation[], index: number, first: number): Origin {
  const operation = operations[index]!;
  let path = isUndoMove(operation) ? operation.from : operation.at;
  for (let other = index - 1; other >= first; other--) {
    const one = operations[other]!;
    if (!isUndoMove(one)) {
      if (one.at === path) return { id: one.to, isOtherForm: hasOtherFileForm(one) };
      if (isSameOrBelowPath(one.at, path)) return { id: null, isOtherForm: false };
      // An empty folder is removed, or a file replaces a folder.
      if (one.to === null && isSameOrBelowPath(path, one.at) && !isUndoMove(operation))
        return { id: operation.left, isOtherForm: false };
    } else if (isSameOrBelowPath(one.to, path)) path = pathAfterMove(path, reverseMove(one));
    else if (isAncestorOrDescendantPath(one.from, path)) return { id: null, isOtherForm: false };
  }
  return { path };
}

export function isUndoResultCovered(operations: readonly UndoOperation[], index: number, end: number): boolean {
  const operation = operations[index]!;
  let path = isUndoMove(operation) ? operation.to : operation.at;
  for (const one of operations.slice(index + 1, end)) {
    if (!isUndoMove(one)) {
      if (isAncestorOrDescendantPath(one.at, path)) return true;
    } else if (isSameOrBelowPath(one.from, path)) path = pathAfterMove(path, one);
    else if (isAncestorOrDescendantPath(one.to, path)) return true;
  }
  return false;
}

/** True if all content below the path was deleted, so that the files are restored one by one and no move remains. */
export function isFolderEmptiedBeforeUndo(operations: readonly UndoOperation[], index: number): boolean {
  const { from } = operations[index] as FileMove;
  return operations.some(
    (one, other) =>
      !isUndoMove(one) &&
      (one.to === null || one.left === null) &&
      isSameOrBelowPath(from, pathAfterUndoOperations(operations, one.at, other, index)),
  );
}

/** Converts a path before operation `index` as if the failed moves had not been chosen. */
export function pathWithoutMoves(
  operations: readonly UndoOperation[],
  path: string,
  index: number,
  failed: ReadonlySet<UndoMove>,
): string {
  if (failed.size === 0) return path;
  const moves = operations.slice(0, index).filter(isUndoMove);
  const start = moves.reduceRight((at, move) => pathAfterMove(at, reverseMove(move)), path);
  return moves.filter((move) => !failed.has(move)).reduce<string>(pathAfterMove, start);
}

/** Returns the paths of operations for the user. A folder is not listed beside its contents. */
export function listedUndoPaths(operations: readonly UndoOperation[]): string[] {
  const all = operations.map((one) => (isUndoMove(one) ? { path: one.paths[0]! } : one));
  const parents = parentFolders(all);
  const isFolder = (one: (typeof all)[number]) =>
    'at' in one && (one.was?.kind === 'folder' || one.leftKind === 'folder');
  return [...new Set(all.flatMap((one) => (isFolder(one) && parents.has(one.path) ? [] : [one.path])))];
}
