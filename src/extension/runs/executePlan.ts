import { chatWorkflowId, workAgent } from '../../protocol/content/agents.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import { planTextForImplementation } from '../../protocol/run/plan.ts';
import type { PanelConversation } from './conversation.ts';
import type { AgentPicker } from './pickAgent.ts';

interface Dependencies {
  conversation: PanelConversation;
  agents: AgentPicker;
}

/** Options of a plan implementation. `apart`: in a new run that receives only the plan. `instruction`: additional message. */
interface PlanExecution {
  apart?: true | undefined;
  instruction?: string | undefined;
  named?: Promise<Attachment[]> | undefined;
}

export async function startPlanExecution(
  { apart, instruction = '', named }: PlanExecution,
  { conversation, agents }: Dependencies,
): Promise<void> {
  const run = await conversation.run();
  if (!run) return;
  const more = instruction.trim() === '' ? '' : `\n\n${instruction.trim()}`;
  if (!apart) {
    await agents.choose({ workflowId: chatWorkflowId, agentId: workAgent });
    return conversation.send(`Do what the plan says.${more}`, undefined, undefined, undefined, named);
  }
  const attachments = await named;
  await agents.remember(workAgent);
  await conversation.open(undefined);
  const userInput = `Do what this plan says.\n\n${planTextForImplementation(run)}${more}`;
  await conversation.begin({ agentId: workAgent, userInput, ...(attachments?.length && { attachments }) });
}
