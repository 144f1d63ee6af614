import type { ErrorInfo } from '../../protocol/content/messages.ts';
import { message } from '../../protocol/text/l10n.ts';
import { ended, messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import { lasting } from '../core/deadlines.ts';
import type { LLMError } from '../core/errors.ts';

interface Backoff {
  baseMs: number;
  maxMs: number;
  /** A quarter more or less, so that many clients do not come back at the same moment. */
  jitter: boolean;
}

/** Milliseconds to wait after the failed attempt `attempt` (0 the first): `min(base · 2^attempt, max)`, ± 25 %. */
export function retryDelay(attempt: number, { baseMs, maxMs, jitter }: Backoff, random: () => number): number {
  const delay = Math.min(baseMs * 2 ** attempt, maxMs);
  return Math.round(jitter ? delay * (0.75 + random() / 2) : delay);
}

interface RetryPolicy extends Backoff {
  /** Attempts after the first. */
  retries: number;
  /** The longest wait a provider may ask for. */
  retryAfterCapMs: number;
}

type RetryDecision = { delayMs: number } | { giveUp: ErrorInfo };

/**
 * Whether to try again after the failed attempt `attempt` (0 the first), and when. What the provider asks for wins over
 * our own back-off; more than the cap is not waited for at all, and the error says how long it would be.
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
    const words = message(
      '{0} It requires a wait of {1}. Try again after that time.',
      ended(messageOf(error)),
      lasting(asked),
    );
    return { giveUp: { ...error.toInfo(), ...toErrorInfo(words) } };
  }
  if (attempt >= policy.retries) return { giveUp: error.toInfo() };
  const askedFor = asked !== undefined && asked > 0 ? asked : undefined;
  return { delayMs: Math.ceil(askedFor ?? retryDelay(attempt, policy, random)) };
}
