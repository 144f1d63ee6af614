/**
 * Calls the listener once, with the reason, when the signal aborts; before this function returns if the signal has already aborted.
 * Returns a function that removes the listener, because a signal may live longer than the work and would retain it.
 *
 * @invariant one-abort-listener: One module listens to the aborts of signals; every other module calls it.
 */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  const abort = () => listener(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/**
 * Resolves or rejects as the promise does. After an abort, at once with the result or the error of `aborted`, by default with the signal's
 * reason as the error; the promise is then ignored, a rejection included.
 */
export function raceWithAbort<Value, Aborted = never>(
  promise: PromiseLike<Value>,
  signal: AbortSignal | undefined,
  aborted: (reason: unknown) => Aborted = throwReason,
): Promise<Value | Aborted> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, (reason) => {
      try {
        resolve(aborted(reason));
      } catch (error) {
        reject(error);
      }
    });
    promise.then(
      (value) => {
        stopListening();
        resolve(value);
      },
      (error) => {
        stopListening();
        reject(error);
      },
    );
  });
}

function throwReason(reason: unknown): never {
  throw reason;
}
