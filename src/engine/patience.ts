import type { Run } from '../protocol/run.ts';
import { type StopPoint, stopPointOf } from './stop.ts';

/** Milliseconds after a stop until nobody waits any more: for the disk, and for work that does not heed it. */
export const patience = { disk: 30, work: 60 };

/** Resolves so many milliseconds after the stop; never without one. */
export function afterStop(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => setTimeout(resolve, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Where the work ends. After a stop that it does not heed in time it is left behind, unless a call is at work in it. */
export function heeding(signal: AbortSignal, run: Run, work: Promise<StopPoint>): Promise<StopPoint> {
  const isRunning = () => Object.values(run.calls).some(({ status }) => status === 'running');
  const left = afterStop(signal, patience.work).then(() => (isRunning() ? work : stopPointOf(signal)));
  return Promise.race([work, left]);
}
