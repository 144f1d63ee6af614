import { isSameToolCall, type ToolCallKey } from '../../protocol/content/callKey.ts';
import type { ApprovalRequest } from '../../tools/core/tool.ts';

/** Waiting approval in a search; `order` is the position in the order of requests. */
export interface PendingApproval {
  request: Pick<ApprovalRequest, 'id' | 'runId' | 'call'>;
  order: number;
}

/** Focus of the user: the approvals in the active review, and the shown run. */
interface TargetLookup {
  reviewed: ReadonlySet<string>;
  shown: string | undefined;
}

/** Returns the requested approval. Without a key: of the active review, else of the shown run, else the oldest. */
export function findApproval<Open extends PendingApproval>(
  open: readonly Open[],
  key: ToolCallKey | undefined,
  { reviewed, shown }: TargetLookup,
): Open | undefined {
  if (key) return open.find((one) => isSameToolCall(approvalCallKey(one.request), key));
  const inOrder = [...open].sort((one, other) => one.order - other.order);
  return (
    inOrder.find(({ request }) => reviewed.has(request.id)) ??
    inOrder.find(({ request }) => request.runId === shown) ??
    inOrder[0]
  );
}

/** Returns the approvals of the same reply: these share a dialog. A task and its run, or two tasks, never have a reply in common. */
export const approvalsOfSameReply = <Open extends { request: Pick<ApprovalRequest, 'batch'> }>(
  open: readonly Open[],
  one: Open,
): Open[] => open.filter(({ request }) => request.batch === one.request.batch);

export const approvalCallKey = ({ runId, call }: Pick<ApprovalRequest, 'runId' | 'call'>): ToolCallKey => ({
  runId,
  toolCallId: call.id,
});

/** Returns the call named by command arguments. Links, keys and other extensions can pass any value. */
export function parseCallKey(given: unknown): ToolCallKey | undefined {
  const { runId, toolCallId } = Object(given) as Partial<Record<keyof ToolCallKey, unknown>>;
  return typeof runId === 'string' && typeof toolCallId === 'string' ? { runId, toolCallId } : undefined;
}
