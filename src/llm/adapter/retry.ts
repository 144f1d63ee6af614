import type { ErrorInfo } from '../../protocol/content/messages.ts';
import { message } from '../../protocol/text/l10n.ts';
import { messageOf, toErrorInfo, withFullStop } from '../../protocol/text/localized.ts';
import { durationMessage } from '../core/deadlines.ts';
import type { LLMError } from '../core/errors.ts';

interface Backoff {
  baseMs: number;
  maxMs: number;
  jitter: boolean;
}

/**
 * Returns the milliseconds to wait after the failed attempt `attempt` (0 is the first): `min(base · 2^attempt, max)`, ± 25 % with jitter.
 */
export function retryDelay(attempt: number, { baseMs, maxMs, jitter }: Backoff, random: () => number): number {
  const delay = Math.min(baseMs * 2 ** attempt, maxMs);
  return Math.round(jitter ? delay * (0.75 + random() / 2) : delay);
}

interface RetryPolicy extends Backoff {
  retries: number;
  retryAfterCapMs: number;
}

type RetryDecision = { delayMs: number } | { giveUp: ErrorInfo };

/**
 * Decides on a retry after the failed attempt `attempt` (0 is the first). A wait requested by the provider overrides our own back-off. A
 * wait above the cap is an error with the requested duration.
 */
export function decideRetry(
  error: LLMError,
  attempt: number,
  policy: RetryPolicy,
  random: () => number,
): RetryDecision {
  if (!error.retryable) return { giveUp: error.toInfo() };
  const asked = error.retryAfterMs;
  if (asked !== undefined && asked > policy.retryAfterCapMs) {
    const text = message(
      '{0} It requires a wait of {1}. Try again after that time.',
      withFullStop(messageOf(error)),
      durationMessage(asked),
    );
    return { giveUp: { ...error.toInfo(), ...toErrorInfo(text) } };
  }
  if (attempt >= policy.retries) return { giveUp: error.toInfo() };
  const askedFor = asked !== undefined && asked > 0 ? asked : undefined;
  return { delayMs: Math.ceil(askedFor ?? retryDelay(attempt, policy, random)) };
}
