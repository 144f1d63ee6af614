// @invariant undo-follows-event-numbers: Undo follows the numbers of `tool-start` events, never the order of object keys.
import type { FileMove, RemovedFileKind, StoredFileChange } from '../protocol/run/events.ts';
import { callsInStartOrder, type Run } from '../protocol/run/run.ts';
import type { RedoableUndo } from '../protocol/run/runFiles.ts';
import { conversationCallId } from '../protocol/run/tasks.ts';

/**
 * Change of one file to another content. Ids are content ids; null: no file.
 * - `at`: workspace-relative path at this point of the undo or redo; `path`: the path before the moves of the same undo or redo; `place`:
 * the path after these moves; `paths`: the paths in the calls' own changes.
 * - `was`: `to` was deleted in its on-disk form and is restored in this form; `form`: mode and encoding of a restored text.
 * - `left`: content after the newest change, any other current content was made later; `leftMode`: permissions then, if recorded;
 * `leftForm`: form of a text created or moved by the run, for a redo after an interrupted undo.
 * - `mixed`: someone else also changed the file between the changes; `sameTime`: something else may have changed the file during a change;
 * `order`: position in the report for the user.
 */
export interface UndoStep {
  at: string;
  path: string;
  place: string;
  paths: string[];
  to: string | null;
  was?: Pick<StoredFileChange, 'kind' | 'mode'>;
  form?: Pick<StoredFileChange, 'mode' | 'encoding'>;
  left: string | null;
  leftKind?: RemovedFileKind;
  leftMode?: number;
  leftForm?: Pick<StoredFileChange, 'mode' | 'encoding'>;
  mixed?: true;
  sameTime?: true;
  toolCallIds: string[];
  order: number;
}

/** Reverse move of a folder or binary file, with the paths of the original move. */
export type UndoMove = FileMove & Pick<UndoStep, 'paths' | 'toolCallIds' | 'order'>;

export type UndoOperation = UndoStep | UndoMove;

export const isUndoMove = (operation: UndoOperation): operation is UndoMove => 'from' in operation;

/**
 * Returns the operations that undo the chosen calls: only changes of this run, each once. The operations are the reversed changes and
 * moves, newest first; each applies to the result of the preceding operations. Changes of one file are merged unless an operation between
 * them needs the file.
 */
export function undoOperations(run: Run, toolCallIds: readonly string[], paths?: readonly string[]): UndoOperation[] {
  const chosen = new Set(toolCallIds);
  const chosenPaths = paths && new Set(paths);
  const isChosen = (toolCallId: string, path: string) => chosen.has(toolCallId) && (chosenPaths?.has(path) ?? true);
  const standing = standingOf(run);
  const formOf = createFormSource(run);
  const all = standing.flatMap(({ toolCallId, moved }, index) => (moved ? [{ toolCallId, moved, index }] : []));
  const operations: (UndoOperation | undefined)[] = [];
  const positions = new StepPositions();
  const moves: number[] = [];
  const staying: FileMove[] = [];
  for (const [order, { toolCallId, change, moved }] of [...standing.entries()].reverse()) {
    const now = (path: string) => staying.reduce(pathAfterMove, path);
    const nowAround = (path: string) =>
      staying.reduce((at, one) => (at === one.from ? at : pathAfterMove(at, one)), path);
    if (moved && !isChosen(toolCallId, moved.to)) staying.unshift(moved);
    else if (moved) {
      const [from, to] = [now(moved.to), nowAround(moved.from)];
      moves.push(operations.length);
      operations.push({ from, to, paths: [moved.to], toolCallIds: [toolCallId], order });
    }
    if (!change || !isChosen(toolCallId, change.path)) continue;
    const later = all.filter(({ index }) => index > order);
    const earlier = all.filter((one) => one.index < order && isChosen(one.toolCallId, one.moved.to)).reverse();
    const laterStaying = later.filter((one) => !isChosen(one.toolCallId, one.moved.to));
    const first = earlier.reduce((at, one) => pathAfterMove(at, reverseMove(one.moved)), change.path);
    const { kind, mode, encoding, afterKind, afterMode } = change;
    const hasForm = mode !== undefined && kind === undefined && (change.after === null || afterMode !== undefined);
    const step: UndoStep = {
      at: change.after === null ? nowAround(change.path) : now(change.path),
      path: later.reduce((at, one) => pathAfterMove(at, one.moved), change.path),
      place: laterStaying.reduce((at, one) => pathAfterMove(at, one.moved), first),
      paths: [change.path],
      to: change.before,
      ...(kind && { was: { kind, mode } }),
      ...((hasForm || (change.after === null && mode !== undefined)) && { form: { mode, encoding } }),
      left: change.after,
      ...(afterKind && { leftKind: afterKind }),
      ...(afterMode !== undefined && change.after !== null && { leftMode: afterMode }),
      ...(change.mixed && { mixed: true, sameTime: true }),
      ...(change.before === null && { leftForm: formOf(toolCallId, change) }),
      toolCallIds: [toolCallId],
      order,
    };
    if (joinStep(operations, moves, positions, step)) continue;
    positions.add(step.at, operations.length);
    operations.push(step);
  }
  return operations.flatMap((one) => (one && (isUndoMove(one) || !isWithoutEffect(one)) ? [one] : []));
}

