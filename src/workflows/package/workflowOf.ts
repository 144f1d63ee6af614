import { RunError } from '../../engine/core/errorInfo.ts';
import type { Workflow } from '../../engine/core/workflow.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { createPackageAgentChat } from './agentChat.ts';
import type { PackageRunId } from './ids.ts';
import type { WorkflowPackage } from './load.ts';
import { createPackageStepWorkflow, type PackageRunOptions } from './packageWorkflow.ts';

export function createWorkflowOfPackageRun(
  source: WorkflowPackage,
  id: string,
  { workflowId, agentId }: PackageRunId,
  options: Pick<PackageRunOptions, 'project' | 'stateFolder' | 'autopilot' | 'now'>,
): Workflow {
  const agent = source.agents.find((one) => one.id === agentId);
  if (agentId !== undefined && !agent)
    throw missing(message('The package {0} no longer has an agent "{1}".', source.title, agentId));
  if (workflowId === undefined) return createPackageAgentChat(id, source, agent!, options.project);
  const workflow = source.workflows.find((one) => one.id === workflowId);
  if (!workflow) throw missing(message('The package {0} no longer has a workflow "{1}".', source.title, workflowId));
  return createPackageStepWorkflow({ ...options, id, source, workflow, activeAgentId: agent?.id ?? workflow.agentId });
}

const missing = (text: LocalizedMessage) => new RunError('WORKFLOW_NOT_FOUND', text);
