import * as z from 'zod';
import type { Message, ToolCall } from './messages.ts';
import type { Run } from './run.ts';

/** The run's to-do list, whole: each `plan.update` gives all of it. */
export const planSchema = z
  .array(z.strictObject({ text: z.string().min(1).max(200), status: z.enum(['pending', 'active', 'done']) }))
  .max(50);
export type PlanItem = z.infer<typeof planSchema>[number];

export const planTool = 'plan.update';

/** The newest list that was accepted; empty when there is none. Derived from the calls, not stored beside them. */
export const planOf = (run: Run): PlanItem[] =>
  newestPlan(run.messages, ({ id }) => run.calls[id]?.ok === true)?.items ?? [];

/** The newest list among the calls that were accepted, and which call of which message gave it. */
export function newestPlan(
  messages: readonly Message[],
  isAccepted: (call: ToolCall) => boolean,
): { at: number; call: ToolCall; items: PlanItem[] } | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls?.toReversed() ?? []) {
      if (call.name !== planTool || !isAccepted(call)) continue;
      const items = planSchema.safeParse(call.arguments.items);
      if (items.success) return { at, call, items: items.data };
    }
  }
  return undefined;
}
