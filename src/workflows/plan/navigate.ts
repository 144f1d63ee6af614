import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, messageOf, UserFacingError, withoutFullStop } from '../../protocol/text/localized.ts';
import { TemplateError } from '../template/language.ts';
import { evaluateCondition, type MissingTemplateValueListener, type TemplateScope } from '../template/template.ts';
import type { EdgeDefinition, NodeDefinition, WorkflowFile } from './schema.ts';

export const startNodeName = '__start__';
export const endNodeName = '__end__';

export interface NextWorkflowNodes {
  next: string[];
  fanIn?: string;
}

export interface ParallelSection {
  heads: readonly string[];
  fanIn: string;
}

export const isParallelEdge = (edge: EdgeDefinition): boolean => edge.type === 'parallel' || edge.parallel === true;

export function edgesFrom({ edges }: WorkflowFile, node: string): EdgeDefinition[] {
  return edges.filter((edge) => (edge.from ?? (edge.type === 'entry' ? startNodeName : undefined)) === node);
}

export function workflowEntryNodes(file: WorkflowFile, scope: TemplateScope): NextWorkflowNodes {
  const edges = edgesFrom(file, startNodeName);
  if (edges.length === 0) return { next: [file.nodes[0]!.name] };
  return follow(edges, scope, message('No edge into the workflow applies. Add one without `when` at the end.'));
}

/**
 * Returns the next nodes: `goto`, then edges, then the order of the file. Throws an `Error` if edges exist but none applies, or if the
 * condition of an edge fails.
 *
 * @param onMissing receives an error in the condition of a `goto`, which then does not hold, as in the dialect
 */
export function nextWorkflowNodes(
  file: WorkflowFile,
  node: NodeDefinition,
  scope: TemplateScope,
  onMissing: MissingTemplateValueListener,
  inside?: ParallelSection,
): NextWorkflowNodes {
  if (node.goto !== undefined) {
    const rules = typeof node.goto === 'string' ? [{ to: node.goto }] : node.goto;
    const rule = rules.find((one) => one.if === undefined || surelyHolds(one.if, scope, onMissing));
    if (!rule)
      throw new UserFacingError(message('No `goto` of {0} applies. Add one without `if` at the end.', node.name));
    return { next: rule.to === endNodeName ? [] : [rule.to] };
  }
  const edges = edgesFrom(file, node.name);
  if (edges.length > 0) {
    const none = message('No edge out of {0} applies. Add one without `when` at the end.', node.name);
    return follow(edges, scope, none);
  }
  const following = file.nodes[file.nodes.indexOf(node) + 1]?.name;
  if (!inside) return { next: following ? [following] : [] };
  // branches follow each other in the file but never continue into the next branch
  return { next: [following === undefined || inside.heads.includes(following) ? inside.fanIn : following] };
}

function surelyHolds(
  condition: string | boolean,
  scope: TemplateScope,
  onMissing: MissingTemplateValueListener,
): boolean {
  try {
    return evaluateCondition(condition, scope);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    onMissing(joinLocalizableTexts([withoutFullStop(messageOf(error)), message('it is false.')], '; '));
    return false;
  }
}

function follow(edges: readonly EdgeDefinition[], scope: TemplateScope, none: LocalizedMessage): NextWorkflowNodes {
  const parallel = edges.filter(isParallelEdge);
  if (parallel.length > 0) return { next: parallel.map(({ to }) => to), fanIn: parallel[0]!.fan_in };
  const edge = edges.find((one) => applies(one, scope));
  if (!edge) throw new UserFacingError(none);
  return { next: edge.to === endNodeName || edge.type === 'finish' ? [] : [edge.to] };
}

function applies({ when, condition }: EdgeDefinition, scope: TemplateScope): boolean {
  if (condition === undefined) return when === undefined || evaluateCondition(when, scope);
  const value = evaluateCondition(typeof condition === 'string' ? condition : condition.value, scope);
  return value === (when === undefined || evaluateCondition(when, scope));
}

/** Position of a node: in a parallel section, in the branch that starts with `head`, or in neither. */
interface Stand {
  inside?: ParallelSection;
  head?: string;
}

/** Follows every possible edge regardless of conditions; returns the reached nodes by name and the parallel sections. */
function walk(file: WorkflowFile): { reached: Map<string, Stand>; parts: Part[] } {
  const entries = edgesFrom(file, startNodeName).map(({ to }) => to);
  const open: [name: string, stand: Stand][] = [];
  for (const name of entries.length > 0 ? entries : [file.nodes[0]!.name]) open.push([name, {}]);
  const seen = new Set<string>();
  const reached = new Map<string, Stand>();
  const parts: Part[] = [];
  for (let at = open.pop(); at; at = open.pop()) {
    const [name, stand] = at;
    const { inside } = stand;
    const node = file.nodes.find((one) => one.name === name);
    if (!node || name === inside?.fanIn || seen.has(`${name}/${inside?.fanIn}`)) continue;
    seen.add(`${name}/${inside?.fanIn}`);
    if (!reached.has(name)) reached.set(name, stand);
    const heads = node.goto === undefined ? edgesFrom(file, name).filter(isParallelEdge) : [];
    const fanIn = heads[0]?.fan_in;
    for (const head of heads) parts.push({ head, inside });
    if (fanIn !== undefined) {
      const within = { heads: heads.map(({ to }) => to), fanIn };
      for (const head of within.heads) open.push([head, { inside: within, head }]);
      open.push([fanIn, stand]);
      if (node.on_error?.goto !== undefined) open.push([node.on_error.goto, stand]);
    } else for (const following of successorsOf(file, node, inside)) open.push([following, stand]);
  }
  return { reached, parts };
}

interface Part {
  head: EdgeDefinition;
  inside: ParallelSection | undefined;
}

export const parallelWorkflowEdges = (file: WorkflowFile): Part[] => walk(file).parts;

export const parallelPositionsOfNodes = (file: WorkflowFile): ReadonlyMap<string, Stand> => walk(file).reached;

export function unreachableNodeNames(file: WorkflowFile): string[] {
  const { reached } = walk(file);
  return file.nodes.map(({ name }) => name).filter((name) => !reached.has(name));
}

function successorsOf(file: WorkflowFile, node: NodeDefinition, inside?: ParallelSection): string[] {
  const failed = node.on_error?.goto;
  return [...possibleNextNodes(file, node, inside), ...(failed === undefined ? [] : [failed])];
}

export function possibleNextNodes(file: WorkflowFile, node: NodeDefinition, inside?: ParallelSection): string[] {
  if (typeof node.goto === 'string') return [node.goto];
  if (node.goto) return node.goto.map(({ to }) => to);
  const edges = edgesFrom(file, node.name);
  if (edges.length > 0) return edges.map(({ to }) => to);
  return nextWorkflowNodes(file, node, {}, () => {}, inside).next;
}
