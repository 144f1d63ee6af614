// @invariant approved-plan-is-executed: An approval covers exactly the plan that was shown; a plan that changed requires a new approval.
import type { ToolCall } from '../../protocol/content/messages.ts';
import { failedToolOutcome, type ToolOutcome } from '../../protocol/content/tools.ts';
import type { ProposedToolCallHashes } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import type { Localizer } from '../../protocol/text/localized.ts';
import { throwIfInterrupted } from '../core/interruption.ts';
import { toFailureOutcome } from '../core/outcome.ts';
import type { FileChange } from '../core/tool.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequestPlan,
  type CallContext,
  type Tool,
  type ToolCallPlan,
  ToolError,
} from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import type { Verdict } from '../policy/policy.ts';
import type { ApprovalSubject, QueuedApproval } from './approvalQueue.ts';
import { planDifferenceText, staleEditError } from './approvedPlan.ts';
import type { PlannedToolCall } from './policySubject.ts';
import { emitStoredEvent } from './storedEvents.ts';
import {
  type ApprovedPlanView,
  describeUserRevision,
  matchesApprovedPlanView,
  parseRevisedArguments,
  toApprovedPlanView,
} from './userRevision.ts';

export interface PreparedToolCall {
  tool: Tool;
  args: unknown;
  plan?: ApprovalRequestPlan;
  verdict: Verdict;
  /** Returns the complete plan including losses; absent if already complete. The user is asked in any case. */
  whenKnown?(): Promise<PreparedToolCall>;
}

/**
 * Plans a call without side effects. `args` are already checked arguments; `asks` forces an approval; `revised` marks arguments edited by
 * the user. Throws `ToolError`.
 */
export type ToolCallPreparer = (
  call: ToolCall,
  context: CallContext,
  known?: { world?: Workspace; args?: unknown; asks?: boolean; revised?: boolean },
) => Promise<PreparedToolCall>;

interface Dependencies {
  workspace: Workspace;
  prepare: ToolCallPreparer;
  judged(planned: PlannedToolCall, context: CallContext): Promise<PreparedToolCall>;
  ask(subjects: readonly ApprovalSubject[], context: CallContext): Promise<QueuedApproval[]>;
  localizer: Localizer;
}

type Agreed = PreparedToolCall & { changed?: unknown };

/**
 * Creates the approval loop. Approvals repeat until the approved plan equals the current plan: files may change during a request, the user
 * may edit the plan, and trust may be revoked. Calls of one reply are requested together.
 */
