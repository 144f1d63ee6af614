import { chatWorkflowId, planAgent } from '../content/agents.ts';
import type { Message, ToolCall } from '../content/messages.ts';
import type { Run } from './run.ts';
import { callWithCorrectedArguments } from './understoodArguments.ts';

export const planItemStatuses = ['pending', 'active', 'done'] as const;

export interface PlanItem {
  text: string;
  status: (typeof planItemStatuses)[number];
}

export const planBounds = { items: 50, text: 200 };

export const planToolName = 'plan.update';

export const planItemsOfRun = ({ messages, calls }: Run): PlanItem[] =>
  newestPlan(
    messages,
    ({ id }) => calls[id]?.ok === true,
    (call) => callWithCorrectedArguments(call, calls[call.id]),
  )?.items ?? [];

export function newestPlan(
  messages: readonly Message[],
  isAccepted: (call: ToolCall) => boolean,
  understood: (call: ToolCall) => ToolCall,
): { at: number; call: ToolCall; items: PlanItem[] } | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls?.toReversed() ?? []) {
      if (call.name !== planToolName || !isAccepted(call)) continue;
      const { items } = understood(call).arguments;
      if (isPlan(items)) return { at, call, items };
    }
  }
  return undefined;
}

export function planTextForImplementation(run: Run): string {
  const answer = run.messages.findLast(({ role, content }) => role === 'assistant' && content.trim() !== '');
  const items = planItemsOfRun(run).map(({ text }, at) => `${at + 1}. ${text}`);
  return [answer?.content.trim() ?? '', ...(items.length > 0 ? [`Steps:\n${items.join('\n')}`] : [])]
    .filter(Boolean)
    .join('\n\n');
}

export function isPlanReadyToImplement({ workflowId, agentId, phase, error, messages }: Run): boolean {
  const last = messages.at(-1);
  const isWhole =
    last?.role === 'assistant' && last.content.trim() !== '' && !last.incomplete && !last.toolCalls?.length;
  return workflowId === chatWorkflowId && agentId === planAgent && phase === 'WaitingUser' && !error && isWhole;
}

const isPlan = (items: unknown): items is PlanItem[] =>
  Array.isArray(items) && items.length <= planBounds.items && items.every(isItem);

function isItem(item: unknown): item is PlanItem {
  if (typeof item !== 'object' || item === null) return false;
  const { text, status, ...rest } = item as Partial<PlanItem>;
  return (
    typeof text === 'string' &&
    text !== '' &&
    text.length <= planBounds.text &&
    planItemStatuses.some((one) => one === status) &&
    Object.keys(rest).length === 0
  );
}
