import path from 'node:path';
import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { crewAgentBuilderAgentsSchema } from './builderAgents.ts';
import type { PackageManifest, PackageSchemas } from './format.ts';
import type { PackageWorkflowGraph } from './packageGraph.ts';

/*
 * Packages of crewagent-builder, version 1.1, by its schemas (`bmad-spec/v1.1`) and the behavior of its host. Fields that the host ignores
 * (inputs, tags, `conditionExpr`, `runtime`, `integrity`, …) are omitted.
 */

const version = z.string().regex(/^1\.1(\.\d+)?$/, message('only version 1.1 is supported').english);
const builderId = z
  .string()
  .regex(/^[A-Za-z0-9][\w.:-]{0,99}$/, message('an ID has letters, digits, "_", ".", ":" and "-"').english);
/** Path from the package's folder, also in the Windows notation of the builder. */
const file = z
  .string()
  .min(1)
  .transform((text) => path.posix.normalize(text.replaceAll('\\', '/')));
const line = z.string().regex(/^[^\r\n]{1,200}$/, message('expected one line').english);

const manifest = z
  .strictObject({
    schemaVersion: version,
    name: line,
    version: z.string(),
    description: z.string().max(2000).optional(),
    author: z.string().optional(),
    createdAt: z.string().optional(),
    entry: z.strictObject({ workflow: file, graph: file, agents: file, assetsDir: z.string().optional() }),
    workflows: z
      .array(
        z.strictObject({
          id: builderId,
          displayName: z.string().max(200).optional(),
          description: z.string().max(2000).optional(),
          workflow: file,
          graph: file,
          tags: z.array(z.string()).optional(),
        }),
      )
      .max(200)
      .default([]),
    runtime: z.object({}).optional(),
    integrity: z.object({}).optional(),
  })
  .transform(({ name, version, description, entry, workflows }): PackageManifest => {
    const isListed = workflows.some(({ graph }) => graph === entry.graph);
    const folder = path.posix.basename(path.posix.dirname(entry.graph));
    const first = {
      id: folder === '.' ? 'main' : folder,
      displayName: name,
      workflow: entry.workflow,
      graph: entry.graph,
    };
    return {
      name,
      version: version.slice(0, 50),
      description,
      agents: entry.agents,
      workflows: [...(isListed ? [] : [first]), ...workflows].map(({ id, displayName, graph, workflow, ...rest }) => ({
        id,
        title: displayName || undefined,
        description: 'description' in rest ? rest.description : undefined,
        graph,
        state: workflow,
        artifacts: '@project/artifacts',
      })),
    };
  });

const nodeType = z.enum(['step', 'decision', 'merge', 'end'], {
  error: ({ input }) =>
    input === 'subworkflow' ? message('a node that is a workflow ("subworkflow") is not supported').english : undefined,
});

const graph = z.strictObject({
  schemaVersion: version,
  entryNodeId: builderId,
  nodes: z
    .array(
      z.strictObject({
        id: builderId,
        type: nodeType,
        file,
        title: z.string().max(200).optional(),
        description: z.string().optional(),
        agentId: z.string().optional(),
        inputs: z.array(z.string()).optional(),
        outputs: z.array(z.string().min(1)).default([]),
      }),
    )
    .min(1)
    .max(1000),
  edges: z
    .array(
      z.strictObject({
        id: z.string().optional(),
        from: builderId,
        to: builderId,
        label: z.string().min(1).max(200),
        isDefault: z.boolean().optional(),
        conditionText: z.string().max(1000).optional(),
        conditionExpr: z.object({}).optional(),
      }),
    )
    .max(5000),
  metadata: z.object({}).optional(),
});

/** Converts a graph. The builder's step paths are relative to the package, ours to the graph; a node without an edge ends a run. */
const graphIn = (graphFile: string) =>
  graph.transform(({ entryNodeId, nodes, edges }): PackageWorkflowGraph => {
    const folder = path.posix.dirname(graphFile);
    const goesOn = new Set(edges.map(({ from }) => from));
    return {
      entryNodeId,
      nodes: nodes.map(({ id, type, title, file, agentId, outputs }) => ({
        id,
        type: goesOn.has(id) ? type : 'end',
        title,
        file: path.posix.relative(folder, file),
        agentId: agentId || undefined,
        outputs: Object.fromEntries(outputs.map((output) => [output, outputPath(output)])),
      })),
      edges: waysOf(edges),
    };
  });

const outputPath = (output: string): string => (/^@(state|project)\//.test(output) ? output : `@project/${output}`);

/** Merges edges with the same target, retaining all labels and conditions. */
function waysOf(edges: z.infer<typeof graph>['edges']): PackageWorkflowGraph['edges'] {
  const ways = new Map<string, { from: string; to: string; labels: string[]; conditions: string[] }>();
  for (const { from, to, label, isDefault, conditionText } of edges) {
    const key = JSON.stringify([from, to]);
    const way = ways.get(key) ?? { from, to, labels: [], conditions: [] };
    ways.set(key, way);
    way.labels.push(label);
    if (conditionText?.trim()) way.conditions.push(conditionText.trim());
    if (isDefault) way.conditions.push('the default');
  }
  return [...ways.values()].map(({ from, to, labels, conditions }) => ({
    from,
    to,
    label: labels.join(' / ').slice(0, 200),
    ...(conditions.length > 0 && { condition: conditions.join('; ').slice(0, 1000) }),
  }));
}

export const crewAgentBuilderPackageFormat: PackageSchemas = {
  manifest,
  agents: (workflows, needs) => crewAgentBuilderAgentsSchema(version, builderId, workflows, needs),
  graph: graphIn,
  lenient: true,
};
