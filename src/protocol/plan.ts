import * as z from 'zod';
import type { Run } from './run.ts';

/** The run's to-do list, whole: each `plan.update` gives all of it. */
export const planSchema = z
  .array(z.strictObject({ text: z.string().min(1).max(200), status: z.enum(['pending', 'active', 'done']) }))
  .max(50);
export type PlanItem = z.infer<typeof planSchema>[number];

export const planTool = 'plan.update';

/** The newest list that was accepted; empty when there is none. Derived from the calls, not stored beside them. */
export function planOf(run: Run): PlanItem[] {
  for (const message of run.messages.toReversed()) {
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls?.toReversed() ?? []) {
      if (call.name !== planTool || !run.calls[call.id]?.ok) continue;
      const items = planSchema.safeParse(call.arguments.items);
      if (items.success) return items.data;
    }
  }
  return [];
}
