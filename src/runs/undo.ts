import type { KeptChange, Moved } from '../protocol/events.ts';
import { callsOf, type Run } from '../protocol/run.ts';

/** One file on its way back. Ids are of kept contents; null: no file. */
export interface UndoStep {
  /** Where it is now, workspace-relative: a folder may have been moved with it since. */
  path: string;
  /** What the calls called it. */
  paths: string[];
  /** What it held before the first of the changes that are undone. */
  to: string | null;
  /** `to` was deleted as it was on disk, and comes back so. */
  was?: Pick<KeptChange, 'kind' | 'mode'>;
  /** The last form of the file that went away, for a text that comes back. */
  form?: Pick<KeptChange, 'mode' | 'encoding'>;
  /** What the last of them left behind; anything else there now was made since. */
  left: string | null;
  /** Between them somebody else changed it, too. */
  mixed?: true;
  toolCallIds: string[];
}

/** A folder, or a file that is not text, on its way back. */
export type UndoMove = Moved & { toolCallId: string };

/**
 * How the chosen calls are undone: only what a call of this run changed, and nothing twice. First a step per file, each
 * where it is now, then the moves, newest first.
 */
export function undoSteps(
  run: Run,
  toolCallIds: readonly string[],
  paths?: readonly string[],
): { steps: UndoStep[]; moves: UndoMove[] } {
  const isChosen = (toolCallId: string, path: string) =>
    toolCallIds.includes(toolCallId) && (!paths || paths.includes(path));
  const standing = standingOf(run);
  const steps = new Map<string, UndoStep>();
  for (const [index, { toolCallId, change }] of standing.entries()) {
    if (!change || !isChosen(toolCallId, change.path)) continue;
    const later = standing.slice(index).flatMap(({ moved }) => moved ?? []);
    const path = later.reduce(after, change.path);
    const { kind, mode, encoding } = change;
    const was = kind && { kind, mode };
    const made = { path, paths: [], to: change.before, was, left: change.before, toolCallIds: [] };
    const step: UndoStep = steps.get(path) ?? made;
    // What was deleted as bytes has another id than its text, where it is not plain UTF-8.
    if (step.left !== change.before && !(kind && encoding)) step.mixed = true;
    if (change.after === null && mode !== undefined) step.form = { mode, encoding };
    step.left = change.after;
    step.paths.push(change.path);
    step.toolCallIds.push(toolCallId);
    steps.set(path, step);
  }
  const moves = standing.flatMap(({ toolCallId, moved }) =>
    moved && isChosen(toolCallId, moved.to) ? [{ ...moved, toolCallId }] : [],
  );
  return { steps: [...steps.values()].filter(({ to, left }) => to !== left), moves: moves.reverse() };
}

/** Where a path is after a move. */
const after = (path: string, { from, to }: Moved): string =>
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
