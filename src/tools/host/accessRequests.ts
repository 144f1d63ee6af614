import * as z from 'zod';
import type { ToolCall } from '../../protocol/content/messages.ts';
import type { ApprovalPolicy } from '../../protocol/content/policy.ts';
import type { Localizer } from '../../protocol/text/localized.ts';
import type { CallContext, Tool, ToolContext } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import type { ApprovalSubject, QueuedApproval } from './approvalQueue.ts';
import { localizePlan } from './localizePlan.ts';
import { decidePlannedCallByPolicy } from './policySubject.ts';
import type { SandboxExit } from './sandboxExit.ts';
import { emitStoredEvent } from './storedEvents.ts';

interface Dependencies {
  workspace: Workspace;
  policy(runId: string): ApprovalPolicy;
  ask(subjects: readonly ApprovalSubject[], context: CallContext): Promise<QueuedApproval[]>;
  localizer: Localizer;
  /** Monotonic clock in milliseconds. */
  now(): number;
}

/**
 * Creates the requests of calls at work, such as for a host that a sandboxed command connects to. Rules, presets and grants decide first,
 * as for a call; each decision is recorded.
 */
export function createAccessRequests({ workspace, policy, ask, localizer, now }: Dependencies) {
  /** @param exit leaves the sandbox of the call; absent if that is not offered */
  return (call: ToolCall, context: CallContext, exit?: SandboxExit): ToolContext['requestAccess'] =>
    async ({ tool: name, target, isUnattended, offersOutside, ...texts }, signal) => {
      const plan = { ...texts, tool: name, run: () => Promise.reject(new Error('An access is no call.')) };
      const tool: Tool = {
        definition: { name, description: '', parameters: {} },
        risk: 'execute',
        arguments: z.unknown(),
      };
      const current = context.workspace ?? workspace;
      const signals = AbortSignal.any([context.signal, signal, exit?.signal].filter((one) => one !== undefined));
      const shown = { ...localizePlan(plan, localizer), ...(exit && offersOutside && { offersOutside }) };
      const subject = { call, plan: Object.freeze(shown), access: target };
      for (;;) {
        const verdict = await decidePlannedCallByPolicy(
          { tool, args: {}, plan },
          policy(context.runId),
          context,
          current,
        );
        if (isUnattended) return verdict.effect === 'allow';
        if (verdict.effect !== 'ask') {
          const decision = verdict.effect === 'allow' ? ('allow' as const) : ('deny' as const);
          const { reason: automatic, basis } = verdict;
          const end = { target, decision, waitedMs: 0, automatic, ...(basis && { basis }) };
          await emitStoredEvent(context, { type: 'access', toolCallId: call.id, name, ...end });
          return verdict.effect === 'allow';
        }
        const [asked] = await ask([subject], { ...context, signal: signals, canHold: undefined });
        const began = now();
        const answer = await asked!.answer.catch(() => undefined);
        if (answer?.outside) exit?.choose(Math.max(0, Math.round(now() - began)));
        if (answer) return answer.decision !== 'deny';
        await emitStoredEvent(context, {
          type: 'question',
          toolCallId: call.id,
          question: nothingAsked,
          access: true,
          isOver: true,
        });
        if (signals.aborted) return false;
        // Another answer has decided it.
      }
    };
}

const nothingAsked = { id: '', what: '', where: '', why: '' };
