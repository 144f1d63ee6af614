/**
 * Returns a listener that forwards each event to all `listeners`. Errors and rejections go to `onError`; the other listeners still receive
 * the event, and the sender continues. Events report what happened and never cause it.
 *
 * @invariant listeners-are-isolated: A listener that throws never ends, locks or hides an event of a run.
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

/** Listeners that components add as they are created. Events reach all listeners in the order of addition; errors are isolated. */
export class IsolatedListeners<Event = void> {
  private readonly listeners: ((event: Event) => unknown)[] = [];
  readonly notify: (event: Event) => void;

  constructor(onError: (error: unknown) => void) {
    this.notify = createIsolatedListener(this.listeners, onError);
  }

  add(...listeners: ((event: Event) => unknown)[]): void {
    this.listeners.push(...listeners);
  }
}
