import type { KeptChange, Moved, RemovedKind } from '../protocol/events.ts';
import { callsOf, type Run } from '../protocol/run.ts';
import type { Undone } from '../protocol/runFiles.ts';

/** One file on its way to another content. Ids are of stored contents; null: no file. */
export interface UndoStep {
  /** Path before the moves of the same undo or redo, workspace-relative: a folder may have been moved with the file since. */
  path: string;
  /** Path after these moves. */
  place: string;
  /** Paths in the calls' own changes. */
  paths: string[];
  to: string | null;
  /** `to` was removed as it was on disk, and comes back so. */
  was?: Pick<KeptChange, 'kind' | 'mode'>;
  /** Form that a text had, for one that comes back: its file went away meanwhile. */
  form?: Pick<KeptChange, 'mode' | 'encoding'>;
  /** Content that the last of the changes left; anything else there now was made since. */
  left: string | null;
  /** `left` is no text. */
  leftKind?: RemovedKind;
  /** Between the changes somebody else changed the file, too. */
  mixed?: true;
  toolCallIds: string[];
}

/** Move of a folder, or of a file that is not text, that puts it back, and what the call's own move names. */
export type UndoMove = Moved & { paths: string[]; toolCallIds: string[] };

/**
 * Steps that undo the chosen calls: only what a call of this run changed, and nothing twice. One step per file, and moves in the order
 * in which they are made.
 */
export function undoSteps(
  run: Run,
  toolCallIds: readonly string[],
  paths?: readonly string[],
): { steps: UndoStep[]; moves: UndoMove[] } {
  const chosen = new Set(toolCallIds);
  const isChosen = (toolCallId: string, path: string) => chosen.has(toolCallId) && (!paths || paths.includes(path));
  const standing = standingOf(run);
  const all = standing.flatMap(({ toolCallId, moved }, index) => (moved ? [{ toolCallId, moved, index }] : []));
  const steps = new Map<string, UndoStep>();
  for (const [index, { toolCallId, change }] of standing.entries()) {
    if (!change || !isChosen(toolCallId, change.path)) continue;
    const later = all.filter((one) => one.index > index);
    const path = later.reduce((at, { moved }) => after(at, moved), change.path);
    const { kind, mode, encoding } = change;
    const was = kind && { kind, mode };
    const known = steps.get(path);
    const step: UndoStep = known ?? {
      path,
      place: '',
      paths: [],
      to: change.before,
      was,
      left: change.before,
      toolCallIds: [],
    };
    if (!known) {
      const earlier = all.filter((one) => one.index < index && isChosen(one.toolCallId, one.moved.to)).reverse();
      const staying = later.filter((one) => !isChosen(one.toolCallId, one.moved.to));
      const before = earlier.reduce((at, { moved }) => after(at, opposite(moved)), change.path);
      step.place = staying.reduce((at, { moved }) => after(at, moved), before);
    }
    // What was deleted as bytes has another id than its text, where it is not plain UTF-8.
    if (step.left !== change.before && !(kind && encoding)) step.mixed = true;
    if (change.after === null && mode !== undefined) step.form ??= { mode, encoding };
    step.left = change.after;
    step.paths.push(change.path);
    step.toolCallIds.push(toolCallId);
    steps.set(path, step);
  }
  const moves = all.flatMap(({ toolCallId, moved }) =>
    isChosen(toolCallId, moved.to) ? [{ ...opposite(moved), paths: [moved.to], toolCallIds: [toolCallId] }] : [],
  );
  return { steps: [...steps.values()].filter(({ to, left }) => to !== left), moves: moves.reverse() };
}

/** Steps that take an undo back, as it is on record. */
export function redoSteps({ toolCallIds, changes, moves }: Undone): { steps: UndoStep[]; moves: UndoMove[] } {
  const steps = changes.map(
    ({ path, place = path, paths = [path], before, after, kind, mode, encoding, afterKind }) => ({
      path: place,
      place: path,
      paths,
      to: before,
      ...(kind && { was: { kind, mode } }),
      ...(mode !== undefined && { form: { mode, encoding } }),
      left: after,
      ...(afterKind && { leftKind: afterKind }),
      toolCallIds: [...toolCallIds],
    }),
  );
  const forward = moves.map((move) => ({ ...opposite(move), paths: [move.from], toolCallIds: [...toolCallIds] }));
  const isFolder = ({ leftKind }: UndoStep) => leftKind === 'folder';
  const deepestFirst = steps.filter(isFolder).sort((one, other) => other.path.length - one.path.length);
  const all = [...steps.filter((step) => !isFolder(step)).reverse(), ...deepestFirst]; // a folder goes when it is empty
  return { steps: all.filter(({ to, left }) => to !== left), moves: forward.reverse() };
}

const opposite = ({ from, to }: Moved): Moved => ({ from: to, to: from });

/** Path after a move. */
export const after = (path: string, { from, to }: Moved): string =>
  path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;

/**
 * Calls whose changes still stand: of the newest reply that has any, or of the whole run. Changes that cancel each other out
 * (a file made and deleted) are none.
 */
export function undoable(run: Run, scope: 'turn' | 'run'): string[] {
  const standing = new Set(standingOf(run).map(({ toolCallId }) => toolCallId));
  const remain = (ids: string[]) => {
    const { steps, moves } = undoSteps(run, ids);
    return steps.length + moves.length > 0;
  };
  const replies = run.messages.map((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id).filter((id) => standing.has(id)) : [],
  );
  return (scope === 'run' ? [[...standing]] : replies).findLast(remain) ?? [];
}

/**
 * The run's changes and moves that have not been undone, in the order they were made; those of a call without an end among
 * them, which may have been made.
 */
function standingOf(run: Run): { toolCallId: string; change?: KeptChange; moved?: Moved }[] {
  return callsOf(run).flatMap(([toolCallId, { changes = [], moved, undone = [] }]) => [
    ...changes.filter(({ path }) => !undone.includes(path)).map((change) => ({ toolCallId, change })),
    ...(moved && !undone.includes(moved.to) ? [{ toolCallId, moved }] : []),
  ]);
}
