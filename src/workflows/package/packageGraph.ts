import * as z from 'zod';
import type { WorkflowDiagram } from '../../protocol/content/outline.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { createPackageProblem, PackageError } from './problem.ts';

/** Schema of the id of a node, agent or workflow: one word, usable in a line `- key: value`. */
export const packageIdSchema = z
  .string()
  .regex(/^[\w][\w.-]{0,99}$/, message('an ID has letters, digits, "_", "." and "-"').english);

const nodeSchema = z.object({
  id: packageIdSchema,
  type: z.enum(['step', 'decision', 'merge', 'end']),
  title: z.string().max(200).optional(),
  file: z.string().min(1).optional(),
  agentId: packageIdSchema.optional(),
  outputs: z.record(z.string(), z.string().min(1)).default({}),
});
type PackageNode = z.infer<typeof nodeSchema>;

export const packageWorkflowGraphSchema = z.object({
  entryNodeId: packageIdSchema,
  nodes: z.array(nodeSchema).min(1).max(1000),
  edges: z
    .array(
      z.object({
        from: packageIdSchema,
        to: packageIdSchema,
        label: z.string().min(1).max(200).optional(),
        condition: z.string().max(1000).optional(),
      }),
    )
    .max(5000),
});
/** Source of truth for transitions. */
export type PackageWorkflowGraph = z.infer<typeof packageWorkflowGraphSchema>;

interface NextNode {
  id: string;
  label?: string;
  condition?: string;
}

export const packageWorkflowNodeById = (graph: PackageWorkflowGraph, id: string): PackageNode | undefined =>
  graph.nodes.find((node) => node.id === id);

export const nextPackageWorkflowNodes = (graph: PackageWorkflowGraph, id: string): NextNode[] =>
  graph.edges
    .filter(({ from }) => from === id)
    .map(({ to, label, condition }) => ({
      id: to,
      ...(label !== undefined && { label }),
      ...(condition !== undefined && { condition }),
    }));

/** Formats `done (good)` or `done (good: the judge is content)`. */
export function nextNodeLabel({ id, label, condition }: NextNode): string {
  const why = [label, condition].filter((one) => one !== undefined).join(': ');
  return why === '' ? id : `${id} (${why})`;
}

export function packageWorkflowDiagram({ nodes, edges, entryNodeId }: PackageWorkflowGraph): WorkflowDiagram {
  const ordered = [...nodes].sort((one, two) => Number(two.id === entryNodeId) - Number(one.id === entryNodeId));
  return {
    nodes: ordered.map(({ id, type, title }) => ({
      name: id,
      ...(title !== undefined && { title }),
      ...(type !== 'step' && { kind: type }),
    })),
    edges: edges.map(({ from, to, label }) => ({ from, to, ...(label !== undefined && { label }) })),
  };
}

/**
 * Throws `PackageError` for a graph with unreachable or ambiguous parts. Consequential errors are omitted. `lenient`: another host's graph,
 * which may contain unreachable nodes and equal labels.
 */
export function checkPackageWorkflowGraph(graph: PackageWorkflowGraph, file: string, { lenient = false } = {}): void {
  const stages = [
    () => nodeProblems(graph),
    () => (lenient ? graph.edges.flatMap((edge, index) => brokenEdge(graph, edge, index)) : edgeProblems(graph)),
    () => wayProblems(graph, lenient),
  ];
  for (const find of stages) {
    const [problem, ...more] = find();
    if (problem !== undefined)
      throw new PackageError(
        file,
        problem,
        more.map((one) => createPackageProblem(file, one)),
      );
  }
}

function nodeProblems({ nodes, entryNodeId }: PackageWorkflowGraph): LocalizedMessage[] {
  const ids = nodes.map(({ id }) => id);
  return [
    ...ids.flatMap((id, index) =>
      ids.indexOf(id) < index ? [message('{0}: "{1}" occurs twice', `nodes[${index}].id`, id)] : [],
    ),
    ...(ids.includes(entryNodeId) ? [] : [message('{0}: there is no node "{1}"', 'entryNodeId', entryNodeId)]),
    ...nodes.flatMap((node, index) =>
      node.type === 'step' && !node.file
        ? [message('{0}: the step "{1}" has no file', `nodes[${index}].file`, node.id)]
        : [],
    ),
    ...(nodes.some(({ type }) => type === 'end') ? [] : [message('nodes: there is no end node')]),
  ];
}

function edgeProblems(graph: PackageWorkflowGraph): LocalizedMessage[] {
  const { edges } = graph;
  return edges.flatMap((edge, index) => {
    const problems = brokenEdge(graph, edge, index);
    const location = `edges[${index}]`;
    const same = edges.findIndex(({ from, to }) => from === edge.from && to === edge.to);
    if (same < index) problems.push(message('{0}: from "{1}" to "{2}" occurs twice', location, edge.from, edge.to));
    const from = packageWorkflowNodeById(graph, edge.from);
    if (from?.type === 'decision' && !edge.label)
      problems.push(message('{0}: an edge from the decision "{1}" needs a label', `${location}.label`, edge.from));
    const alike = edges.findIndex((one) => one.from === edge.from && one.label === edge.label);
    if (from?.type === 'decision' && edge.label && alike < index)
      problems.push(
        message('{0}: "{1}" occurs twice at the decision "{2}"', `${location}.label`, edge.label, edge.from),
      );
    return problems;
  });
}

function brokenEdge(
  graph: PackageWorkflowGraph,
  edge: PackageWorkflowGraph['edges'][number],
  index: number,
): LocalizedMessage[] {
  const missing = (['from', 'to'] as const).filter((side) => !packageWorkflowNodeById(graph, edge[side]));
  const problems = missing.map((side) => message('{0}: there is no node "{1}"', `edges[${index}].${side}`, edge[side]));
  if (packageWorkflowNodeById(graph, edge.from)?.type === 'end')
    problems.push(message('{0}: "{1}" is an end node', `edges[${index}].from`, edge.from));
  return problems;
}

function wayProblems(graph: PackageWorkflowGraph, lenient: boolean): LocalizedMessage[] {
  const { nodes, edges, entryNodeId } = graph;
  const reached = reachable([entryNodeId], (id) => edges.filter(({ from }) => from === id).map(({ to }) => to));
  const ends = nodes.filter(({ type }) => type === 'end').map(({ id }) => id);
  const ending = reachable(ends, (id) => edges.filter(({ to }) => to === id).map(({ from }) => from));
  return nodes.flatMap(({ id }, index) => {
    const location = `nodes[${index}]`;
    if (!reached.has(id))
      return lenient ? [] : [message('{0}: nothing leads from "{1}" to "{2}"', location, entryNodeId, id)];
    return ending.has(id) ? [] : [message('{0}: nothing leads from "{1}" to an end node', location, id)];
  });
}

function reachable(from: readonly string[], next: (id: string) => string[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) for (const one of next(id)) seen.add(one); // a Set iterates over values added meanwhile
  return seen;
}
