import type { ToolCall } from '../../protocol/content/messages.ts';
import type { ApprovalPolicy } from '../../protocol/content/policy.ts';
import { type ApprovalRequestPlan, type CallContext, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { decidePlannedCallByPolicy, type PlannedToolCall } from './policySubject.ts';
import { emitStoredEvent } from './storedEvents.ts';

/** The user's choice to run a call outside of its sandbox, made while it asks for an access. */
export interface SandboxExit {
  /** Aborts with the choice. The call then ends in the sandbox, and its other requests are obsolete. */
  readonly signal: AbortSignal;
  /** Milliseconds that the user took. */
  readonly waitedMs: number;
  choose(waitedMs: number): void;
}

/** Returns undefined for a call that discards data: only a dialog that names the data may run it outside. */
export function createSandboxExit({ loss }: Pick<ApprovalRequestPlan, 'loss'>): SandboxExit | undefined {
  if (loss) return undefined;
  const chosen = new AbortController();
  let waited = 0;
  return {
    signal: chosen.signal,
    get waitedMs() {
      return waited;
    },
    choose(waitedMs) {
      waited = waitedMs;
      chosen.abort();
    },
  };
}

/** Records the user's answer as the approval of a call outside of its sandbox. Throws `TOOL_DENIED` if a policy denies the call there. */
export async function approveOutside(
  call: ToolCall,
  { plan, ...planned }: PlannedToolCall & { plan: ApprovalRequestPlan },
  { waitedMs }: SandboxExit,
  policy: ApprovalPolicy,
  context: CallContext,
  workspace: Workspace,
): Promise<void> {
  const outside = { ...planned, plan: { ...plan, sandboxed: undefined } };
  const { effect, reason, basis } = await decidePlannedCallByPolicy(outside, policy, context, workspace);
  const isDenied = effect === 'deny';
  await emitStoredEvent(context, {
    type: 'approval',
    toolCallId: call.id,
    name: call.name,
    ...(plan.title && { title: plan.title }),
    ...(isDenied
      ? { decision: 'deny', waitedMs: 0, automatic: reason, ...(basis && { basis }) }
      : { decision: 'allow', waitedMs }),
  });
  if (isDenied) throw new ToolError('TOOL_DENIED', `${reason} Nothing was run outside of the sandbox.`);
}
