import type { WorkflowDiagram, WorkflowDiagramEdge } from '../../protocol/content/outline.ts';
import {
  edgesFrom,
  endNodeName,
  type ParallelSection,
  parallelPositionsOfNodes,
  possibleNextNodes,
} from './navigate.ts';
import type { EdgeDefinition, NodeDefinition, WorkflowFile } from './schema.ts';

export function createWorkflowDiagram(file: WorkflowFile): WorkflowDiagram {
  const stands = parallelPositionsOfNodes(file);
  return {
    nodes: file.nodes.map(({ name, body, foreach, max_iterations: most = 1 }) => {
      const branch = stands.get(name)?.head;
      return {
        name,
        ...(body && { loop: { steps: body.length, most } }),
        ...(foreach !== undefined && { each: true as const }),
        ...(branch !== undefined && { branch }),
      };
    }),
    edges: file.nodes.flatMap((node) => waysFrom(file, node, stands.get(node.name)?.inside)),
  };
}

function waysFrom(
  file: WorkflowFile,
  node: NodeDefinition,
  inside: ParallelSection | undefined,
): WorkflowDiagramEdge[] {
  const failed = node.on_error?.goto;
  const ways = waysOn(file, node, inside);
  if (failed === undefined) return ways;
  const to = failed === endNodeName ? {} : { to: failed };
  return [...ways, { from: node.name, ...to, label: 'when it fails' }];
}

function waysOn(file: WorkflowFile, node: NodeDefinition, inside: ParallelSection | undefined): WorkflowDiagramEdge[] {
  const way = (to: string, label?: string): WorkflowDiagramEdge => ({
    from: node.name,
    ...(to !== endNodeName && { to }),
    ...(label !== undefined && { label }),
  });
  const labelled = (ways: { to: string; when?: string }[]) =>
    ways.map(({ to, when }) => way(to, when ?? (ways.some((one) => one.when !== undefined) ? 'otherwise' : undefined)));
  if (Array.isArray(node.goto)) return labelled(node.goto.map(({ if: when, to }) => ({ to, ...condition(when) })));
  const edges = edgesFrom(file, node.name);
  if (node.goto === undefined && edges.length > 0)
    return labelled(
      edges.map((edge) => ({ to: edge.type === 'finish' ? endNodeName : edge.to, ...condition(whenOf(edge)) })),
    );
  const next = possibleNextNodes(file, node, inside);
  return next.length > 0 ? next.map((to) => way(to)) : [way(endNodeName)];
}

const condition = (when: string | boolean | undefined) => (when === undefined ? {} : { when: String(when) });

function whenOf({ when, condition }: EdgeDefinition): string | boolean | undefined {
  if (condition === undefined) return when;
  const value = typeof condition === 'string' ? condition : condition.value;
  return when === undefined || when === true ? value : `(${value}) is ${when}`;
}
