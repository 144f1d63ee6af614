import type { Agent, WorkflowContext } from '../../engine/core/workflow.ts';
import type { TaskAgent } from '../../engine/tasks/taskOptions.ts';
import { reviewRules } from './reviewAgent.ts';

const unattended =
  'Nobody can answer questions: decide with what you find, and report what you assumed. The run that gave you the task receives only your last message.';

const explorer: Agent = {
  id: 'explorer',
  name: 'Explorer',
  instructions: `You are Explorer, a read-only agent of Towpath in VS Code. You have one task. Read and search until you can answer it. ${unattended}
End with a report: what you found, each finding with its path and lines, and what you did not find.`,
};

const worker: Agent = {
  id: 'worker',
  name: 'Worker',
  instructions: `You are Worker, an agent of Towpath in VS Code. You have one task. Use tools until it is done; change nothing that it does not require. ${unattended}
End with a report: what you changed, with paths and lines, how you checked it, and what is left.`,
};

const reviewer: Agent = {
  id: 'reviewer',
  name: 'Reviewer',
  instructions: `You are Reviewer, a read-only agent of Towpath in VS Code. You have one task: a review. ${unattended}
${reviewRules}`,
  model: 'review',
};

const readOnlyTaskAgent = (agent: Agent): TaskAgent => ({
  id: agent.id,
  name: agent.name,
  mayChange: false,
  turnOptions: (run: Pick<WorkflowContext, 'onlyReads'>) => ({ agent, allows: ({ name }) => run.onlyReads(name) }),
});

/** Agents of tasks in every workspace, in the order of their display. */
export const builtInTaskAgents = {
  explorer: readOnlyTaskAgent(explorer),
  worker: { id: worker.id, name: worker.name, mayChange: true, turnOptions: () => ({ agent: worker }) },
  reviewer: readOnlyTaskAgent(reviewer),
} as const satisfies Record<string, TaskAgent>;

export type BuiltInTaskAgentId = keyof typeof builtInTaskAgents;

const ids = Object.keys(builtInTaskAgents) as BuiltInTaskAgentId[];

/** Finds a built-in agent by its id. The displayed name is the id with a capital letter, and is found, too. */
export function builtInTaskAgentId(idOrName: string): BuiltInTaskAgentId | undefined {
  const wanted = idOrName.trim().toLowerCase();
  return ids.find((id) => id === wanted);
}
