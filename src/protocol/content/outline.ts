import * as z from 'zod';

const nodeSchema = z.object({
  name: z.string(),
  title: z.string().optional(),
  kind: z.enum(['decision', 'merge', 'end']).optional(),
  /** Loop node: steps per round and maximum of rounds. */
  loop: z.object({ steps: z.number().int(), most: z.number().int() }).optional(),
  each: z.literal(true).optional(),
  /** First node of the enclosing parallel branch. */
  branch: z.string().optional(),
});
export type OutlineNode = z.infer<typeof nodeSchema>;

const edgeSchema = z.object({
  from: z.string(),
  /** Absent: the end of the run. */
  to: z.string().optional(),
  label: z.string().optional(),
});
export type OutlineEdge = z.infer<typeof edgeSchema>;

/** Drawable form of a workflow: all nodes in file order, and their edges. */
export const outlineSchema = z.object({ nodes: z.array(nodeSchema), edges: z.array(edgeSchema) });
export type Outline = z.infer<typeof outlineSchema>;
