import * as z from 'zod';
import { localizedMessageSchema } from '../text/localizedSchema.ts';
import type { ValueDelta } from '../values/growth.ts';
import { errorInfoSchema } from './messages.ts';

const growthSchema: z.ZodType<ValueDelta> = z.union([
  z.strictObject({ append: z.array(z.unknown()) }),
  z.strictObject({
    keys: z.record(
      z.string(),
      z.lazy(() => growthSchema),
    ),
  }),
  z.strictObject({ set: z.unknown() }),
]);

/**
 * Event at a workflow node. The position of a run in its workflow is the fold of these events.
 * - `status`: `step` completes a step of the node, and the node continues; `undone` discards the current visit.
 * - `branch`: line of the node: a parallel branch by its first node, an item of a node over a list (`node[0]`), or a nested workflow
 * (`node()`, with nodes named `node/inner`), prefixed by the enclosing line (`outer/inner`).
 * - `grown`: values recorded as additions to their lists; `whole`: `state` and `artifacts` are complete, absent entries were removed.
 * - `of`: with `start` of a list item, the number of items; `anew`: with `start`, earlier work of the line does not count.
 * - `output`: with `failed`, the partial output that was displayed; `warnings`: deviations from the workflow file.
 * - `next`: with `end`, the following nodes, which run in parallel until `fanIn`; an empty list ends the workflow.
 * - `artifacts`: workspace-relative paths.
 */
export const workflowNodeEventShape = {
  node: z.string(),
  status: z.enum(['start', 'step', 'end', 'failed', 'undone']),
  branch: z.string().optional(),
  state: z.record(z.string(), z.unknown()).optional(),
  grown: z.record(z.string(), growthSchema).optional(),
  of: z.number().int().optional(),
  anew: z.literal(true).optional(),
  whole: z.literal(true).optional(),
  output: z.unknown().optional(),
  next: z.array(z.string()).optional(),
  fanIn: z.string().optional(),
  artifacts: z.array(z.string()).optional(),
  warnings: z.array(z.string()).optional(),
  said: z.array(localizedMessageSchema).optional(),
  error: errorInfoSchema.optional(),
};
export type WorkflowNodeEvent = z.infer<z.ZodObject<typeof workflowNodeEventShape>>;
