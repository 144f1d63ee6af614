/**
 * Returns a listener that passes each event to all of `listeners`. One that throws or rejects is reported to `onError`; the others
 * still receive the event, and the sender goes on: events report what happened and never cause it.
 *
 * @invariant listeners-are-isolated: A listener that throws never ends, locks or hides an event of a run.
 */
export function isolated<Event>(
  listeners: readonly ((event: Event) => unknown)[],
  onError: (error: unknown) => void,
): (event: Event) => void {
  const report = (error: unknown) => {
    try {
      onError(error);
    } catch {
      // The report is a listener, too.
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
