import type { RateLimitReport, RateLimitStatus } from '../core/rateLimitHeaders.ts';

/** Limits of a provider per minute; 0 disables a limit. */
export interface RateLimits {
  requestsPerMinute: number;
  tokensPerMinute: number;
}

export interface RateLimitReservation {
  waitMs: number;
  cancel(): void;
  answered(): void;
  settle(tokens: number): void;
}

export interface RateLimiter {
  readonly countsTokens: boolean;
  /**
   * Reserves a position in the queue for a request of about `tokens`. A reservation that is neither cancelled nor settled counts in full.
   */
  reserve(tokens: number): RateLimitReservation;
  /** Applies the limits reported by the provider. They can only slow down what our own limits allow. */
  update(news: RateLimitReport): void;
  hold(ms: number): void;
}

const minute = 60_000;

/** Creates two token buckets with the capacity of one minute. `now`: milliseconds of a monotonic clock. */
export function createRateLimiter(limits: RateLimits, now: () => number = () => performance.now()): RateLimiter {
  const requests = createBucket(limits.requestsPerMinute, now);
  const tokens = createBucket(limits.tokensPerMinute, now);
  let heldUntil = 0;
  let heldAt = 0;
  const hold = (ms: number) => {
    heldAt = now();
    heldUntil = Math.max(heldUntil, heldAt + Math.min(ms, minute));
  };
  return {
    countsTokens: limits.tokensPerMinute > 0,
    hold,
    reserve(size) {
      const reservedAt = now();
      const waitMs = Math.ceil(Math.max(requests.take(1), tokens.take(size), heldUntil - reservedAt, 0));
      return {
        waitMs,
        cancel() {
          requests.take(-1);
          tokens.take(-size);
        },
        answered() {
          if (heldAt <= reservedAt) heldUntil = 0;
        },
        settle: (used) => void tokens.take(used - size),
      };
    },
    update(news) {
      for (const [bucket, reported] of [
        [requests, news.requests],
        [tokens, news.tokens],
      ] as const) {
        if (reported?.remaining !== undefined && isOfMinutes(reported)) bucket.lower(reported.remaining);
        if (reported?.remaining === 0 && reported.resetMs !== undefined && isOfMinutes(reported))
          hold(reported.resetMs);
      }
    },
  };
}

/** Groq counts requests per day. A daily limit is not waited for, because the error of the provider explains the limit better. */
const isOfMinutes = ({ resetMs = 0 }: RateLimitStatus) => resetMs <= minute;

interface Bucket {
  /** Returns the milliseconds until the bucket has refilled. A negative level keeps the queue in order. */
  take(amount: number): number;
  lower(level: number): void;
}

function createBucket(perMinute: number, now: () => number): Bucket {
  if (perMinute <= 0) return { take: () => 0, lower: () => {} };
  let level = perMinute;
  let filled = now();
  const fill = () => {
    const time = now();
    level = Math.min(perMinute, level + ((time - filled) / minute) * perMinute);
    filled = time;
  };
  return {
    take(amount) {
      fill();
      level = Math.min(perMinute, level - Math.min(amount, perMinute)); // an amount above the capacity passes when the bucket is full
      return level >= 0 ? 0 : (-level / perMinute) * minute;
    },
    lower(to) {
      fill();
      level = Math.min(level, to);
    },
  };
}
