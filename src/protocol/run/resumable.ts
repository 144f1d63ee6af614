import { pendingCalls } from './pending.ts';
import { type Run, unreportedEnds } from './run.ts';

/** All calls have results, and the model has not received them: after a pause, or after denials. */
export function isBetweenTurns({ messages }: Run): boolean {
  return messages.at(-1)?.role === 'tool' && pendingCalls(messages).length === 0;
}

/** A denial of the user holds the run: no request is sent until the user gives feedback or continues the run. */
export const isHeld = ({ held = [], queued }: Pick<Run, 'held' | 'queued'>): boolean =>
  held.length > 0 && !queued.some(({ when }) => when !== 'done');

/** True if a call has no result or a message has no answer. */
export function hasLooseEnds({ messages }: Run): boolean {
  const last = messages.at(-1);
  return (
    pendingCalls(messages).length > 0 || last?.role === 'user' || (last?.role === 'assistant' && !!last.incomplete)
  );
}

export const canContinue = (run: Run): boolean =>
  run.error !== undefined ||
  isBetweenTurns(run) ||
  hasLooseEnds(run) ||
  run.queued.length > 0 ||
  unreportedEnds(run).length > 0 ||
  (run.graph?.main.at.length ?? 0) > 0;
