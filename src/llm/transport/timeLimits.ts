import { message } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { LLMError } from '../core/errors.ts';

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
 * Creates the error of an exceeded limit: name, duration and setting (`details` has the same as data). `who` is the subject of the message.
 */
export function timeLimitError(who: LocalizableText, limit: TimeLimit, ms: number): LLMError {
  const { says: text, setting } = limits[limit];
  const long = ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
  return new LLMError(
    'LLM_TIMEOUT',
    withMessageLinks(message(text, who, long, ...(setting ? [setting] : [])), { setting }),
    {
      retryable: true,
      details: { limit, seconds: ms / 1000, ...(setting && { setting }) },
    },
  );
}

/** Remaining milliseconds (0: unlimited) of a wait for bytes, and the limit that applies, with its full duration `of`. */
export interface ReadTimeLimit {
  ms: number;
  limit: TimeLimit;
  of: number;
}
