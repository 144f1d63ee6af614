import * as z from 'zod';

const nodeSchema = z.object({
  name: z.string(),
  /** What people call it, when that is not its name. */
  title: z.string().optional(),
  kind: z.enum(['decision', 'merge', 'end']).optional(),
  /** It repeats its steps: how many there are in a round, and how many rounds at most. */
  loop: z.object({ steps: z.number().int(), most: z.number().int() }).optional(),
  /** It is done for each item of a list. */
  each: z.literal(true).optional(),
  /** The first node of the parallel branch it stands in. */
  branch: z.string().optional(),
});
export type OutlineNode = z.infer<typeof nodeSchema>;

const edgeSchema = z.object({
  from: z.string(),
  /** Absent: the run's end. */
  to: z.string().optional(),
  /** When it is taken, in the words of the workflow. */
  label: z.string().optional(),
});
export type OutlineEdge = z.infer<typeof edgeSchema>;

/** A whole workflow as it is drawn: every node in the order of its file, and the ways between them. */
export const outlineSchema = z.object({ nodes: z.array(nodeSchema), edges: z.array(edgeSchema) });
export type Outline = z.infer<typeof outlineSchema>;
