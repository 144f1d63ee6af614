import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import { ToolError } from '../../tools/core/tool.ts';
import { openForReading } from '../../tools/sandbox/openFile.ts';
import { resolvePath } from '../../tools/sandbox/paths.ts';
import { crewAgentBuilderPackageFormat } from './builder.ts';
import { type PackageManifest, type PackageSchemas, towpathPackageFormat } from './format.ts';
import { agentToolPolicyProblems, allowsTool, type PackageAgent } from './packageAgents.ts';
import { checkPackageWorkflowGraph, type PackageWorkflowGraph } from './packageGraph.ts';
import { PackageError, PackageFindings, parseWorkflowPackageJson, validatePackageValue } from './problem.ts';
import { createPackageRunStateText } from './state.ts';

export interface PackageWorkflow {
  id: string;
  title: string;
  description: string;
  graph: PackageWorkflowGraph;
  graphFile: string;
  template?: string;
  agentId: string;
  artifacts: string;
}

/** A validated package. Its texts are data for display and for models, never executed. */
export interface WorkflowPackage {
  folder: string;
  name: string;
  title: string;
  description: string;
  agents: readonly PackageAgent[];
  workflows: readonly PackageWorkflow[];
}

const manifestFile = 'bmad.json';
const maximumBytes = 2_000_000;

/** Reads and validates a package. Throws `PackageError` with the file and path of every problem. */
export async function loadPackage(folder: string): Promise<WorkflowPackage> {
  const root = await realpath(await packageRoot(folder));
  const read = (file: string, by: string) => readInside(root, file, by);
  const json = async (file: string, by: string) => parseWorkflowPackageJson(file, await read(file, by));
  const findings = new PackageFindings();

  const found = await json(manifestFile, manifestFile);
  const format = formatOf(found);
  const known = await findings.in(() => validatePackageValue(manifestFile, found, format.manifest));
  const manifest = known ?? guessOf(found); // the other files are validated anyway
  const agentsFile = manifest.agents;
  const needed: { file: string; location: string }[] = [];
  const agents = await findings.in(async () => {
    const schema = format.agents(known?.workflows, (file, location) => needed.push({ file, location }));
    return validatePackageValue(agentsFile, await json(agentsFile, manifestFile), schema).agents;
  });
  for (const { file, location } of needed) await findings.in(() => read(file, `${agentsFile}: ${location}`));
  checkAgents(agents ?? [], agentsFile, known?.workflows, findings);
  const sameWorkflow = twice(manifest.workflows.map(({ id }) => id));
  if (known && sameWorkflow) findings.add(manifestFile, message(isTwice, 'workflows', sameWorkflow));

  const workflows: PackageWorkflow[] = [];
  for (const [index, workflow] of manifest.workflows.entries()) {
    const { id, title = id, description = '', graph: graphFile, state, artifacts } = workflow;
    const graph = await findings.in(async () =>
      validatePackageValue(graphFile, await json(graphFile, manifestFile), format.graph(graphFile)),
    );
    const template = state === undefined ? undefined : await findings.in(() => read(state, manifestFile));
    await findings.in(() => checkTemplate(template, state ?? graphFile, graph?.entryNodeId ?? 'entry'));
    if (!graph) continue;
    await findings.in(() => checkPackageWorkflowGraph(graph, graphFile, format));
    const agentId = workflow.agentId ?? agents?.[0]?.id ?? '';
    const isKnown =
      agents && (await findings.in(() => mustBe(agents, agentId, manifestFile, `workflows[${index}].agentId`)));
    await checkNodes(graph, graphFile, agents && { agents, agentId: isKnown && agentId }, read, findings);
    workflows.push({ id, title, description, graph, graphFile, template, agentId, artifacts });
  }
  findings.check();
  const { name, title = name, description = '' } = known!;
  return { folder: root, name, title, description, agents: agents!, workflows };
}

/** Selects the format by the manifest's version; our own format has none. */
function formatOf(manifest: unknown): PackageSchemas {
  const version = (manifest as { schemaVersion?: unknown } | null)?.schemaVersion;
  if (version === undefined) return towpathPackageFormat;
  if (typeof version === 'string' && /^1\.1(\.\d+)?$/.test(version)) return crewAgentBuilderPackageFormat;
  throw new PackageError(
    manifestFile,
    message(
      'schemaVersion: {0} is not supported; packages of version "1.1" are, and those without a version',
      String(JSON.stringify(version)?.slice(0, 100)),
    ),
  );
}

