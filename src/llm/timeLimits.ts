import { LLMError } from './errors.ts';

/** What a model call may be out of: each has its own number, and nearly each a setting that changes it. */
export type TimeLimit = keyof typeof limits;

const limits = {
  connect: { did: 'did not answer', of: 'until it answers at all', setting: 'connect' },
  firstToken: { did: 'said nothing', of: 'until the first word', setting: 'firstToken' },
  idle: { did: 'fell silent', of: 'for silence within an answer', setting: 'idle' },
  events: { did: 'sent nothing but signs of life', of: 'until the next piece of an answer', setting: undefined },
  total: { did: 'did not come to its end', of: 'for a whole answer with its retries', setting: 'total' },
} as const;

/**
 * The error of whoever exceeded a limit of so many milliseconds: which one, how long it is, and where a person changes it
 * (`details` has the same for a program). `who` is named by the caller.
 */
export function outOfTime(who: string, limit: TimeLimit, ms: number): LLMError {
  const { did, of, setting } = limits[limit];
  const long = ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
  const where = setting ? `the setting towpath.timeouts.${setting} changes it` : 'no setting changes it';
  return new LLMError('LLM_TIMEOUT', `${who} ${did} for ${long}. That is the limit ${of}; ${where}.`, {
    retryable: true,
    details: { limit, seconds: ms / 1000, ...(setting && { setting: `towpath.timeouts.${setting}` }) },
  });
}

/** A wait for the next bytes: milliseconds (0: no limit), and the limit that has been exceeded when they are over. */
export interface Until {
  ms: number;
  limit: TimeLimit;
  /** Milliseconds; `ms` is what is left of it. */
  of: number;
}
