import { callsInStartOrder, type Run } from '../../protocol/run/run.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { type StopPoint, stopPointOf } from './abortReason.ts';

/** Milliseconds after a stop until the engine no longer waits for the disk or for unresponsive work. */
export const stopDeadlineMs = { disk: 30, work: 60 };

/** Resolves `ms` milliseconds after the stop; never without a stop. */
export function waitForStopDeadline(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => setTimeout(resolve, ms)); // each run has its own signal
  });
}

/** Awaits the work, or abandons it when the stop deadline ends, unless a call is running. */
export function raceWithStop(signal: AbortSignal, run: Run, work: Promise<StopPoint>): Promise<StopPoint> {
  const isRunning = () => callsInStartOrder(run).some(([, { status }]) => status === 'running');
  const left = waitForStopDeadline(signal, stopDeadlineMs.work).then(() => (isRunning() ? work : stopPointOf(signal)));
  return Promise.race([work, left]);
}

export interface ResultWithClosePromise<Result> {
  result: Result;
  closed: Promise<void>;
}

/**
 * Resolves when the work is finished and on disk; after a stop, as soon as the work is finished, even before the run was opened.
 *
 * @param unopened result for a run that was not opened yet
 */
export function finishWithinStopDeadline<Result>(
  signal: AbortSignal,
  work: Promise<ResultWithClosePromise<Result>>,
  unopened: () => Result | undefined,
): Promise<Result> {
  const late = waitForStopDeadline(signal, stopDeadlineMs.disk);
  const over = (async () => {
    const { result, closed } = await work;
    await Promise.race([closed, late]);
    return result;
  })();
  return Promise.race([over, late.then(() => unopened() ?? over)]);
}
