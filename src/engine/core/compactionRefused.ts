import * as z from 'zod';
import { type ErrorInfo, errorInfoSchema } from '../../protocol/content/messages.ts';
import { runPhaseSchema } from '../../protocol/run/events.ts';
import { isOverLimit } from '../../protocol/run/money.ts';
import type { Suspension } from './runResult.ts';

const refusedSchema = z.object({
  rested: z.object({ phase: runPhaseSchema.exclude(['Running']), error: errorInfoSchema.optional() }),
});

/** The person asked for room that a limit of money does not pay: with how the run rested before, which it will again. */
export function refusedRoom(error: ErrorInfo, { phase, error: before }: Suspension): ErrorInfo {
  return isOverLimit(error) ? { ...error, details: { rested: { phase, ...(before && { error: before }) } } } : error;
}

/** How a run rested that rests now because of that; undefined: it rests for another reason. */
export function restedBefore(error: ErrorInfo | undefined): Pick<Suspension, 'phase' | 'error'> | undefined {
  return isOverLimit(error) ? refusedSchema.safeParse(error?.details).data?.rested : undefined;
}
