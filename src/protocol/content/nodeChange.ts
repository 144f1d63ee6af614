import * as z from 'zod';
import { sentenceSchema } from '../text/localizedSchema.ts';
import type { Growth } from '../values/growth.ts';
import { errorInfoSchema } from './messages.ts';

const growthSchema: z.ZodType<Growth> = z.union([
  z.strictObject({ append: z.array(z.unknown()) }),
  z.strictObject({
    keys: z.record(
      z.string(),
      z.lazy(() => growthSchema),
    ),
  }),
  z.strictObject({ set: z.unknown() }),
]);

/** Event at a workflow node. The position of a run in its workflow is the fold of these events. */
export const nodeChangeShape = {
  node: z.string(),
  /** `step`: a step of the node is done and the node continues. `undone`: the current visit of the node is discarded. */
  status: z.enum(['start', 'step', 'end', 'failed', 'undone']),
  /**
   * Name of the line of nodes: a parallel branch by its first node, an item of a node over a list (`node[0]`), or a nested workflow
   * (`node()`, with nodes named `node/inner`), prefixed by the enclosing line (`outer/inner`).
   */
  branch: z.string().optional(),
  state: z.record(z.string(), z.unknown()).optional(),
  /** Values recorded as additions to their lists. */
  grown: z.record(z.string(), growthSchema).optional(),
  /** With `start` of a list item: number of items. */
  of: z.number().int().optional(),
  /** With `start`: earlier work of the line does not count. */
  anew: z.literal(true).optional(),
  /** `state` and `artifacts` are complete: absent entries were removed. */
  whole: z.literal(true).optional(),
  /** With `failed`: the partial output that was displayed. */
  output: z.unknown().optional(),
  /** With `end`: the following nodes. Several nodes run in parallel until `fanIn`; an empty list ends the workflow. */
  next: z.array(z.string()).optional(),
  fanIn: z.string().optional(),
  /** Workspace-relative paths. */
  artifacts: z.array(z.string()).optional(),
  /** Deviations from the workflow file that do not stop the node. */
  warnings: z.array(z.string()).optional(),
  said: z.array(sentenceSchema).optional(),
  error: errorInfoSchema.optional(),
};
export type NodeChange = z.infer<z.ZodObject<typeof nodeChangeShape>>;
