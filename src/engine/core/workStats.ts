import type { WorkStats } from '../../protocol/content/workStats.ts';
import { callsInStartOrder, type Run, standingFiles } from '../../protocol/run/run.ts';

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
  const since = callsInStartOrder(run).filter(([, { startedAt = 0 }]) => startedAt >= began);
  return new Set(since.flatMap(([, state]) => standingFiles(state))).size;
}
