import { type PackageAgent, personaOf } from './agents.ts';
import { nextOf, nodeOf } from './graph.ts';
import { type PackageWorkflow, stepFile } from './load.ts';

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
    artifactsRoot: workflow.artifacts,
    currentNodeId,
    effectiveAgentId: agentId,
    autopilot: String(autopilot),
  });
}

/** What is to be done at a node, and where it may lead. */
export function nodeBrief(workflow: PackageWorkflow, nodeId: string): string {
  const node = nodeOf(workflow.graph, nodeId)!;
  const next = nextOf(workflow.graph, nodeId).map(({ id, label }) => (label === undefined ? id : `${id} (${label})`));
  const outputs = Object.entries(node.outputs).map(([name, file]) => [name, placed(workflow, file)]);
  return block('NODE_BRIEF', {
    nodeId,
    type: node.type,
    ...(node.title !== undefined && { title: node.title }),
    stepFile: node.file === undefined ? 'none' : `@pkg/${stepFile(workflow, node.file)}`,
    outputs: JSON.stringify(Object.fromEntries(outputs)),
    allowedNext: next.join(', ') || 'none',
  });
}

/** Which node the words of the person are for that stand right before the brief, as they said them: they are said once. */
export const userInput = (forNodeId: string): string =>
  block('USER_INPUT', { forNodeId, text: "the person's message right before this one" });

/** Who the model is from here on. */
export const persona = (agent: PackageAgent): string =>
  `${block('AGENT_PERSONA', { agentId: agent.id })}\n\n${personaOf(agent)}`;

const placed = ({ artifacts }: PackageWorkflow, file: string) =>
  file.startsWith('@') ? file : `${artifacts.replace(/\/$/, '')}/${file}`;

/** A value is one line: what is in the package cannot make lines of its own here. */
function block(name: string, values: Record<string, string>): string {
  const lines = Object.entries(values).map(([key, value]) => `- ${key}: ${value.replace(/\s+/g, ' ').trim()}`);
  return [name, ...lines].join('\n');
}
