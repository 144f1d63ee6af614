import { t } from '../text/l10n.ts';

/** The agents that come with Towpath, as runs keep them. */
export const [workAgent, planAgent] = ['towpath', 'plan'] as const;

const names = { [workAgent]: 'Work', [planAgent]: 'Plan' } as const;
const isBuiltIn = (id: string): id is keyof typeof names => Object.hasOwn(names, id);

/** The built-in workflow, in which they speak. */
export const chatWorkflow = 'chat';

/** What a person calls who speaks in a run. A workflow and an agent of a file are called like the file. */
export function agentName({ workflowId, agentId }: { workflowId: string; agentId: string }): string {
  if (workflowId === chatWorkflow) return t(names[isBuiltIn(agentId) ? agentId : workAgent]);
  const file = workflowId.slice(workflowId.lastIndexOf('/') + 1);
  return file.replace(/\.(ya?ml|json)$/, '') || workflowId;
}
