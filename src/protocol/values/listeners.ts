/**
 * Returns a listener that forwards each event to all `listeners`. Errors and rejections go to `onError`; the other listeners still receive
 * the event, and the sender continues. Events report what happened and never cause it.
 *
 * @invariant listeners-are-isolated: a listener that throws never ends, locks or hides an event of a run
 */
export function createIsolatedListener<Event>(
  listeners: readonly ((event: Event) => unknown)[],
  onError: (error: unknown) => void,
): (event: Event) => void {
  const report = (error: unknown) => {
    try {
      onError(error);
    } catch {
      // The error report is a listener, too.
    }
  };
  return (event) => {
    for (const listener of listeners)
      try {
        const result = listener(event);
        if (result instanceof Promise) result.catch(report);
      } catch (error) {
        report(error);
      }
  };
}
