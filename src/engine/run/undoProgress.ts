import type { FileMove, RemovedFileKind } from '../../protocol/run/events.ts';
import { parentFolders } from '../../protocol/run/runFiles.ts';
import {
  foldersAbove,
  hasOtherFileForm,
  isAncestorOrDescendantPath,
  isSameOrBelowPath,
  isUndoMove,
  pathAfterMove,
  reverseMove,
  StepPositions,
  type UndoMove,
  type UndoOperation,
  type UndoStep,
} from '../../runs/undoSteps.ts';
import { currentContentId } from '../../tools/changes/changeState.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { existsInWorkspace, isEmptyOrNestedEmptyFolder } from './emptyFolders.ts';

/** Expected content by id; null: none. `something`: any content, for a move. */
type Expected = 'something' | { id: string | null; kind?: RemovedFileKind | undefined };

/** Expected contents by path. */
class Files extends Map<string, Expected> {
  private readonly below = new Map<string, Set<string>>();

  override set(path: string, expected: Expected): this {
    for (const folder of foldersAbove(path)) {
      const known = this.below.get(folder);
      if (known) known.add(path);
      else this.below.set(folder, new Set([path]));
    }
    return super.set(path, expected);
  }

  /** Returns all paths below a folder, also of those that are deleted since. */
  pathsBelow(folder: string): Iterable<string> {
    return this.below.get(folder) ?? [];
  }

  deleteTree(path: string): void {
    this.delete(path);
    for (const one of this.pathsBelow(path)) this.delete(one);
  }
}

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
  let count = 0;
  const compare = async (path: string) => {
    const expected = files.get(path) ?? (hasAbsentFolder(files, path) ? nothing : undefined);
    const weight = expected === 'something' ? moveWeight : 1;
    const difference = !expected || (await matches(path, expected)) ? 0 : weight;
    count += difference - (different.get(path) ?? 0);
    if (difference > 0) different.set(path, difference);
    else different.delete(path);
  };
  for (const path of files.keys()) await compare(path);
  let best = { count, done: 0 };
  for (const [index, operation] of operations.entries()) {
    if (best.count === 0) break;
    const roots = applyTo(files, operation);
    const paths = new Set(isUndoMove(operation) ? [...files.keys(), ...different.keys()] : roots);
    for (const root of roots) for (const path of files.pathsBelow(root)) if (different.has(path)) paths.add(path);
    for (const path of paths) await compare(path);
    if (count < best.count) best = { count, done: index + 1 };
  }
  return best.done;
}

/** Tests if a folder of the path is expected to be absent, and thus the path, too. */
const hasAbsentFolder = (files: Files, path: string): boolean =>
  foldersAbove(path).some((folder) => {
    const expected = files.get(folder);
    return expected !== undefined && isNothing(expected);
  });

/** Exceeds any number of changed files, because all paths depend on moves. */
const moveWeight = 1_000_000;

function filesBefore(operations: readonly UndoOperation[]): Files {
  let files = new Files();
  for (const [index, operation] of [...operations.entries()].reverse()) {
    if (isUndoMove(operation)) {
      const before = new Files();
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
      files = before;
    } else {
      const { at, to, left, leftKind } = operation;
      if (left !== null || to !== null) files.deleteTree(at);
      if (left !== null) forgetNothingAround(files, at);
      else for (const path of [at, ...foldersAbove(at)]) if (files.get(path) === 'something') files.delete(path);
      files.set(at, { id: left, kind: leftKind });
    }
  }
  return files;
}

