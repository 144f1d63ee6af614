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

/** Finish reasons of failed replies that a retry may fix. `OTHER` comes without a reason and usually without text. */
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
 * Maps Google's finish reason. An unknown reason counts as a failure: no call of the reply is delivered, because a call may be incomplete.
 */
export function endOfReply(rawFinish: string | undefined): Exclude<FinishReason, 'tool_calls'> {
  if (rawFinish === undefined) return 'stop';
  if (filters.includes(rawFinish)) return 'content_filter';
  return failures.includes(rawFinish) ? 'error' : finishReasonOf(rawFinish);
}
