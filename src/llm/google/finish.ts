import type { FinishReason } from '../client.ts';

const filters = [
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
];

/** Ends that are none: the next attempt may well go better. `OTHER` comes without a reason and mostly without a word. */
const failures = [
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'OTHER',
  'IMAGE_OTHER',
  'NO_IMAGE',
  'LANGUAGE',
];

/** Ends after which no call of the reply is given: it may be half of what was meant. */
export function earlyEnd(rawFinish: string | undefined): FinishReason | undefined {
  if (rawFinish === undefined) return undefined;
  if (rawFinish === 'MAX_TOKENS') return 'length';
  if (filters.includes(rawFinish)) return 'content_filter';
  return failures.includes(rawFinish) ? 'error' : undefined;
}

/** An unknown end after nothing is a failure. (`STOP` after nothing is an empty reply, for which the adapter has a rule.) */
export function usualEnd(rawFinish: string | undefined, called: boolean, content: boolean): FinishReason {
  if (called) return 'tool_calls';
  return content || rawFinish === 'STOP' || rawFinish === undefined ? 'stop' : 'error';
}
