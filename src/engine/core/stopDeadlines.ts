import { callsOf, type Run } from '../../protocol/run/run.ts';
import { type StopPoint, stopPointOf } from './abortReason.ts';

/** Milliseconds after a stop until nobody waits any more: for the disk, and for work that does not heed it. */
export const patience = { disk: 30, work: 60 };

/** Resolves so many milliseconds after the stop; never without one. */
export function withStopDeadline(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => setTimeout(resolve, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Where the work ends. After a stop that it does not heed in time it is left behind, unless a call is at work in it. */
export function raceWithStop(signal: AbortSignal, run: Run, work: Promise<StopPoint>): Promise<StopPoint> {
  const isRunning = () => callsOf(run).some(([, { status }]) => status === 'running');
  const left = withStopDeadline(signal, patience.work).then(() => (isRunning() ? work : stopPointOf(signal)));
  return Promise.race([work, left]);
}

export interface Worked<Result> {
  result: Result;
  /** What was told is on disk, or could not be written, which has been told then. */
  closed: Promise<void>;
}

/**
 * When it is over and on disk; or after a stop as soon as it is over, even before it could be opened.
 * @param unopened what is given then: undefined once it is open
 */
export function withinStopDeadline<Result>(
  signal: AbortSignal,
  work: Promise<Worked<Result>>,
  unopened: () => Result | undefined,
): Promise<Result> {
  const late = withStopDeadline(signal, patience.disk);
  const over = (async () => {
    const { result, closed } = await work;
    await Promise.race([closed, late]);
    return result;
  })();
  return Promise.race([over, late.then(() => unopened() ?? over)]);
}
