import { chatWorkflow, workAgent } from '../../protocol/content/agents.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import { planProgressText } from '../../protocol/run/plan.ts';
import type { Conversation } from './conversation.ts';
import type { Agents } from './pickAgent.ts';

interface Dependencies {
  conversation: Conversation;
  agents: Agents;
}

/** How the person means a plan to be done. `apart`: in a run of its own, which knows of nothing but the plan. */
interface PlanExecution {
  apart?: true | undefined;
  /** Besides. */
  words?: string | undefined;
  named?: Promise<Attachment[]> | undefined;
}

/** Hands the shown run's plan to who works. */
export async function createPlanExecution(
  { apart, words = '', named }: PlanExecution,
  { conversation, agents }: Dependencies,
): Promise<void> {
  const run = await conversation.run();
  if (!run) return;
  const more = words.trim() === '' ? '' : `\n\n${words.trim()}`;
  if (!apart) {
    await agents.choose({ workflowId: chatWorkflow, agentId: workAgent });
    return conversation.send(`Do what the plan says.${more}`, undefined, undefined, undefined, named);
  }
  const attachments = await named;
  await agents.remember(workAgent);
  await conversation.open(undefined);
  const userInput = `Do what this plan says.\n\n${planProgressText(run)}${more}`;
  await conversation.begin({ agentId: workAgent, userInput, ...(attachments?.length && { attachments }) });
}
