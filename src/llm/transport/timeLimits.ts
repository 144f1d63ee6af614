import { message } from '../../protocol/text/l10n.ts';
import { linked } from '../../protocol/text/links.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { LLMError } from '../core/errors.ts';

/** What a model call may be out of: each has its own number, and nearly each a setting that changes it. */
type TimeLimit = keyof typeof limits;

const limits = {
  connect: {
    says: '{0} did not answer for {1}. That is the limit for the start of an answer; the setting {2} changes it.',
    setting: 'towpath.timeouts.connect',
  },
  firstToken: {
    says: '{0} did not respond for {1}. That is the limit for the first token; the setting {2} changes it.',
    setting: 'towpath.timeouts.firstToken',
  },
  idle: {
    says: '{0} stopped responding for {1}. That is the limit for silence within an answer; the setting {2} changes it.',
    setting: 'towpath.timeouts.idle',
  },
  events: {
    says: '{0} sent only keep-alive signals for {1}. That is the limit for the next piece of an answer; no setting changes it.',
    setting: undefined,
  },
  total: {
    says: '{0} did not finish within {1}. That is the limit for a whole answer with retries; the setting {2} changes it.',
    setting: 'towpath.timeouts.total',
  },
} as const;

/**
 * The error of whoever exceeded a limit of so many milliseconds: which one, how long it is, and where a person changes it
 * (`details` has the same for a program). `who` is named by the caller.
 */
export function outOfTime(who: LocalizableText, limit: TimeLimit, ms: number): LLMError {
  const { says, setting } = limits[limit];
  const long = ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
  return new LLMError('LLM_TIMEOUT', linked(message(says, who, long, ...(setting ? [setting] : [])), { setting }), {
    retryable: true,
    details: { limit, seconds: ms / 1000, ...(setting && { setting }) },
  });
}

/** A wait for the next bytes: milliseconds (0: no limit), and the limit that has been exceeded when they are over. */
export interface Until {
  ms: number;
  limit: TimeLimit;
  /** Milliseconds; `ms` is what is left of it. */
  of: number;
}
