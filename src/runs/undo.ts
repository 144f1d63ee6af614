import type { KeptChange, Run } from '../protocol/run.ts';

/** One file on its way back. Ids are of kept contents; null: no file. */
export interface UndoStep {
  /** Workspace-relative. */
  path: string;
  /** What it held before the first of the changes that are undone. */
  to: string | null;
  /** What the last of them left behind; anything else there now was made since. */
  left: string | null;
  toolCallIds: string[];
}

/** How the chosen calls are undone, a step per file: only what a call of this run changed, and nothing twice. */
export function undoSteps(run: Run, toolCallIds: readonly string[], paths?: readonly string[]): UndoStep[] {
  const steps = new Map<string, UndoStep>();
  for (const { toolCallId, change } of changesOf(run)) {
    if (!toolCallIds.includes(toolCallId) || (paths && !paths.includes(change.path))) continue;
    const step = steps.get(change.path);
    if (!step) {
      const { path, before, after } = change;
      steps.set(path, { path, to: before, left: after, toolCallIds: [toolCallId] });
    } else {
      step.left = change.after;
      step.toolCallIds.push(toolCallId);
    }
  }
  return [...steps.values()].filter(({ to, left }) => to !== left);
}

/** Calls whose changes still stand: of the newest reply that has any, or of the whole run. */
export function undoable(run: Run, scope: 'turn' | 'run'): string[] {
  const standing = new Set(changesOf(run).map(({ toolCallId }) => toolCallId));
  if (scope === 'run') return [...standing];
  const replies = run.messages.map((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [],
  );
  return replies.findLast((ids) => ids.some((id) => standing.has(id)))?.filter((id) => standing.has(id)) ?? [];
}

/** The run's changes that have not been undone, in the order they were made. */
function changesOf(run: Run): { toolCallId: string; change: KeptChange }[] {
  return Object.entries(run.calls).flatMap(([toolCallId, { ok, changes = [], undone = [] }]) =>
    ok ? changes.filter(({ path }) => !undone.includes(path)).map((change) => ({ toolCallId, change })) : [],
  );
}
