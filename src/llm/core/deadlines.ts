import { type LocalizedMessage, message, withDigitGrouping } from '../../protocol/text/l10n.ts';
import { onAbort } from '../../protocol/values/abort.ts';

/** Largest delay of `setTimeout`; a longer delay overflows and fires at once. */
const longestTimer = 2 ** 31 - 1;

interface DeadlineWatch {
  /**
   * Returns the value of the promise. Throws the signal's reason or, after `ms` milliseconds (0 or less: no limit), `expired()`. The
   * promise is abandoned, because work that ignores its signal must not delay the caller.
   */
  wait<Value>(promise: PromiseLike<Value>, ms: number, expired: () => Error): Promise<Value>;
  close(): void;
}

/**
 * Creates a watch with one listener and one timer for all waits. An answer may have a million pieces, and a timer per piece costs more than
 * the piece.
 */
export function createDeadlineWatch(signal?: AbortSignal): DeadlineWatch {
  let timer: NodeJS.Timeout | undefined;
  let rings = Number.POSITIVE_INFINITY; // time at which the timer fires; an early timer is set again
  let pending: { until: number; fail(error: unknown): void; expired(): Error } | undefined;

  const set = (until: number) => {
    clearTimeout(timer);
    rings = until;
    timer = setTimeout(ring, Math.min(Math.max(until - performance.now(), 1), longestTimer));
  };
  const ring = () => {
    rings = Number.POSITIVE_INFINITY;
    if (!pending || pending.until === Number.POSITIVE_INFINITY) return;
    if (performance.now() >= pending.until) pending.fail(pending.expired());
    else set(pending.until);
  };
  const stop = () => pending?.fail(signal?.reason);
  const stopListening = onAbort(signal, stop);

  return {
    wait(promise, ms, expired) {
      return new Promise((resolve, reject) => {
        const wait = { until: ms > 0 ? performance.now() + ms : Number.POSITIVE_INFINITY, fail: reject, expired };
        pending = wait;
        const over = () => {
          if (pending === wait) pending = undefined;
        };
        promise.then(
          (value) => {
            over();
            resolve(value);
          },
          (error) => {
            over();
            reject(error);
          },
        );
        if (signal?.aborted) stop();
        else if (wait.until < rings) set(wait.until);
      });
    },
    close() {
      clearTimeout(timer);
      stopListening();
    },
  };
}

interface WaitLimits {
  ms?: number;
  signal?: AbortSignal;
  expired?: () => Error;
}

export async function withDeadline<Value>(
  promise: PromiseLike<Value>,
  { ms = 0, signal, expired }: WaitLimits,
): Promise<Value> {
  const watch = createDeadlineWatch(signal);
  try {
    return await watch.wait(promise, ms, expired ?? (() => new Error('The time is up.')));
  } finally {
    watch.close();
  }
}

/** Waits and resolves to false, or to true after the event `now` of `hurry`. Throws the signal's reason. */
export async function sleep(ms: number, signal?: AbortSignal, hurry?: EventTarget): Promise<boolean> {
  const wakeUp = new Error('time to wake up');
  let wake = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  hurry?.addEventListener('now', wake);
  try {
    await withDeadline(woken, { ms: Math.max(ms, 1), signal, expired: () => wakeUp });
    return true;
  } catch (error) {
    if (error !== wakeUp) throw error;
    return false;
  } finally {
    hurry?.removeEventListener('now', wake);
  }
}

const units = [
  { whole: '{0} years', part: '{0}.{1} years', ms: 31_557_600_000 },
  { whole: '{0} days', part: '{0}.{1} days', ms: 86_400_000 },
  { whole: '{0} h', part: '{0}.{1} h', ms: 3_600_000 },
  { whole: '{0} min', part: '{0}.{1} min', ms: 60_000 },
  { whole: '{0} s', part: '{0}.{1} s', ms: 1000 },
] as const;

/** Formats a duration: `250 ms`, `2.5 s`, `5 min`, `31,688 years`. */
export function durationMessage(ms: number): LocalizedMessage {
  const unit = units.find((one) => ms >= one.ms * 2 || (ms >= one.ms && one.ms <= 3_600_000));
  if (!unit) return message('{0} ms', Math.round(ms));
  const tenths = Math.round((ms / unit.ms) * 10);
  const whole = withDigitGrouping(Math.floor(tenths / 10));
  return tenths % 10 === 0 ? message(unit.whole, whole) : message(unit.part, whole, tenths % 10);
}
