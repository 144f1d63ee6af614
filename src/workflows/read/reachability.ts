import { parallelResultsKey } from '../../protocol/run/graph.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import {
  edgesFrom,
  isParallelEdge,
  parallelPositionsOfNodes,
  parallelWorkflowEdges,
  startNodeName,
  unreachableNodeNames,
} from '../plan/navigate.ts';
import type { EdgeDefinition, NodeDefinition, WorkflowFile } from '../plan/schema.ts';
import type { WorkflowFindings } from './check.ts';
import type { YamlFile, YamlPath, YamlProblem } from './yaml.ts';

/** Finds unreachable nodes, possible dead ends, and parallel sections with a common end in a valid file; adds to `warnings`. */
export function reachabilityFindings(file: WorkflowFile, yaml: YamlFile, warnings: YamlProblem[]): WorkflowFindings {
  const warn = (path: YamlPath, text: LocalizableText, key?: 'key') => warnings.push(yaml.problem(path, text, key));
  const nested = parallelWorkflowEdges(file).filter(({ head, inside }) => inside?.fanIn === head.fan_in);
  const problems = nested.map(({ head }) =>
    yaml.problem(
      ['edges', file.edges.indexOf(head), 'fan_in'],
      message(
        'The parallel part around this one also ends at `{0}`. Let this one end at its own node.',
        String(head.fan_in),
      ),
    ),
  );
  for (const name of unreachableNodeNames(file)) {
    const index = file.nodes.findIndex((node) => node.name === name);
    warn(['nodes', index, 'name'], message('Nothing leads to `{0}`, so it never runs.', name));
  }
  for (const node of blindTo(file))
    warn(
      ['nodes', file.nodes.indexOf(node)],
      message(
        'A parallel branch cannot read `{0}`, which belongs to the part before. Store what it needs under another key.',
        parallelResultsKey,
      ),
    );
  for (const [index, { goto }] of file.nodes.entries())
    if (Array.isArray(goto) && goto.every((rule) => rule.if !== undefined))
      warn(
        ['nodes', index, 'goto'],
        message('The run fails here if none of these applies. Add one without `if` at the end.'),
        'key',
      );
  for (const [index, edge] of file.edges.entries()) {
    const doubt = isParallelEdge(edge) ? undefined : edgeDoubt(edge, file);
    if (doubt) warn(['edges', index], doubt);
  }
  return { problems, warnings };
}

/** Returns nodes of branches that read results of other branches before any exist. */
function blindTo(file: WorkflowFile): NodeDefinition[] {
  const [stands, parts] = [parallelPositionsOfNodes(file), parallelWorkflowEdges(file)];
  return file.nodes.filter(({ name, description: _, ...node }) => {
    const fanIn = stands.get(name)?.inside?.fanIn;
    const asks = new RegExp(`\\b${parallelResultsKey}\\b`).test(JSON.stringify(node));
    const isHere = (other: string) => stands.get(other)?.inside?.fanIn === fanIn;
    const gives = file.nodes.some((one) => one.foreach !== undefined && one.output === undefined && isHere(one.name));
    return fanIn !== undefined && asks && !gives && !parts.some(({ inside }) => inside?.fanIn === fanIn);
  });
}

/** Warns about an edge that is never followed, and about a node whose edges may all fail. Edges are tried in order. */
function edgeDoubt(edge: EdgeDefinition, file: WorkflowFile): LocalizedMessage | undefined {
  if (file.nodes.some((node) => node.name === edge.from && node.goto !== undefined))
    return message('`{0}` has a `goto`, so its edges are not followed.', String(edge.from));
  const siblings = edgesFrom(file, edge.from ?? startNodeName);
  const sure = siblings.find((one) => one.when === undefined && one.condition === undefined);
  if (sure && siblings.indexOf(edge) > siblings.indexOf(sure))
    return message('The edge to `{0}` before it always applies, so this one is never used.', sure.to);
  if (!sure && edge === siblings.at(-1) && !covered(siblings))
    return message('The run fails here if no edge of this node applies. Add one without `when` at the end.');
  return undefined;
}

/** Returns true if the conditions are exhaustive: `when: x` and `when: "!x"`, or one expression with true and false. */
function covered(edges: readonly EdgeDefinition[]): boolean {
  const conditions = edges.map(({ when, condition }) =>
    condition === undefined
      ? String(when).replaceAll(/[{}\s]/g, '')
      : `${typeof when === 'boolean' && !when ? '!' : ''}${JSON.stringify(condition)}`,
  );
  return conditions.some((one) => conditions.includes(`!${one}`) || conditions.includes(`not${one}`));
}