function guessOf(manifest: unknown): Pick<PackageManifest, 'agents' | 'workflows'> {
  const { agents, entry, workflows } = (manifest ?? {}) as Record<string, unknown>;
  const named = (value: unknown): value is string => typeof value === 'string' && value !== '';
  const listed = [entry, ...(Array.isArray(workflows) ? workflows.slice(0, 200) : [])] as Record<string, unknown>[];
  const found = listed.flatMap((one) => {
    const graph = one?.graph;
    const state = [one?.state, one?.workflow].find(named); // the builder's name of the field
    return named(graph) ? [{ id: graph, graph, state, artifacts: '@state/artifacts' }] : [];
  });
  const file = [agents, (entry as { agents?: unknown } | undefined)?.agents].find(named) ?? 'agents.json';
  return { agents: file, workflows: found };
}

const isTwice = '{0}: "{1}" occurs twice';

const twice = (ids: string[]) => ids.find((id, index) => ids.indexOf(id) < index);

function checkAgents(
  agents: readonly PackageAgent[],
  file: string,
  workflows: PackageManifest['workflows'] | undefined,
  findings: PackageFindings,
): void {
  const same = twice(agents.map(({ id }) => id));
  if (same) findings.add(file, message(isTwice, 'agents', same));
  for (const [index, agent] of agents.entries()) {
    for (const { location, problem } of agentToolPolicyProblems(agent))
      findings.add(file, joinLocalizableTexts([`agents[${index}].${location}`, problem], ': '));
    for (const [at, { workflow }] of agent.menu.entries())
      if (workflow !== undefined && workflows && !workflows.some(({ id }) => id === workflow))
        findings.add(
          file,
          message('{0}: there is no workflow "{1}"', `agents[${index}].menu[${at}].workflow`, workflow),
        );
  }
}

export const packageStepFilePath = ({ graphFile }: Pick<PackageWorkflow, 'graphFile'>, file: string): string =>
  path.posix.join(path.posix.dirname(graphFile), file);

/** Returns the folder with the manifest; archives often contain a single folder. */
async function packageRoot(folder: string): Promise<string> {
  const has = (location: string) => stat(path.join(location, manifestFile)).then(Boolean, () => false);
  if (await has(folder)) return folder;
  const inside = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const only = inside.length === 1 && inside[0]!.isDirectory() ? path.join(folder, inside[0]!.name) : undefined;
  if (only && (await has(only))) return only;
  throw new PackageError(manifestFile, message('there is none in {0}', path.basename(folder)));
}

async function checkNodes(
  graph: PackageWorkflowGraph,
  graphFile: string,
  who: { agents: readonly PackageAgent[]; agentId: string | undefined } | undefined,
  read: (file: string, by: string) => Promise<string>,
  findings: PackageFindings,
): Promise<void> {
  for (const [index, node] of graph.nodes.entries()) {
    const location = `nodes[${index}]`;
    await findings.in(() => {
      const id = node.agentId ?? who?.agentId;
      const agent = who && id !== undefined && mustBe(who.agents, id, graphFile, `${location}.agentId`);
      if (agent && !['fs.apply_patch', 'fs.edit', 'fs.write'].some((tool) => allowsTool(agent, tool)))
        findings.add(
          graphFile,
          message('{0}: the agent "{1}" has no tool to update the state document with', location, agent.id),
        );
    });
    for (const [name, output] of Object.entries(node.outputs))
      if (!/^(@(state|project)\/)?[^@/\\]/.test(output) || output.split('/').includes('..'))
        findings.add(
          graphFile,
          message('{0}: expected a path below @state/, @project/ or relative', `${location}.outputs.${name}`),
        );
    if (node.file === undefined) continue;
    if (!/\.(md|markdown)$/i.test(node.file))
      findings.add(graphFile, message('{0}: expected a Markdown file', `${location}.file`));
    else
      await findings.in(() => read(packageStepFilePath({ graphFile }, node.file!), `${graphFile}: ${location}.file`));
  }
}

function mustBe(agents: readonly PackageAgent[], id: string, file: string, location: string): PackageAgent {
  const agent = agents.find((one) => one.id === id);
  if (!agent) throw new PackageError(file, message('{0}: there is no agent "{1}"', location, id));
  return agent;
}

function checkTemplate(template: string | undefined, file: string, entryNodeId: string): void {
  try {
    createPackageRunStateText(template, entryNodeId, new Date(0));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new PackageError(file, error.message.replace(/ Nothing was written\.$/, ''));
  }
}

/** Reads a package file; path containment rejects links out of the package. */
async function readInside(root: string, file: string, by: string): Promise<string> {
  try {
    const resolved = await resolvePath([{ name: '@pkg', path: root }], file, 'read');
    if (path.isAbsolute(file)) throw new PackageError(by, message('“{0}” is not relative to the package', file));
    const { handle, stats } = await openForReading(resolved);
    try {
      if (stats.size > maximumBytes) throw new PackageError(file, message('larger than {0} bytes', maximumBytes));
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
