import * as z from 'zod';
import { type ErrorInfo, errorInfoSchema } from '../../protocol/content/messages.ts';
import { runPhaseSchema } from '../../protocol/run/events.ts';
import { isSpendingLimitError } from '../../protocol/run/money.ts';
import type { Suspension } from './runResult.ts';

const refusedSchema = z.object({
  rested: z.object({ phase: runPhaseSchema.exclude(['Running']), error: errorInfoSchema.optional() }),
});

/** Error of a compaction above a spending limit, with the earlier stop point of the run, which is restored later. */
export function compactionRefusedError(error: ErrorInfo, { phase, error: before }: Suspension): ErrorInfo {
  return isSpendingLimitError(error)
    ? { ...error, details: { rested: { phase, ...(before && { error: before }) } } }
    : error;
}

export function suspensionBeforeCompaction(
  error: ErrorInfo | undefined,
): Pick<Suspension, 'phase' | 'error'> | undefined {
  return isSpendingLimitError(error) ? refusedSchema.safeParse(error?.details).data?.rested : undefined;
}