function isWithoutEffect({ to, was, form, left, leftKind, leftMode }: UndoStep): boolean {
  if (to !== left) return false;
  const mode = was?.mode ?? form?.mode;
  return to === null || ((was?.kind ?? 'file') === (leftKind ?? 'file') && (mode ?? leftMode) === (leftMode ?? mode));
}

// Merges an older change into a newer change of the same file, unless an operation between them needs the file.
function joinStep(
  operations: (UndoOperation | undefined)[],
  moves: readonly number[],
  positions: StepPositions,
  older: UndoStep,
): boolean {
  let { at } = older;
  let isMoved = false;
  let end = operations.length;
  for (const move of [-1, ...moves].reverse()) {
    const index = positions.newest(at, (one) => one > move && one < end && operations[one] !== undefined);
    if (index !== -1) {
      const one = operations[index] as UndoStep;
      if (one.at !== at) return false;
      const isEdit = ({ left, to }: UndoStep) => left !== null && to !== null;
      const joined = joinedSteps(one, older);
      if (!isMoved && isWithoutEffect(joined) && !joined.mixed) operations[index] = undefined;
      else if (!isMoved || isEdit(older)) operations[index] = joined;
      else if (isEdit(one)) {
        operations[index] = undefined;
        positions.add(older.at, operations.length);
        operations.push({ ...joined, at: older.at });
      } else return false;
      return true;
    }
    if (move === -1) return false;
    const one = operations[move] as UndoMove;
    const isInside = at !== one.to && isSameOrBelowPath(one.to, at);
    if (!isInside && (isAncestorOrDescendantPath(at, one.to) || isAncestorOrDescendantPath(at, one.from))) return false;
    if (isInside) at = pathAfterMove(at, reverseMove(one));
    isMoved ||= isInside;
    end = move;
  }
  return false;
}

export const hasOtherFileForm = ({ was, form }: UndoStep): boolean =>
  was?.kind !== undefined && form?.encoding !== undefined;

function joinedSteps(newer: UndoStep, { to, was, order, ...older }: UndoStep): UndoStep {
  const { was: _, ...rest } = newer;
  const form = older.form ?? newer.form;
  const leftForm = newer.leftForm ?? older.leftForm;
  const mode = newer.was?.mode ?? newer.form?.mode ?? older.leftMode;
  const isChanged =
    (newer.to !== older.left && !hasOtherFileForm(newer)) || (older.leftMode !== undefined && mode !== older.leftMode);
  return {
    ...rest,
    place: older.place,
    paths: [...older.paths, ...newer.paths],
    to,
    ...(was && { was }),
    ...(form && { form }),
    ...(leftForm && { leftForm }),
    ...((older.mixed || newer.mixed || isChanged) && { mixed: true }),
    ...(older.sameTime && { sameTime: true }),
    toolCallIds: [...older.toolCallIds, ...newer.toolCallIds],
    order,
  };
}

/** Returns the operations that redo a recorded undo: the reversed effects, last first. */
export function redoOperations({ toolCallIds, changes, moves }: RedoableUndo): UndoOperation[] {
  const steps = changes.map((change, index) => {
    const { path, place = path, paths = [path], before, after, kind, mode, encoding, afterKind, afterMode } = change;
    const step: UndoStep = {
      at: change.at ?? (after === null ? path : place),
      path: place,
      place: path,
      paths,
      to: before,
      ...(kind && { was: { kind, mode } }),
      ...(mode !== undefined && { form: { mode, encoding } }),
      left: after,
      ...(afterKind && { leftKind: afterKind }),
      ...(afterMode !== undefined && { leftMode: afterMode }),
      toolCallIds: [...toolCallIds],
      order: -index,
    };
    // Records of earlier versions have no numbers; their order was removals, moves, creations.
    return { operation: step, number: change.step ?? (after === null ? -2 : 0) };
  });
  const back = moves.map((move, index) => ({
    operation: { ...reverseMove(move), paths: [move.from], toolCallIds: [...toolCallIds], order: -index },
    number: move.step ?? -1,
  }));
  return [...steps, ...back]
    .map((one, index) => ({ ...one, index }))
    .sort((one, other) => other.number - one.number || other.index - one.index)
    .map(({ operation }) => operation)
    .filter((one) => isUndoMove(one) || !isWithoutEffect(one));
}

