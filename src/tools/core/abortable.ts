import { ToolError } from './tool.ts';

export function throwIfSignalAborted(signal: AbortSignal): void {
  if (signal.aborted) throw stopped();
}

/** Returns the promise's value, or rejects as soon as the signal aborts. A later value of the promise is ignored. */
export function raceWithAbort<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(stopped());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

const stopped = () => new ToolError('TOOL_INTERRUPTED', 'Stopped before it ran.');
