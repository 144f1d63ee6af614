import type { RateLimitNews, RateLimitStatus } from '../core/rateHeaders.ts';

/** 0: no limit. */
export interface RateLimits {
  requestsPerMinute: number;
  tokensPerMinute: number;
}

export interface Reservation {
  /** Milliseconds until the request may go. */
  waitMs: number;
  /** The request never went. */
  cancel(): void;
  /** The provider has answered it: what it had asked to wait before, which the person may have cut short, is over. */
  answered(): void;
  /** What it really took, in tokens. */
  settle(tokens: number): void;
}

/** One provider's limits, shared by everything that talks to it. */
export interface RateLimiter {
  /** Without a limit of tokens nobody needs to count those of a request. */
  readonly countsTokens: boolean;
  /** Takes a place in the queue for a request of about `tokens`. What is neither cancelled nor settled counts as it was reserved. */
  reserve(tokens: number): Reservation;
  /** What the provider says of its own limits; it may only slow down what our own limits allow. */
  hear(news: RateLimitNews): void;
  /** The provider asked to wait. */
  hold(ms: number): void;
}

const minute = 60_000;

/** Two token buckets, each holding a minute's worth. `now`: milliseconds of a clock that never goes back. */
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
    hear(news) {
      for (const [bucket, said] of [
        [requests, news.requests],
        [tokens, news.tokens],
      ] as const) {
        if (said?.remaining !== undefined && isOfMinutes(said)) bucket.lower(said.remaining);
        if (said?.remaining === 0 && said.resetMs !== undefined && isOfMinutes(said)) hold(said.resetMs);
      }
    },
  };
}

/** Groq counts requests by the day: what is left of a day is not waited for, the refusal says it better. */
const isOfMinutes = ({ resetMs = 0 }: RateLimitStatus) => resetMs <= minute;

interface Bucket {
  /** Milliseconds until the bucket has made up for what was taken; a debt keeps the queue in order. */
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
      level = Math.min(perMinute, level - Math.min(amount, perMinute)); // more than a minute's worth still goes, once it is full
      return level >= 0 ? 0 : (-level / perMinute) * minute;
    },
    lower(to) {
      fill();
      level = Math.min(level, to);
    },
  };
}
