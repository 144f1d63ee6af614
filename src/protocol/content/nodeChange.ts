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

/** What happened at a node of a workflow; together these say where the run stands. */
export const nodeChangeShape = {
  node: z.string(),
  /** `step`: one of the steps of a node is done, the node goes on. `undone`: as if it had not been begun, this time. */
  status: z.enum(['start', 'step', 'end', 'failed', 'undone']),
  /**
   * The line it runs in: a parallel branch by its first node, one item of a node over a list (`node[0]`), or the workflow that is a
   * step of a node (`node()`, whose nodes are called `node/inner`); after the line around it (`outer/inner`).
   */
  branch: z.string().optional(),
  /** Values it set. */
  state: z.record(z.string(), z.unknown()).optional(),
  /** Values that it set of which only what was added to lists is recorded. */
  grown: z.record(z.string(), growthSchema).optional(),
  /** With `start`, of an item of a list: how many there are. */
  of: z.number().int().optional(),
  /** With `start`: what the line had done before does not count. */
  anew: z.literal(true).optional(),
  /** `state` and `artifacts` are all there are now: what is not among them is gone. */
  whole: z.literal(true).optional(),
  /** With `failed`: what was shown of it, which is a part. */
  output: z.unknown().optional(),
  /** With `end`: what follows. Several run side by side, until `fanIn`; none: the end. */
  next: z.array(z.string()).optional(),
  fanIn: z.string().optional(),
  /** Workspace-relative paths of what it made. */
  artifacts: z.array(z.string()).optional(),
  /** What it did is not as the file says it would be, and goes on all the same. */
  warnings: z.array(z.string()).optional(),
  /** Of the warnings, what they are made of. */
  said: z.array(sentenceSchema).optional(),
  error: errorInfoSchema.optional(),
};
export type NodeChange = z.infer<z.ZodObject<typeof nodeChangeShape>>;
