import { t } from '../text/l10n.ts';

export const [workAgent, planAgent, reviewAgent] = ['towpath', 'plan', 'review'] as const;

export const chatWorkflowId = 'chat';

export function agentName({ workflowId, agentId }: { workflowId: string; agentId: string }): string {
  if (workflowId === chatWorkflowId)
    return t(agentId === planAgent ? 'Plan' : agentId === reviewAgent ? 'Reviewer' : 'Work');
  const file = workflowId.slice(workflowId.lastIndexOf('/') + 1);
  return file.replace(/(\.agent)?\.(ya?ml|json|md)$/, '') || workflowId;
}
