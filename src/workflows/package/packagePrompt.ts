import { type PackageWorkflow, stepFile } from './load.ts';
import { type PackageAgent, personaOf } from './packageAgents.ts';
import { nextNodeLabel, nextNodes, nodeOf } from './packageGraph.ts';

export interface Directive {
  /** `start`: a new run; `continue`: it goes on, at another node or with what the person said; `resume`: it was at rest. */
  intent: 'start' | 'continue' | 'resume';
  packageName: string;
  workflow: PackageWorkflow;
  currentNodeId: string;
  agentId: string;
  autopilot: boolean;
}

/** What the run is about. */
export function runDirective(directive: Directive): string {
  const { intent, packageName, workflow, currentNodeId, agentId, autopilot } = directive;
  return block('RUN_DIRECTIVE', {
    intent,
    workflow: `${packageName}/${workflow.id}`,
    state: '@state/workflow.md',
    graph: `@pkg/${workflow.graphFile}`,
    artifactsRoot: artifactPath(workflow.artifacts) || '.',
    currentNodeId,
    effectiveAgentId: agentId,
    autopilot: String(autopilot),
  });
}

/** What is to be done at a node, and where it may lead. */
export function nodeBrief(workflow: PackageWorkflow, nodeId: string): string {
  const node = nodeOf(workflow.graph, nodeId)!;
  const next = nextNodes(workflow.graph, nodeId).map(nextNodeLabel);
  return block('NODE_BRIEF', {
    nodeId,
    type: node.type,
    ...(node.title !== undefined && { title: node.title }),
    stepFile: node.file === undefined ? 'none' : `@pkg/${stepFile(workflow, node.file)}`,
    outputs: JSON.stringify(artifactOutputs(workflow, nodeId)),
    allowedNext: next.join(', ') || 'none',
  });
}

/** Which node the words of the person are for that stand right before the brief, as they said them: they are said once. */
export const userInput = (forNodeId: string): string =>
  block('USER_INPUT', { forNodeId, text: "the person's message right before this one" });

/** Who the model is from here on. */
export const persona = (agent: PackageAgent): string =>
  `${block('AGENT_PERSONA', { agentId: agent.id })}\n\n${personaOf(agent)}`;

/** What a node makes, by name, with the path that each is written to. */
export function artifactOutputs({ graph, artifacts }: PackageWorkflow, nodeId: string): Record<string, string> {
  const placed = (file: string) =>
    artifactPath(file.startsWith('@') ? file : `${artifacts.replace(/\/$/, '')}/${file}`);
  const outputs = Object.entries(nodeOf(graph, nodeId)?.outputs ?? {});
  return Object.fromEntries(outputs.map(([name, file]) => [name, placed(file)]));
}

/** A path as tools and commands have it: those of the project without a place, whoever wrote one. */
export const artifactPath = (file: string): string => file.replace(/^@project\/+/, '');

/** A value is one line: what is in the package cannot make lines of its own here. */
function block(name: string, values: Record<string, string>): string {
  const lines = Object.entries(values).map(([key, value]) => `- ${key}: ${value.replace(/\s+/g, ' ').trim()}`);
  return [name, ...lines].join('\n');
}
