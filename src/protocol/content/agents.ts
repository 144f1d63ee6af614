import { t } from '../text/l10n.ts';

export const [workAgent, planAgent] = ['towpath', 'plan'] as const;

const names = { [workAgent]: 'Work', [planAgent]: 'Plan' } as const;
const isBuiltIn = (id: string): id is keyof typeof names => Object.hasOwn(names, id);

export const chatWorkflowId = 'chat';

export function agentName({ workflowId, agentId }: { workflowId: string; agentId: string }): string {
  if (workflowId === chatWorkflowId) return t(names[isBuiltIn(agentId) ? agentId : workAgent]);
  const file = workflowId.slice(workflowId.lastIndexOf('/') + 1);
  return file.replace(/(\.agent)?\.(ya?ml|json|md)$/, '') || workflowId;
}
