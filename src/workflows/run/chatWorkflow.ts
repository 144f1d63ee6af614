import type { Agent, TurnOptions, Workflow } from '../../engine/core/workflow.ts';
import { chatWorkflowId, planAgent, reviewAgent, workAgent } from '../../protocol/content/agents.ts';
import { userQuestionToolName } from '../../protocol/content/askTool.ts';
import { reviewAgentDefinition, reviewAgentTurnOptions } from '../agents/reviewAgent.ts';

export const defaultAgentDefinition: Agent = {
  id: workAgent,
  name: 'Towpath',
  instructions: 'You are Towpath, a coding agent in VS Code. Use tools until the task is done, then report.',
};

/** Read-only agent; its final plan is handed to the other agent. */
const planAgentDefinition: Agent = {
  id: planAgent,
  name: 'Plan',
  instructions: `You are Towpath, a coding agent in VS Code. You plan: read and search, but change nothing. Find out with your tools what the task requires; ask the user what only the user can know.
End with the plan, written for a reader who has not seen this conversation: the goal, the files, the steps in order, how to check each step, open questions. The executor can edit and run; you cannot. The user starts the execution.`,
  model: 'plan',
};

const builtInAgents = new Map([
  [planAgent, planAgentDefinition],
  [reviewAgent, reviewAgentDefinition],
]) as ReadonlyMap<string, Agent>;

const speaker = ({ agentId }: { agentId: string }): Agent => builtInAgents.get(agentId) ?? defaultAgentDefinition;

export const defaultChatWorkflow: Workflow = {
  id: chatWorkflowId,
  agent: defaultAgentDefinition,
  speaker,
  advance: (context) => {
    const agent = speaker(context.run);
    if (agent === reviewAgentDefinition) return context.turns(reviewAgentTurnOptions(context));
    const allows: TurnOptions['allows'] = ({ name }) => name === userQuestionToolName || context.onlyReads(name);
    return context.turns({ agent, ...(agent === planAgentDefinition && { allows }) });
  },
};
