import type { WorkStats } from '../../protocol/content/workStats.ts';
import { callsInStartOrder, type Run } from '../../protocol/run/run.ts';

/** Returns a function that measures the work since this call, for the turn limit. `now`: clock of the events. */
export function startWorkStats(run: Run, now: () => number): (turns: number) => WorkStats {
  const [began, before] = [now(), run.usage];
  return (turns) => ({
    turns,
    ms: Math.max(0, now() - began),
    tokens: run.usage.totalTokens - before.totalTokens,
    ...(run.usage.cost !== undefined && { cost: run.usage.cost - (before.cost ?? 0) }),
    files: changedSince(run, began),
  });
}

function changedSince(run: Run, began: number): number {
  const files = new Set<string>();
  for (const [, { startedAt = 0, changes = [], moved, undone = [] }] of callsInStartOrder(run)) {
    if (startedAt < began) continue;
    for (const path of [...changes.map((change) => change.path), ...(moved ? [moved.to] : [])])
      if (!undone.includes(path)) files.add(path);
  }
  return files.size;
}
