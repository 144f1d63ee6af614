import * as z from 'zod';
import { type ErrorInfo, errorInfoSchema } from '../../protocol/content/messages.ts';
import { runPhaseSchema } from '../../protocol/run/events.ts';
import { isOverLimit } from '../../protocol/run/money.ts';
import type { Suspension } from './runResult.ts';

const refusedSchema = z.object({
  rested: z.object({ phase: runPhaseSchema.exclude(['Running']), error: errorInfoSchema.optional() }),
});

/** Error of a compaction above a spending limit, with the earlier stop point of the run, which is restored later. */
export function refusedRoom(error: ErrorInfo, { phase, error: before }: Suspension): ErrorInfo {
  return isOverLimit(error) ? { ...error, details: { rested: { phase, ...(before && { error: before }) } } } : error;
}

export function restedBefore(error: ErrorInfo | undefined): Pick<Suspension, 'phase' | 'error'> | undefined {
  return isOverLimit(error) ? refusedSchema.safeParse(error?.details).data?.rested : undefined;
}