/** Returns a step whose `left` is the text of later undos of parts of the file, which are no changes by someone else. */
export function withLaterRestorations(run: Pick<Run, 'undos'>, operation: UndoOperation): UndoOperation {
  if (isUndoMove(operation) || operation.leftKind) return operation;
  let { left } = operation;
  for (const { toolCallIds, changes } of run.undos ?? [])
    for (const { path, before, after, kind, afterKind } of toolCallIds.length === 0 ? changes : [])
      if (path === operation.path && before === left && !kind && !afterKind) left = after;
  return left === operation.left ? operation : { ...operation, left };
}

// Returns the form of a created file: that of a text of equal content that the same call has deleted, else of a new file.
function createFormSource(run: Run) {
  const sources = new Map<string, Map<string | null, UndoStep['leftForm']>>();
  const read = (toolCallId: string) => {
    const deleted = (run.calls[toolCallId]?.changes ?? []).filter(
      ({ after, kind, mode }) => after === null && !kind && mode !== undefined,
    );
    // The first of equal contents counts.
    return new Map(deleted.reverse().map(({ before, mode, encoding }) => [before, { mode, encoding }]));
  };
  return (toolCallId: string, { after }: StoredFileChange): UndoStep['leftForm'] => {
    const forms = sources.get(toolCallId) ?? read(toolCallId);
    sources.set(toolCallId, forms);
    const { mode = 0o666 & ~process.umask(), encoding } = forms.get(after) ?? {};
    return { mode, encoding };
  };
}

export const reverseMove = ({ from, to }: FileMove): FileMove => ({ from: to, to: from });

export const isSameOrBelowPath = (folder: string, path: string): boolean =>
  path.length > folder.length ? path[folder.length] === '/' && path.startsWith(folder) : path === folder;

export const isAncestorOrDescendantPath = (one: string, other: string): boolean =>
  one.length < other.length ? isSameOrBelowPath(one, other) : isSameOrBelowPath(other, one);

export const pathAfterMove = (path: string, { from, to }: FileMove): string =>
  path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;

/**
 * Returns the calls with undoable changes in the newest reply with any, or in the whole run. Calls of a task belong to the reply that gave
 * the task. Changes that cancel each other do not count.
 */
export function undoableCallIds(run: Run, scope: 'turn' | 'run'): string[] {
  const repositories = callsInStartOrder(run)
    .filter(([, { repositories = [], undone = [] }]) => repositories.some(({ path }) => !undone.includes(path)))
    .map(([id]) => id);
  const standing = new Set([...standingOf(run).map(({ toolCallId }) => toolCallId), ...repositories]);
  const remain = (ids: string[]) => undoOperations(run, ids).length > 0 || ids.some((id) => repositories.includes(id));
  const byCall = new Map<string, string[]>();
  for (const id of standing) push(byCall, conversationCallId(run, id), id);
  const replies = run.messages.map((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).flatMap(({ id }) => byCall.get(id) ?? []) : [],
  );
  return (scope === 'run' ? [[...standing]] : replies).findLast(remain) ?? [];
}

// Returns changes and moves without an undo, in order, including possible changes of calls without an end.
function standingOf(run: Run): { toolCallId: string; change?: StoredFileChange; moved?: FileMove }[] {
  const standing = callsInStartOrder(run).flatMap(
    ([toolCallId, { changes = [], moved, undone, startSeq = Number.MAX_SAFE_INTEGER }]) => {
      const isUndone = new Set(undone);
      return [
        ...changes
          .filter(({ path }) => !isUndone.has(path))
          .map(({ seq = startSeq, ...change }) => ({ toolCallId, change, seq })),
        ...(moved && !isUndone.has(moved.to) ? [{ toolCallId, moved, seq: startSeq }] : []),
      ];
    },
  );
  return standing.sort((one, other) => one.seq - other.seq);
}

/** Positions of steps by their paths: finds the steps at, above and below a path without a look at all of them. */
export class StepPositions {
  private readonly at = new Map<string, number[]>();
  private readonly below = new Map<string, number[]>();

  add(path: string, position: number): void {
    push(this.at, path, position);
    for (const folder of foldersAbove(path)) push(this.below, folder, position);
  }

  /** Returns the newest of the positions that match; -1: none. */
  newest(path: string, isMatch: (position: number) => boolean): number {
    let newest = -1;
    for (const positions of this.related(path))
      for (const one of positions) if (one > newest && isMatch(one)) newest = one;
    return newest;
  }

  /** Tests for a step after one position and before another. */
  hasBetween(path: string, from: number, to: number): boolean {
    return this.newest(path, (one) => one > from && one < to) !== -1;
  }

  private related(path: string): (readonly number[])[] {
    return [...[path, ...foldersAbove(path)].map((one) => this.at.get(one) ?? []), this.below.get(path) ?? []];
  }
}

/** Returns the folders above a path with `/`, from the nearest. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) folders.push(path.slice(0, end));
  return folders;
}

function push<Item>(all: Map<string, Item[]>, key: string, item: Item): void {
  const known = all.get(key);
  if (known) known.push(item);
  else all.set(key, [item]);
}
