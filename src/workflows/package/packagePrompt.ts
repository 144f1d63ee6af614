import { promptBlock } from '../../protocol/content/promptBlocks.ts';
import { type PackageWorkflow, packageStepFilePath } from './load.ts';
import { agentPersonaText, type PackageAgent } from './packageAgents.ts';
import { nextNodeLabel, nextPackageWorkflowNodes, packageWorkflowNodeById } from './packageGraph.ts';

export interface PackageRunDirective {
  intent: 'start' | 'continue' | 'resume';
  packageName: string;
  workflow: PackageWorkflow;
  currentNodeId: string;
  agentId: string;
  autopilot: boolean;
}

export function packageRunDirectiveText(directive: PackageRunDirective): string {
  const { intent, packageName, workflow, currentNodeId, agentId, autopilot } = directive;
  return promptBlock('RUN_DIRECTIVE', {
    intent,
    workflow: `${packageName}/${workflow.id}`,
    state: '@state/workflow.md',
    graph: `@pkg/${workflow.graphFile}`,
    artifactsRoot: withoutProjectMount(workflow.artifacts) || '.',
    currentNodeId,
    effectiveAgentId: agentId,
    autopilot: String(autopilot),
  });
}

export function packageNodePromptBlock(workflow: PackageWorkflow, nodeId: string): string {
  const node = packageWorkflowNodeById(workflow.graph, nodeId)!;
  const next = nextPackageWorkflowNodes(workflow.graph, nodeId).map(nextNodeLabel);
  return promptBlock('NODE_BRIEF', {
    nodeId,
    type: node.type,
    ...(node.title !== undefined && { title: node.title }),
    stepFile: node.file === undefined ? 'none' : `@pkg/${packageStepFilePath(workflow, node.file)}`,
    outputs: JSON.stringify(nodeArtifactOutputs(workflow, nodeId)),
    allowedNext: next.join(', ') || 'none',
  });
}

/** Returns the block that assigns the directly preceding user message to a node, without repeating the text. */
export const userInputPromptBlock = (forNodeId: string): string =>
  promptBlock('USER_INPUT', { forNodeId, text: "the person's message right before this one" });

export const agentPersonaPromptBlock = (agent: PackageAgent): string =>
  `${promptBlock('AGENT_PERSONA', { agentId: agent.id })}\n\n${agentPersonaText(agent)}`;

export function nodeArtifactOutputs({ graph, artifacts }: PackageWorkflow, nodeId: string): Record<string, string> {
  const mountedPath = (file: string) =>
    withoutProjectMount(file.startsWith('@') ? file : `${artifacts.replace(/\/$/, '')}/${file}`);
  const outputs = Object.entries(packageWorkflowNodeById(graph, nodeId)?.outputs ?? {});
  return Object.fromEntries(outputs.map(([name, file]) => [name, mountedPath(file)]));
}

/** Returns a path as used by tools and commands: project paths without a mount. */
export const withoutProjectMount = (file: string): string => file.replace(/^@project\/+/, '');
