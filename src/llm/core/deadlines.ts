import { groupDigits, inEnglish, type LocalizedMessage, message } from '../../protocol/text/l10n.ts';

/** Longer waits overflow: `setTimeout` would fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Guards a series of waits, one at a time, for the length of an answer. */
export interface Watch {
  /**
   * The promise's value; or, whichever comes first, the signal's reason or `expired()` thrown after `ms` (0 or less: no
   * limit). The promise itself is let go: nothing waits for work that does not heed its own signal.
   */
  wait<Value>(promise: PromiseLike<Value>, ms: number, expired: () => Error): Promise<Value>;
  close(): void;
}

/** One listener and one timer for all waits: answers come in a million pieces, and a timer for each costs more than they do. */
export function createWatch(signal?: AbortSignal): Watch {
  let timer: NodeJS.Timeout | undefined;
  let rings = Number.POSITIVE_INFINITY; // when the timer does; it may be early, and is then set again
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
  signal?.addEventListener('abort', stop);

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
      signal?.removeEventListener('abort', stop);
    },
  };
}

interface WaitLimits {
  /** Milliseconds; 0 or less: no limit. */
  ms?: number;
  signal?: AbortSignal;
  /** What to throw when the time is up. */
  expired?: () => Error;
}

/** A single wait under a watch. */
export async function withDeadline<Value>(
  promise: PromiseLike<Value>,
  { ms = 0, signal, expired }: WaitLimits,
): Promise<Value> {
  const watch = createWatch(signal);
  try {
    return await watch.wait(promise, ms, expired ?? (() => new Error('The time is up.')));
  } finally {
    watch.close();
  }
}

/** Resolves to false after the wait, to true at the event `now` of `hurry`; throws the signal's reason when stopped. */
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

/** `250 ms`, `2.5 s`, `5 min`, `31,688 years`. */
export function lasting(ms: number): LocalizedMessage {
  const unit = units.find((one) => ms >= one.ms * 2 || (ms >= one.ms && one.ms <= 3_600_000));
  if (!unit) return message('{0} ms', Math.round(ms));
  const tenths = Math.round((ms / unit.ms) * 10);
  const whole = groupDigits(Math.floor(tenths / 10));
  return tenths % 10 === 0 ? message(unit.whole, whole) : message(unit.part, whole, tenths % 10);
}

/** The same in English. */
export const durationText = (ms: number): string => inEnglish(lasting(ms));