/** Applies an operation, and returns the paths below which it changed what is expected. */
function applyTo(files: Files, operation: UndoOperation): string[] {
  if (isUndoMove(operation)) {
    const { from, to } = operation;
    const moved = [...files].filter(([path]) => isSameOrBelowPath(from, path));
    for (const path of [...files.keys()])
      if (isSameOrBelowPath(from, path) || isSameOrBelowPath(to, path)) files.delete(path);
    forgetNothingAround(files, to);
    for (const [path, expected] of moved) files.set(pathAfterMove(path, operation), expected);
    files.set(from, nothing);
    return [];
  }
  const { at, to, was } = operation;
  files.deleteTree(at);
  const forgotten = to === null ? [] : forgetNothingAround(files, at);
  files.set(at, { id: to, kind: was?.kind });
  return [at, ...forgotten];
}

const nothing: Expected = { id: null };
const isNothing = (expected: Expected): boolean => expected !== 'something' && expected.id === null;

function forgetNothingAround(files: Files, path: string): string[] {
  const forgotten = foldersAbove(path).filter((folder) => isNothing(files.get(folder) ?? 'something'));
  for (const folder of forgotten) files.delete(folder);
  return forgotten;
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
export const pathAfterUndoOperations = (
  operations: readonly UndoOperation[],
  path: string,
  from: number,
  to: number,
): string => pathAfterMoves(movesOf(operations), path, from, to);

const movesOf = (operations: readonly UndoOperation[]): [number, UndoMove][] =>
  operations.flatMap((one, index): [number, UndoMove][] => (isUndoMove(one) ? [[index, one]] : []));

function pathAfterMoves(moves: readonly [number, UndoMove][], path: string, from: number, to: number): string {
  const between = moves.filter(([index]) => index >= Math.min(from, to) && index < Math.max(from, to));
  if (from <= to) return between.reduce((at, [, move]) => pathAfterMove(at, move), path);
  return between.reduceRight((at, [, move]) => pathAfterMove(at, reverseMove(move)), path);
}

/** Origin of an operation's file: a path, or another operation with the content `id`. */
export type Origin = { path: string } | { id: string | null; isOtherForm: boolean };

/** Returns the origins of the files of all operations before the operations from `first` on; none for operations before these. */
export function undoOperationOrigins(operations: readonly UndoOperation[], first: number): Map<number, Origin> {
  const origins = new Map<number, Origin>();
  const positions = new StepPositions();
  const moves: number[] = [];
  for (const [index, operation] of operations.entries()) {
    if (index < first) continue;
    origins.set(index, originOf(operations, index, moves, positions));
    if (isUndoMove(operation)) moves.push(index);
    else positions.add(operation.at, index);
  }
  return origins;
}

function originOf(
  operations: readonly UndoOperation[],
  index: number,
  moves: readonly number[],
  positions: StepPositions,
): Origin {
  const operation = operations[index]!;
  let path = isUndoMove(operation) ? operation.from : operation.at;
  let end = index;
  for (const move of [-1, ...moves].reverse()) {
    // A step below the path counts if an empty folder is removed, or a file replaces a folder.
    const other = positions.newest(path, (position) => {
      const { at, to } = operations[position] as UndoStep;
      const isNeeded = isSameOrBelowPath(at, path) || (to === null && !isUndoMove(operation));
      return position > move && position < end && isNeeded;
    });
    if (other !== -1) {
      const one = operations[other] as UndoStep;
      if (one.at === path) return { id: one.to, isOtherForm: hasOtherFileForm(one) };
      const isAbove = isSameOrBelowPath(one.at, path);
      return { id: isAbove ? null : (operation as UndoStep).left, isOtherForm: false };
    }
    if (move === -1) break;
    const one = operations[move] as UndoMove;
    if (isSameOrBelowPath(one.to, path)) path = pathAfterMove(path, reverseMove(one));
    else if (isAncestorOrDescendantPath(one.from, path)) return { id: null, isOtherForm: false };
    end = move;
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
  const moves = movesOf(operations);
  return operations.some(
    (one, other) =>
      !isUndoMove(one) &&
      (one.to === null || one.left === null) &&
      isSameOrBelowPath(from, pathAfterMoves(moves, one.at, other, index)),
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
