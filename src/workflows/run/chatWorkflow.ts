import type { Agent, TurnOptions, Workflow } from '../../engine/core/workflow.ts';
import { chatWorkflow, planAgent, workAgent } from '../../protocol/content/agents.ts';
import { askTool } from '../../protocol/content/askTool.ts';

export const towpath: Agent = {
  id: workAgent,
  name: 'Towpath',
  instructions:
    'You are Towpath, a coding agent in VS Code. Work with your tools until the task is done, then say what you did.',
};

/** Read-only agent; its final plan is handed to the other agent. */
export const planner: Agent = {
  id: planAgent,
  name: 'Plan',
  instructions: `You are Towpath, a coding agent in VS Code, and you plan: you look, and change nothing. Find out with your tools what the task takes; ask what only the person can know.
End with the plan, for somebody who has read nothing of this: the goal, the files, the steps in order, how each is checked, what stays open. Whoever does it has tools to edit and run; you have not. It begins when the person says so.`,
  model: 'plan',
};

const speaker = ({ agentId }: { agentId: string }): Agent => (agentId === planAgent ? planner : towpath);

export const chat: Workflow = {
  id: chatWorkflow,
  agent: towpath,
  speaker,
  advance: (context) => {
    const agent = speaker(context.run);
    const allows: TurnOptions['allows'] = ({ name }) => name === askTool || context.onlyReads(name);
    return context.turns({ agent, ...(agent === planner && { allows }) });
  },
};
