import { EngineError } from '../../engine/errors.ts';
import type { Workflow } from '../../engine/workflow.ts';
import type { PackageRunId } from './ids.ts';
import type { Package } from './load.ts';
import { agentTalk } from './talk.ts';
import { type PackageRunOptions, packageWorkflow } from './workflow.ts';

/** What a run of a package follows. Throws an `EngineError` where the package has lost it. */
export function workflowOf(
  source: Package,
  id: string,
  { workflowId, agentId }: PackageRunId,
  options: Pick<PackageRunOptions, 'project' | 'stateFolder' | 'autopilot' | 'now'>,
): Workflow {
  const agent = source.agents.find((one) => one.id === agentId);
  if (agentId !== undefined && !agent) throw missing(`The package ${source.title} has no agent "${agentId}" any more.`);
  if (workflowId === undefined) return agentTalk(id, source, agent!, options.project);
  const workflow = source.workflows.find((one) => one.id === workflowId);
  if (!workflow) throw missing(`The package ${source.title} has no workflow "${workflowId}" any more.`);
  return packageWorkflow({ ...options, id, source, workflow, activeAgentId: agent?.id ?? workflow.agentId });
}

const missing = (message: string) => new EngineError('WORKFLOW_NOT_FOUND', message);
