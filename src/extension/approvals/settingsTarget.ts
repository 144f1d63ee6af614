import { type CallKey, isSameCall } from '../../protocol/content/callKey.ts';
import type { ApprovalRequest } from '../../tools/core/tool.ts';

/** An approval that waits, as far as a search for it needs to know. */
export interface OpenApproval {
  request: Pick<ApprovalRequest, 'id' | 'runId' | 'call'>;
  /** Position in the order in which the approvals were requested. */
  order: number;
}

/** Where the user looks: the approvals whose review is in front, and the shown run. */
interface TargetLookup {
  reviewed: ReadonlySet<string>;
  shown: string | undefined;
}

/**
 * Returns the approval that is meant. Without a key, that is the one in front of the user: of the review, else of the shown
 * run, else the oldest.
 */
export function findApproval<Open extends OpenApproval>(
  open: readonly Open[],
  key: CallKey | undefined,
  { reviewed, shown }: TargetLookup,
): Open | undefined {
  if (key) return open.find((one) => isSameCall(keyOf(one.request), key));
  const inOrder = [...open].sort((one, other) => one.order - other.order);
  return (
    inOrder.find(({ request }) => reviewed.has(request.id)) ??
    inOrder.find(({ request }) => request.runId === shown) ??
    inOrder[0]
  );
}

export const keyOf = ({ runId, call }: Pick<ApprovalRequest, 'runId' | 'call'>): CallKey => ({
  runId,
  toolCallId: call.id,
});

/** The call that the arguments of a command name. Links, keys and other extensions can pass anything. */
export function callKeyIn(given: unknown): CallKey | undefined {
  const { runId, toolCallId } = Object(given) as Partial<Record<keyof CallKey, unknown>>;
  return typeof runId === 'string' && typeof toolCallId === 'string' ? { runId, toolCallId } : undefined;
}
