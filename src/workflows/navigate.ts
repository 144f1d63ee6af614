import type { EdgeSpec, NodeSpec, WorkflowFile } from './schema.ts';
import { holds, type Scope } from './template.ts';

export const startName = '__start__';
export const endName = '__end__';

/** Where a run goes after a node: several run side by side, until `fanIn`; none: the end. */
export interface Next {
  next: string[];
  fanIn?: string;
}

/** The parallel part that a branch is in. */
export interface Inside {
  heads: readonly string[];
  fanIn: string;
}

export const isParallel = (edge: EdgeSpec): boolean => edge.type === 'parallel' || edge.parallel === true;

/** Edges out of a node; `__start__` for the way in. */
export function edgesFrom({ edges }: WorkflowFile, node: string): EdgeSpec[] {
  return edges.filter((edge) => (edge.from ?? (edge.type === 'entry' ? startName : undefined)) === node);
}

/** The first node. */
export function entryOf(file: WorkflowFile, scope: Scope): Next {
  const edges = edgesFrom(file, startName);
  if (edges.length === 0) return { next: [file.nodes[0]!.name] };
  return follow(edges, scope, 'into the workflow');
}

/** `goto` before edges before the order of the file. Throws an `Error` when there are ways and none applies. */
export function nextOf(file: WorkflowFile, node: NodeSpec, scope: Scope, inside?: Inside): Next {
  if (node.goto !== undefined) {
    const rules = typeof node.goto === 'string' ? [{ to: node.goto }] : node.goto;
    const rule = rules.find((one) => one.if === undefined || holds(one.if, scope));
    if (!rule) throw new Error(`No \`goto\` of ${node.name} applies. Add one without \`if\` at the end.`);
    return { next: rule.to === endName ? [] : [rule.to] };
  }
  const edges = edgesFrom(file, node.name);
  if (edges.length > 0) return follow(edges, scope, `out of ${node.name}`);
  const following = file.nodes[file.nodes.indexOf(node) + 1]?.name;
  if (!inside) return { next: following ? [following] : [] };
  // The branches of a parallel part stand one after the other in the file: none runs into the next.
  return { next: [following === undefined || inside.heads.includes(following) ? inside.fanIn : following] };
}

function follow(edges: readonly EdgeSpec[], scope: Scope, where: string): Next {
  const parallel = edges.filter(isParallel);
  if (parallel.length > 0) return { next: parallel.map(({ to }) => to), fanIn: parallel[0]!.fan_in };
  const edge = edges.find((one) => applies(one, scope));
  if (!edge) throw new Error(`No edge ${where} applies. Add one without \`when\` at the end.`);
  return { next: edge.to === endName || edge.type === 'finish' ? [] : [edge.to] };
}

function applies({ when, condition }: EdgeSpec, scope: Scope): boolean {
  if (condition === undefined) return when === undefined || holds(when, scope);
  const value = holds(typeof condition === 'string' ? condition : condition.value, scope);
  return value === (when === undefined || holds(when, scope));
}

/** Every node that could follow, whatever the conditions. */
export function successorsOf(file: WorkflowFile, node: NodeSpec, inside?: Inside): string[] {
  if (typeof node.goto === 'string') return [node.goto];
  if (node.goto) return node.goto.map(({ to }) => to);
  const edges = edgesFrom(file, node.name);
  if (edges.length > 0) return edges.map(({ to }) => to);
  return nextOf(file, node, {}, inside).next;
}
