import type { FinishReason } from '../core/client.ts';
import { finishReasonOf } from '../messages/finishReason.ts';

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

/**
 * The end that Google names. One that is not known is none, as the failures are: no call of such a reply is given, for it may be half of
 * what was meant.
 */
export function endOfReply(rawFinish: string | undefined): Exclude<FinishReason, 'tool_calls'> {
  if (rawFinish === undefined) return 'stop';
  if (filters.includes(rawFinish)) return 'content_filter';
  return failures.includes(rawFinish) ? 'error' : finishReasonOf(rawFinish);
}
