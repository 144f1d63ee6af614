import type { Outline, OutlineEdge } from '../protocol/outline.ts';
import { edgesFrom, endName, type Inside, standsOf, successorsOf } from './navigate.ts';
import type { EdgeSpec, NodeSpec, WorkflowFile } from './schema.ts';

/** A YAML workflow as it is drawn. The file must be in order. */
export function outlineOf(file: WorkflowFile): Outline {
  const stands = standsOf(file);
  return {
    nodes: file.nodes.map(({ name, body, max_iterations: most = 1 }) => {
      const branch = stands.get(name)?.head;
      return {
        name,
        ...(body && { loop: { steps: body.length, most } }),
        ...(branch !== undefined && { branch }),
      };
    }),
    edges: file.nodes.flatMap((node) => waysFrom(file, node, stands.get(node.name)?.inside)),
  };
}

function waysFrom(file: WorkflowFile, node: NodeSpec, inside: Inside | undefined): OutlineEdge[] {
  const way = (to: string, label?: string): OutlineEdge => ({
    from: node.name,
    ...(to !== endName && { to }),
    ...(label !== undefined && { label }),
  });
  const labelled = (ways: { to: string; when?: string }[]) =>
    ways.map(({ to, when }) => way(to, when ?? (ways.some((one) => one.when !== undefined) ? 'otherwise' : undefined)));
  if (Array.isArray(node.goto)) return labelled(node.goto.map(({ if: when, to }) => ({ to, ...inWords(when) })));
  const edges = edgesFrom(file, node.name);
  if (node.goto === undefined && edges.length > 0)
    return labelled(
      edges.map((edge) => ({ to: edge.type === 'finish' ? endName : edge.to, ...inWords(whenOf(edge)) })),
    );
  const next = successorsOf(file, node, inside);
  return next.length > 0 ? next.map((to) => way(to)) : [way(endName)];
}

const inWords = (when: string | boolean | undefined) => (when === undefined ? {} : { when: String(when) });

function whenOf({ when, condition }: EdgeSpec): string | boolean | undefined {
  if (condition === undefined) return when;
  const value = typeof condition === 'string' ? condition : condition.value;
  return when === undefined || when === true ? value : `(${value}) is ${when}`;
}
