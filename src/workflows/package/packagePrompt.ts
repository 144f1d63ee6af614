import { type PackageWorkflow, stepFile } from './load.ts';
import { type PackageAgent, personaOf } from './packageAgents.ts';
import { nextNodeLabel, nextNodes, nodeOf } from './packageGraph.ts';

export interface Directive {
  intent: 'start' | 'continue' | 'resume';
  packageName: string;
  workflow: PackageWorkflow;
  currentNodeId: string;
  agentId: string;
  autopilot: boolean;
}

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

/** Returns the block that assigns the directly preceding user message to a node, without repeating the text. */
export const userInput = (forNodeId: string): string =>
  block('USER_INPUT', { forNodeId, text: "the person's message right before this one" });

export const persona = (agent: PackageAgent): string =>
  `${block('AGENT_PERSONA', { agentId: agent.id })}\n\n${personaOf(agent)}`;

export function artifactOutputs({ graph, artifacts }: PackageWorkflow, nodeId: string): Record<string, string> {
  const placed = (file: string) =>
    artifactPath(file.startsWith('@') ? file : `${artifacts.replace(/\/$/, '')}/${file}`);
  const outputs = Object.entries(nodeOf(graph, nodeId)?.outputs ?? {});
  return Object.fromEntries(outputs.map(([name, file]) => [name, placed(file)]));
}

/** Returns a path as used by tools and commands: project paths without a mount. */
export const artifactPath = (file: string): string => file.replace(/^@project\/+/, '');

/** Formats a block. Line breaks in values are removed, so that package text cannot add lines. */
function block(name: string, values: Record<string, string>): string {
  const lines = Object.entries(values).map(([key, value]) => `- ${key}: ${value.replace(/\s+/g, ' ').trim()}`);
  return [name, ...lines].join('\n');
}
