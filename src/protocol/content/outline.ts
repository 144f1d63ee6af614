import * as z from 'zod';

const nodeSchema = z.object({
  name: z.string(),
  title: z.string().optional(),
  kind: z.enum(['decision', 'merge', 'end']).optional(),
  loop: z.object({ steps: z.number().int(), most: z.number().int() }).optional(),
  each: z.literal(true).optional(),
  branch: z.string().optional(),
});
export type WorkflowDiagramNode = z.infer<typeof nodeSchema>;

const edgeSchema = z.object({
  from: z.string(),
  to: z.string().optional(),
  label: z.string().optional(),
});
export type WorkflowDiagramEdge = z.infer<typeof edgeSchema>;

/**
 * Drawable form of a workflow: all nodes in file order, and their edges. `branch` of a node is the first node of its parallel branch;
 * `loop` has the steps per round and the maximum of rounds. An edge without `to` ends the run.
 */
export const workflowDiagramSchema = z.object({ nodes: z.array(nodeSchema), edges: z.array(edgeSchema) });
export type WorkflowDiagram = z.infer<typeof workflowDiagramSchema>;
