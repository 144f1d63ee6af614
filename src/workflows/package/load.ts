import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { openForReading } from '../../tools/gate/open.ts';
import { resolvePath } from '../../tools/gate/paths.ts';
import { ToolError } from '../../tools/tool.ts';
import { agentsSchema, allowsTool, type PackageAgent } from './agents.ts';
import { checkGraph, idSchema, type PackageGraph, packageGraphSchema } from './graph.ts';
import { PackageError, parseJson } from './problem.ts';
import { newState } from './state.ts';

const manifestSchema = z.object({
  name: idSchema,
  title: z.string().min(1).max(200).optional(),
  version: z.string().max(50).optional(),
  description: z.string().max(2000).optional(),
  agents: z.string().min(1).default('agents.json'),
  workflows: z
    .array(
      z.object({
        id: idSchema,
        title: z.string().min(1).max(200).optional(),
        description: z.string().max(2000).optional(),
        graph: z.string().min(1),
        /** Markdown whose variables and text the state document begins with. */
        state: z.string().min(1).optional(),
        /** Who does what no node names an agent for; without it the first of `agents.json`. */
        agentId: idSchema.optional(),
        /** Where outputs with relative paths go. */
        artifacts: z
          .string()
          .regex(/^@(state|project)\/(?!.*(^|\/)\.\.(\/|$))[^\\\r\n]*$/, 'expected a path below @state/ or @project/')
          .default('@state/artifacts'),
      }),
    )
    .min(1)
    .max(200),
});

export interface PackageWorkflow {
  id: string;
  title: string;
  description: string;
  graph: PackageGraph;
  /** Of the graph's file, from the package's folder: step files are relative to its folder. */
  graphFile: string;
  template?: string;
  agentId: string;
  artifacts: string;
}

/** A checked package. What it says about itself is data: it is shown and told to models, never run. */
export interface Package {
  folder: string;
  name: string;
  title: string;
  description: string;
  agents: readonly PackageAgent[];
  workflows: readonly PackageWorkflow[];
}

const manifestFile = 'bmad.json';
const maximumBytes = 2_000_000;

/** Reads and checks a package. Throws `PackageError`, which names the file and the place in it. */
export async function loadPackage(folder: string): Promise<Package> {
  const root = await realpath(await packageRoot(folder));
  const read = (file: string, by: string) => readInside(root, file, by);
  const manifest = parseJson(manifestFile, await read(manifestFile, manifestFile), manifestSchema);
  const { agents } = parseJson(manifest.agents, await read(manifest.agents, manifestFile), agentsSchema);
  const twice = (ids: string[]) => ids.find((id, index) => ids.indexOf(id) < index);
  const sameAgent = twice(agents.map(({ id }) => id));
  if (sameAgent) throw new PackageError(manifest.agents, `agents: "${sameAgent}" is there twice`);
  const sameWorkflow = twice(manifest.workflows.map(({ id }) => id));
  if (sameWorkflow) throw new PackageError(manifestFile, `workflows: "${sameWorkflow}" is there twice`);

  const workflows: PackageWorkflow[] = [];
  for (const [index, workflow] of manifest.workflows.entries()) {
    const { id, title = id, description = '', graph: graphFile, state, artifacts } = workflow;
    const graph = parseJson(graphFile, await read(graphFile, manifestFile), packageGraphSchema);
    checkGraph(graph, graphFile);
    const agentId = workflow.agentId ?? agents[0]!.id;
    mustBe(agents, agentId, manifestFile, `workflows[${index}].agentId`);
    await checkNodes(graph, graphFile, agents, agentId, read);
    const template = state === undefined ? undefined : await read(state, manifestFile);
    checkTemplate(template, state ?? graphFile, graph);
    workflows.push({ id, title, description, graph, graphFile, template, agentId, artifacts });
  }
  for (const [index, { menu }] of agents.entries())
    for (const [at, { workflow }] of menu.entries())
      if (workflow !== undefined && !workflows.some(({ id }) => id === workflow))
        throw new PackageError(
          manifest.agents,
          `agents[${index}].menu[${at}].workflow: there is no workflow "${workflow}"`,
        );
  const { name, title = name, description = '' } = manifest;
  return { folder: root, name, title, description, agents, workflows };
}

/** A step file as seen from the package's folder. */
export const stepFile = ({ graphFile }: Pick<PackageWorkflow, 'graphFile'>, file: string): string =>
  path.posix.join(path.posix.dirname(graphFile), file);

/** The folder with the manifest: archives often hold one folder with everything. */
async function packageRoot(folder: string): Promise<string> {
  const has = (place: string) => stat(path.join(place, manifestFile)).then(Boolean, () => false);
  if (await has(folder)) return folder;
  const inside = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const only = inside.length === 1 && inside[0]!.isDirectory() ? path.join(folder, inside[0]!.name) : undefined;
  if (only && (await has(only))) return only;
  throw new PackageError(manifestFile, `there is none in ${path.basename(folder)}`);
}

async function checkNodes(
  graph: PackageGraph,
  graphFile: string,
  agents: readonly PackageAgent[],
  agentId: string,
  read: (file: string, by: string) => Promise<string>,
): Promise<void> {
  for (const [index, node] of graph.nodes.entries()) {
    const place = `nodes[${index}]`;
    const agent = mustBe(agents, node.agentId ?? agentId, graphFile, `${place}.agentId`);
    if (!['fs.apply_patch', 'fs.edit', 'fs.write'].some((tool) => allowsTool(agent, tool)))
      throw new PackageError(
        graphFile,
        `${place}: the agent "${agent.id}" has no tool to update the state document with`,
      );
    for (const [name, output] of Object.entries(node.outputs))
      if (!/^(@(state|project)\/)?[^@/\\]/.test(output) || output.split('/').includes('..'))
        throw new PackageError(
          graphFile,
          `${place}.outputs.${name}: expected a path below @state/, @project/ or relative`,
        );
    if (node.file === undefined) continue;
    if (!/\.(md|markdown)$/i.test(node.file))
      throw new PackageError(graphFile, `${place}.file: expected a Markdown file`);
    await read(stepFile({ graphFile }, node.file), `${graphFile}: ${place}.file`);
  }
}

function mustBe(agents: readonly PackageAgent[], id: string, file: string, place: string): PackageAgent {
  const agent = agents.find((one) => one.id === id);
  if (!agent) throw new PackageError(file, `${place}: there is no agent "${id}"`);
  return agent;
}

function checkTemplate(template: string | undefined, file: string, graph: PackageGraph): void {
  try {
    newState(template, graph.entryNodeId, new Date(0));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new PackageError(file, error.message.replace(/ Nothing was written\.$/, ''));
  }
}

/** A file of the package, through the gate for paths: no link leads out of it. */
async function readInside(root: string, file: string, by: string): Promise<string> {
  try {
    const resolved = await resolvePath([{ name: '@pkg', path: root }], file, 'read');
    if (path.isAbsolute(file)) throw new PackageError(by, `"${file}" is not relative to the package`);
    const { handle, stats } = await openForReading(resolved);
    try {
      if (stats.size > maximumBytes) throw new PackageError(file, `larger than ${maximumBytes} bytes`);
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ToolError)
      throw new PackageError(
        by,
        error.message.replaceAll('the workspace', 'the package').replace(/ Use fs\.find .*/, ''),
      );
    throw error;
  }
}