export function createApprovalFlow({ workspace, prepare, judged, ask, localizer }: Dependencies) {
  const asked = new WeakMap<ToolCall, { question: QueuedApproval; args: unknown; denied?: boolean }>();

  /** @param following later calls of the same reply without an approval request yet */
  return async function agree(
    call: ToolCall,
    context: CallContext,
    following: readonly ToolCall[],
  ): Promise<Agreed | { denied: ToolOutcome }> {
    let work = (args?: unknown) => prepare(call, context, { args, asks });
    let checked = asked.get(call)?.args;
    let question = asked.get(call)?.question;
    const before = context.proposed?.(call.id);
    let asks = before !== undefined && !question;
    let together = question ? [] : following;
    let proposed: ApprovalRequestPlan | undefined;
    let shown: ApprovedPlanView | undefined;
    let again: Pick<ApprovalSubject, 'note' | 'draft'> = {};
    for (;;) {
      const begun = await work(checked).catch((error) => {
        question?.withdraw(); // obsolete
        throw asks ? staleEditError(before!, error) : error;
      });
      // A request may be visible before its plan is complete; the visible part is compared with the complete plan.
      const prepared = (shown || question) && begun.whenKnown ? await begun.whenKnown() : begun;
      const { plan, args, verdict } = prepared;
      checked = args; // the same object is shown, checked and executed
      const changed = proposed && { changed: describeUserRevision(proposed, plan, args) };
      if (verdict.effect === 'deny') {
        question?.withdraw();
        return refusedBy(call, verdict, context);
      }
      if (!plan) return { ...prepared, ...changed };
      // An approved call runs as shown, not in its read-only form.
      if (shown && matchesApprovedPlanView(plan, shown))
        return { ...prepared, ...changed, verdict: { ...verdict, onlyReads: undefined } };
      if (shown) again = { note: localizer(message('The content has changed since it was shown.')) };
      if (question && !matchesApprovedPlanView(plan, toApprovedPlanView(question.plan))) question.withdraw(); // still waiting

      if (!question) {
        if (verdict.effect === 'allow') {
          await reportVerdict(call, verdict, context);
          return { ...prepared, ...changed };
        }
        const subject = {
          call: withArguments(call, args),
          plan,
          whenKnown: planWhenKnown(prepared),
          ...(asks && sinceProposed(before!, plan)),
          ...again,
        };
        question = await askWith(subject, together, context);
        asks = false;
      }
      const answer = await question.answer;
      const { plan: shownPlan } = question;
      question = undefined;
      together = [];
      shown = answer && toApprovedPlanView(shownPlan, answer.edited);
      if (answer?.decision === 'deny') return { denied: denied(answer.words) };
      if (answer?.edited === undefined) continue;
      const { edited } = answer;
      try {
        const revised = await revise(call, prepared, edited, context);
        if (revised.verdict.effect === 'deny') throw new ToolError('TOOL_DENIED', revised.verdict.reason);
        work = () => revise(call, prepared, edited, context);
        proposed ??= plan;
      } catch (error) {
        throwIfInterrupted(context.signal);
        const { message: text } = toFailureOutcome(error, context.signal).error;
        again = { note: localizer(message('Your change is invalid. {0}', text)), draft: edited };
        shown = undefined;
      }
    }
  };

  function sinceProposed(proposed: ProposedToolCallHashes, plan: ApprovalRequestPlan): Pick<ApprovalSubject, 'note'> {
    const difference = planDifferenceText(proposed, plan);
    return difference === undefined ? {} : { note: localizer(difference) };
  }

  async function askWith(
    subject: ApprovalSubject,
    following: readonly ToolCall[],
    context: CallContext,
  ): Promise<QueuedApproval> {
    const ahead = await planAhead(subject.plan, following, context);
    const [own, ...others] = await ask([subject, ...ahead.map((one) => one.subject)], context);
    for (const [index, question] of others.entries()) {
      const { call, subject } = ahead[index]!;
      const pending: { question: QueuedApproval; args: unknown; denied?: boolean } = {
        question,
        args: subject.call.arguments,
      };
      asked.set(call, pending);
      const settled = (answer?: ApprovalAnswer) => {
        pending.denied = answer?.decision !== 'allow' && answer?.decision !== 'allow-run';
      };
      question.answer.then(settled, () => settled());
    }
    return own!;
  }

  /**
   * Plans following calls on top of the changes of the calls before. Calls that fail to plan are handled in their turn, and so are later
   * calls for the same files. Earlier requests stay unchanged.
   */
  async function planAhead(first: ApprovalRequestPlan, following: readonly ToolCall[], context: CallContext) {
    const ahead: { call: ToolCall; subject: ApprovalSubject }[] = [];
    const changes = first.change ? [first.change] : [];
    const unreported: string[] = [];
    for (const call of following) {
      const before = asked.get(call);
      if (before) {
        const { change } = before.question.plan;
        if (change && !before.denied) changes.push(change);
        continue;
      }
      try {
        const proposed = context.proposed?.(call.id);
        const prepared = await prepare(call, context, {
          world: workspaceAfter(context.workspace ?? workspace, changes),
          asks: proposed !== undefined,
        });
        const { plan, args, verdict } = prepared;
        if (!plan) continue; // read-only
        const gone = changes.some(({ after, realPath }) => after === null && realPath === plan.change?.realPath);
        if (gone || pathsOfPlan(plan).some((path) => unreported.some((text) => text.includes(path)))) {
          unreported.push(namedBy(call));
          continue;
        }
        if (plan.change && verdict.effect !== 'deny') changes.push(plan.change);
        const since = proposed && sinceProposed(proposed, plan);
        const whenKnown = planWhenKnown(prepared);
        if (verdict.effect === 'ask')
          ahead.push({ call, subject: { call: withArguments(call, args), plan, whenKnown, ...since } });
      } catch {
        throwIfInterrupted(context.signal);
        unreported.push(namedBy(call));
      }
    }
    return ahead;
  }

  async function revise(
    call: ToolCall,
    prepared: PreparedToolCall,
    edited: string,
    context: CallContext,
  ): Promise<PreparedToolCall> {
    const { tool, args, plan } = prepared;
    if (!plan?.revise) return prepare(withArguments(call, parseRevisedArguments(edited)), context, { revised: true });
    return judged({ tool, args, plan: await plan.revise(edited) }, context);
  }
}

const planWhenKnown = ({ whenKnown }: PreparedToolCall): ApprovalSubject['whenKnown'] =>
  whenKnown && (async () => (await whenKnown()).plan!);

async function reportVerdict(call: ToolCall, { effect, reason, basis }: Verdict, context: CallContext): Promise<void> {
  const decision = effect === 'allow' ? 'allow' : 'deny';
  const { id: toolCallId, name } = call;
  await emitStoredEvent(context, {
    type: 'approval',
    toolCallId,
    name,
    decision,
    waitedMs: 0,
    automatic: reason,
    ...(basis && { basis }),
  });
}

async function refusedBy(call: ToolCall, verdict: Verdict, context: CallContext): Promise<{ denied: ToolOutcome }> {
  await reportVerdict(call, verdict, context);
  return { denied: failedToolOutcome('TOOL_DENIED', `${verdict.reason} Nothing was run.`) };
}

function denied(feedback: string | undefined): ToolOutcome {
  if (!feedback) return failedToolOutcome('TOOL_DENIED', 'The person did not allow this. Nothing was run.');
  return failedToolOutcome('TOOL_DENIED', `The person did not allow this and said: ${feedback}`, { words: feedback });
}

const pathsOfPlan = ({ paths, change }: ToolCallPlan): readonly string[] => paths ?? (change ? [change.path] : []);

const namedBy = (call: ToolCall): string => call.malformed ?? JSON.stringify(call.arguments) ?? '';

const withArguments = (call: ToolCall, args: unknown): ToolCall => ({
  ...call,
  arguments: args as ToolCall['arguments'],
});

function workspaceAfter(workspace: Workspace, changes: readonly FileChange[]): Workspace {
  const texts = new Map(changes.map(({ realPath, after }) => [realPath, after]));
  const refuse = () => Promise.reject(new Error('This workspace is only thought of.'));
  return Object.create(workspace, {
    openText: { value: (path: string) => texts.get(path) ?? workspace.openText(path) },
    isDirty: { value: (path: string) => !texts.has(path) && workspace.isDirty(path) },
    writeText: { value: refuse },
    delete: { value: refuse },
  }) as Workspace;
}
