import { pendingCalls } from './pending.ts';
import { type Run, unreportedCommandEnds } from './run.ts';

/** All calls have results, and the model has not received them: after a pause, or after denials. */
export function isBetweenTurns({ messages }: Run): boolean {
  return messages.at(-1)?.role === 'tool' && pendingCalls(messages).length === 0;
}

/** A denial of the user holds the run: no request is sent until the user gives feedback or continues the run. */
export const isRunHeldByDenial = ({ held = [], queued }: Pick<Run, 'held' | 'queued'>): boolean =>
  held.length > 0 && !queued.some(({ when }) => when !== 'done');

export function hasUnfinishedTurn({ messages }: Run): boolean {
  const last = messages.at(-1);
  return (
    pendingCalls(messages).length > 0 || last?.role === 'user' || (last?.role === 'assistant' && !!last.incomplete)
  );
}

export const canContinueRun = (run: Run): boolean =>
  run.error !== undefined ||
  isBetweenTurns(run) ||
  hasUnfinishedTurn(run) ||
  run.queued.length > 0 ||
  unreportedCommandEnds(run).length > 0 ||
  (run.graph?.main.at.length ?? 0) > 0;
