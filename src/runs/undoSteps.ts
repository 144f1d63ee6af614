import type { Moved, RemovedKind, StoredChange } from '../protocol/run/events.ts';
import { callsOf, type Run } from '../protocol/run/run.ts';
import type { Undone } from '../protocol/run/runFiles.ts';

/** One file on its way to another content. Ids are of stored contents; null: no file. */
export interface UndoStep {
  /** Path at this point of the undo or redo, workspace-relative. */
  at: string;
  /** Path before the moves of the same undo or redo: a folder may have been moved with the file since. */
  path: string;
  /** Path after these moves. */
  place: string;
  /** Paths in the calls' own changes. */
  paths: string[];
  to: string | null;
  /** `to` was removed as it was on disk, and comes back so. */
  was?: Pick<StoredChange, 'kind' | 'mode'>;
  /** Form that a text had, for one that comes back: its file went away meanwhile. */
  form?: Pick<StoredChange, 'mode' | 'encoding'>;
  /** Content that the last of the changes left; anything else there now was made since. */
  left: string | null;
  /** `left` is no text. */
  leftKind?: RemovedKind;
  /** Form of a text that the run has made or moved there: for a redo, when an interrupted undo has replaced it already. */
  leftForm?: Pick<StoredChange, 'mode' | 'encoding'>;
  /** Between the changes somebody else changed the file, too. */
  mixed?: true;
  toolCallIds: string[];
  /** Position in what the user is told. */
  order: number;
}

/** Move of a folder, or of a file that is not text, that puts it back, and what the call's own move names. */
export type UndoMove = Moved & Pick<UndoStep, 'paths' | 'toolCallIds' | 'order'>;

export type UndoOperation = UndoStep | UndoMove;

export const isMove = (operation: UndoOperation): operation is UndoMove => 'from' in operation;

/**
 * Operations that undo the chosen calls: only what a call of this run changed, and nothing twice. They are the opposites of the calls'
 * changes and moves, the newest first; each holds for the files as those before it leave them. Changes of one file are one
 * operation, unless something between them needs the file.
 */
export function undoOperations(run: Run, toolCallIds: readonly string[], paths?: readonly string[]): UndoOperation[] {
  const chosen = new Set(toolCallIds);
  const isChosen = (toolCallId: string, path: string) => chosen.has(toolCallId) && (!paths || paths.includes(path));
  const standing = standingOf(run);
  const all = standing.flatMap(({ toolCallId, moved }, index) => (moved ? [{ toolCallId, moved, index }] : []));
  const operations: UndoOperation[] = [];
  /** Moves that stay, though they are newer. */
  const staying: Moved[] = [];
  for (const [order, { toolCallId, change, moved }] of [...standing.entries()].reverse()) {
    const now = (path: string) => staying.reduce(after, path);
    const nowAround = (path: string) => staying.reduce((at, one) => (at === one.from ? at : after(at, one)), path);
    if (moved && !isChosen(toolCallId, moved.to)) staying.unshift(moved);
    else if (moved) {
      const [from, to] = [now(moved.to), nowAround(moved.from)];
      operations.push({ from, to, paths: [moved.to], toolCallIds: [toolCallId], order });
    }
    if (!change || !isChosen(toolCallId, change.path)) continue;
    const later = all.filter(({ index }) => index > order);
    const earlier = all.filter((one) => one.index < order && isChosen(one.toolCallId, one.moved.to)).reverse();
    const laterStaying = later.filter((one) => !isChosen(one.toolCallId, one.moved.to));
    const first = earlier.reduce((at, one) => after(at, opposite(one.moved)), change.path);
    const { kind, mode, encoding } = change;
    const step: UndoStep = {
      at: change.after === null ? nowAround(change.path) : now(change.path),
      path: later.reduce((at, one) => after(at, one.moved), change.path),
      place: laterStaying.reduce((at, one) => after(at, one.moved), first),
      paths: [change.path],
      to: change.before,
      ...(kind && { was: { kind, mode } }),
      ...(change.after === null && mode !== undefined && { form: { mode, encoding } }),
      left: change.after,
      ...(change.before === null && { leftForm: formOfNew(run.calls[toolCallId]?.changes, change) }),
      toolCallIds: [toolCallId],
      order,
    };
    if (!joinStep(operations, step)) operations.push(step);
  }
  return operations.filter((one) => isMove(one) || one.to !== one.left);
}

