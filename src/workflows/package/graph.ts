import * as z from 'zod';
import type { Outline } from '../../protocol/outline.ts';
import { PackageError } from './problem.ts';

/** An id of a node, an agent or a workflow: one word, so that it can stand in a line `- key: value`. */
export const idSchema = z.string().regex(/^[\w][\w.-]{0,99}$/, 'an id is letters, digits, "_", "." and "-"');

const nodeSchema = z.object({
  id: idSchema,
  type: z.enum(['step', 'decision', 'merge', 'end']),
  title: z.string().max(200).optional(),
  /** Markdown in the package that says what is to be done here. */
  file: z.string().min(1).optional(),
  agentId: idSchema.optional(),
  /** What it makes: a name, and the path it is to be written to. */
  outputs: z.record(z.string(), z.string().min(1)).default({}),
});
export type PackageNode = z.infer<typeof nodeSchema>;

export const packageGraphSchema = z.object({
  entryNodeId: idSchema,
  nodes: z.array(nodeSchema).min(1).max(1000),
  edges: z
    .array(
      z.object({
        from: idSchema,
        to: idSchema,
        label: z.string().min(1).max(200).optional(),
        /** When this way is to be taken, in words for the model. */
        condition: z.string().max(1000).optional(),
      }),
    )
    .max(5000),
});
/** The truth about transitions: what may follow what. */
export type PackageGraph = z.infer<typeof packageGraphSchema>;

/** A node that may come next, and what the edge to it says. */
export interface NextNode {
  id: string;
  label?: string;
  condition?: string;
}

export const nodeOf = (graph: PackageGraph, id: string): PackageNode | undefined =>
  graph.nodes.find((node) => node.id === id);

export const nextOf = (graph: PackageGraph, id: string): NextNode[] =>
  graph.edges
    .filter(({ from }) => from === id)
    .map(({ to, label, condition }) => ({
      id: to,
      ...(label !== undefined && { label }),
      ...(condition !== undefined && { condition }),
    }));

/** `done (good)`, `done (good: the judge is content)`. */
export function named({ id, label, condition }: NextNode): string {
  const why = [label, condition].filter((one) => one !== undefined).join(': ');
  return why === '' ? id : `${id} (${why})`;
}

/** The graph as it is drawn: its beginning first. */
export function outlineOf({ nodes, edges, entryNodeId }: PackageGraph): Outline {
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
 * Throws `PackageError` for a graph in which a run could get lost. What would only follow from something else that is wrong is not
 * said. `lenient`: of another host, which takes nodes that are never reached and labels that are alike.
 */
export function checkGraph(graph: PackageGraph, file: string, { lenient = false } = {}): void {
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
        more.map((one) => ({ file, problem: one })),
      );
  }
}

function nodeProblems({ nodes, entryNodeId }: PackageGraph): string[] {
  const ids = nodes.map(({ id }) => id);
  return [
    ...ids.flatMap((id, index) => (ids.indexOf(id) < index ? [`nodes[${index}].id: "${id}" is there twice`] : [])),
    ...(ids.includes(entryNodeId) ? [] : [`entryNodeId: there is no node "${entryNodeId}"`]),
    ...nodes.flatMap((node, index) =>
      node.type === 'step' && !node.file ? [`nodes[${index}].file: the step "${node.id}" has no file`] : [],
    ),
    ...(nodes.some(({ type }) => type === 'end') ? [] : ['nodes: there is no end node']),
  ];
}

function edgeProblems(graph: PackageGraph): string[] {
  const { edges } = graph;
  return edges.flatMap((edge, index) => {
    const problems = brokenEdge(graph, edge, index);
    const same = edges.findIndex(({ from, to }) => from === edge.from && to === edge.to);
    if (same < index) problems.push(`edges[${index}]: from "${edge.from}" to "${edge.to}" is there twice`);
    const from = nodeOf(graph, edge.from);
    if (from?.type === 'decision' && !edge.label)
      problems.push(`edges[${index}].label: an edge from the decision "${edge.from}" needs a label`);
    const alike = edges.findIndex((one) => one.from === edge.from && one.label === edge.label);
    if (from?.type === 'decision' && edge.label && alike < index)
      problems.push(`edges[${index}].label: "${edge.label}" is there twice at the decision "${edge.from}"`);
    return problems;
  });
}

/** What no run could follow, whoever wrote it. */
function brokenEdge(graph: PackageGraph, edge: PackageGraph['edges'][number], index: number): string[] {
  const missing = (['from', 'to'] as const).filter((side) => !nodeOf(graph, edge[side]));
  const problems = missing.map((side) => `edges[${index}].${side}: there is no node "${edge[side]}"`);
  if (nodeOf(graph, edge.from)?.type === 'end') problems.push(`edges[${index}].from: "${edge.from}" is an end node`);
  return problems;
}

function wayProblems(graph: PackageGraph, lenient: boolean): string[] {
  const { nodes, edges, entryNodeId } = graph;
  const reached = reachable([entryNodeId], (id) => edges.filter(({ from }) => from === id).map(({ to }) => to));
  const ends = nodes.filter(({ type }) => type === 'end').map(({ id }) => id);
  const ending = reachable(ends, (id) => edges.filter(({ to }) => to === id).map(({ from }) => from));
  return nodes.flatMap(({ id }, index) => {
    if (!reached.has(id)) return lenient ? [] : [`nodes[${index}]: no way leads from "${entryNodeId}" to "${id}"`];
    return ending.has(id) ? [] : [`nodes[${index}]: no way leads from "${id}" to an end node`];
  });
}

function reachable(from: readonly string[], next: (id: string) => string[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) for (const one of next(id)) seen.add(one); // a Set goes on with what is added meanwhile
  return seen;
}
