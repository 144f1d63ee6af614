import { pendingCalls } from './pending.ts';
import { type Run, untoldEnds } from './run.ts';

/** The calls are answered, and the model has not heard of it: paused, or all was denied. */
export function isBetweenTurns({ messages }: Run): boolean {
  return messages.at(-1)?.role === 'tool' && pendingCalls(messages).length === 0;
}

/** A denial of the user holds the run: no request is sent until they say what to do instead, or let it continue. */
export const isHeld = ({ held = [], queued }: Pick<Run, 'held' | 'queued'>): boolean =>
  held.length > 0 && !queued.some(({ when }) => when !== 'done');

/** Something is unanswered: a call without a result, or an answer that was never given. */
export function hasLooseEnds({ messages }: Run): boolean {
  const last = messages.at(-1);
  return (
    pendingCalls(messages).length > 0 || last?.role === 'user' || (last?.role === 'assistant' && !!last.incomplete)
  );
}

/** Whether there is anything that a run at rest could go on with, without a word of the person. */
export const canContinue = (run: Run): boolean =>
  run.error !== undefined ||
  isBetweenTurns(run) ||
  hasLooseEnds(run) ||
  run.queued.length > 0 ||
  untoldEnds(run).length > 0 ||
  (run.graph?.main.at.length ?? 0) > 0;