/** Makes one operation of an older change and a newer one of the same file, if nothing between them needs the file. */
function joinStep(operations: UndoOperation[], older: UndoStep): boolean {
  let { at } = older;
  let isMoved = false;
  for (let index = operations.length - 1; index >= 0; index--) {
    const one = operations[index]!;
    if (isMove(one)) {
      const isInside = at !== one.to && isIn(one.to, at);
      if (!isInside && (areRelated(at, one.to) || areRelated(at, one.from))) return false;
      if (isInside) at = after(at, opposite(one));
      isMoved ||= isInside;
    } else if (one.at === at) {
      const isEdit = ({ left, to }: UndoStep) => left !== null && to !== null;
      const joined = joinedSteps(one, older);
      if (!isMoved && joined.left === joined.to && !joined.mixed) operations.splice(index, 1);
      else if (!isMoved || isEdit(older)) operations[index] = joined;
      else if (isEdit(one)) {
        operations.splice(index, 1);
        operations.push({ ...joined, at: older.at });
      } else return false;
      return true;
    } else if (areRelated(one.at, at)) return false;
  }
  return false;
}

/** Whether what comes back has another id than its text: it was deleted as bytes, and is not plain UTF-8. */
export const hasOtherForm = ({ was, form }: UndoStep): boolean =>
  was?.kind !== undefined && form?.encoding !== undefined;

function joinedSteps(newer: UndoStep, { to, was, order, ...older }: UndoStep): UndoStep {
  const { was: _, ...rest } = newer;
  const form = older.form ?? newer.form;
  const leftForm = newer.leftForm ?? older.leftForm;
  return {
    ...rest,
    place: older.place,
    paths: [...older.paths, ...newer.paths],
    to,
    ...(was && { was }),
    ...(form && { form }),
    ...(leftForm && { leftForm }),
    ...((older.mixed || newer.mixed || (newer.to !== older.left && !hasOtherForm(newer))) && { mixed: true }),
    toolCallIds: [...older.toolCallIds, ...newer.toolCallIds],
    order,
  };
}

/** Operations that take an undo back, as it is on record: the opposites of what it did, the last first. */
export function redoOperations({ toolCallIds, changes, moves }: Undone): UndoOperation[] {
  const steps = changes.map((change, index) => {
    const { path, place = path, paths = [path], before, after, kind, mode, encoding, afterKind } = change;
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
      toolCallIds: [...toolCallIds],
      order: -index,
    };
    // An older version wrote no numbers: it made files go, then moves, then files come.
    return { operation: step, number: change.step ?? (after === null ? -2 : 0) };
  });
  const back = moves.map((move, index) => ({
    operation: { ...opposite(move), paths: [move.from], toolCallIds: [...toolCallIds], order: -index },
    number: move.step ?? -1,
  }));
  return [...steps, ...back]
    .map((one, index) => ({ ...one, index }))
    .sort((one, other) => other.number - one.number || other.index - one.index)
    .map(({ operation }) => operation)
    .filter((one) => isMove(one) || one.to !== one.left);
}

/** Form of a file that a call has made: that of the text that it has moved there, else a plain one. */
function formOfNew(changes: readonly StoredChange[] = [], { after: id }: StoredChange): UndoStep['leftForm'] {
  const isSource = ({ before, after, kind, mode }: StoredChange) =>
    before === id && after === null && !kind && mode !== undefined;
  const { mode = 0o666 & ~process.umask(), encoding } = changes.find(isSource) ?? {};
  return { mode, encoding };
}

export const opposite = ({ from, to }: Moved): Moved => ({ from: to, to: from });

export const isIn = (folder: string, path: string): boolean =>
  path.length > folder.length ? path[folder.length] === '/' && path.startsWith(folder) : path === folder;

/** Whether one of the paths is in the other. */
export const areRelated = (one: string, other: string): boolean =>
  one.length < other.length ? isIn(one, other) : isIn(other, one);

/** Path after a move. */
export const after = (path: string, { from, to }: Moved): string =>
  path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;

/**
 * Calls whose changes still stand: of the newest reply that has any, or of the whole run. Changes that cancel each other out
 * (a file made and deleted) are none.
 */
export function undoable(run: Run, scope: 'turn' | 'run'): string[] {
  const standing = new Set(standingOf(run).map(({ toolCallId }) => toolCallId));
  const remain = (ids: string[]) => undoOperations(run, ids).length > 0;
  const replies = run.messages.map((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id).filter((id) => standing.has(id)) : [],
  );
  return (scope === 'run' ? [[...standing]] : replies).findLast(remain) ?? [];
}

/**
 * The run's changes and moves that have not been undone, in the order they were made; those of a call without an end among
 * them, which may have been made.
 */
function standingOf(run: Run): { toolCallId: string; change?: StoredChange; moved?: Moved }[] {
  return callsOf(run).flatMap(([toolCallId, { changes = [], moved, undone = [] }]) => [
    ...changes.filter(({ path }) => !undone.includes(path)).map((change) => ({ toolCallId, change })),
    ...(moved && !undone.includes(moved.to) ? [{ toolCallId, moved }] : []),
  ]);
}
