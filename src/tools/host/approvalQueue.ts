import { randomUUID } from 'node:crypto';
import { type AccessTarget, approvalDecisionSchema, type RunEventBody } from '../../protocol/run/events.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import { throwInterrupted } from '../core/interruption.ts';
import type {
  ApprovalAnswer,
  ApprovalRequest,
  ApprovalRequester,
  ApprovalRequestPlan,
  CallContext,
} from '../core/tool.ts';
import { formatFileChange, formatShortFileChange, maxShownDiffLines } from '../edit/diff.ts';
import { hashApprovedPlan } from './approvedPlan.ts';
import { emitStoredEvent } from './storedEvents.ts';

export interface ApprovalSubject extends Pick<ApprovalRequest, 'call' | 'plan' | 'note' | 'draft'> {
  /** Returns the complete plan; absent if already complete. Until then the request is visible but cannot be answered. */
  whenKnown?(): Promise<ApprovalRequestPlan>;
  /** The call is at work and asks for an access. */
  access?: AccessTarget;
}

/** Approval request until its decision. `plan` is the last visible version. */
export interface QueuedApproval {
  readonly plan: ApprovalRequestPlan;
  /** Resolves after the answer is recorded; undefined if withdrawn as obsolete. Rejects if the run stops, or if the record fails. */
  answer: Promise<ApprovalAnswer | undefined>;
  withdraw(): void;
}

interface Open {
  request: ApprovalRequest;
  access?: AccessTarget;
  withdraw(): void;
}

/**
 * Creates the queue of approvals; each call has its own answer. Anything except a clear approval is a denial.
 * @param now monotonic clock in milliseconds
 */
export function createApprovalQueue(approve: ApprovalRequester, now: () => number) {
  const open = new Set<Open>();

  return async function ask(subjects: readonly ApprovalSubject[], context: CallContext): Promise<QueuedApproval[]> {
    const batch = randomUUID();
    const requests = subjects.map(({ whenKnown: _, access: __, ...subject }) =>
      Object.freeze({
        ...subject,
        call: Object.freeze(subject.call),
        id: randomUUID(),
        runId: context.runId,
        batch,
        ...(context.canHold && { canHold: true as const }),
      }),
    );
    // All requests are recorded before the first is shown: after a kill, no visible request is missing in the record.
    for (const [index, request] of requests.entries())
      if (!subjects[index]!.access) await emitStoredEvent(context, onRecord(request)); // an access ends with its window
    for (const [index, request] of requests.entries())
      await emitStoredEvent(context, subjects[index]!.access ? onAccess(request) : onScreen(request));
    const whole = completed(subjects, requests, context); // answerable after all plans are complete
    return requests.map((request, index) => {
      const own = whole.then((all) => all[index]!);
      return begin(request, own, context, subjects[index]!.access);
    });
  };

  async function completed(
    subjects: readonly ApprovalSubject[],
    requests: readonly ApprovalRequest[],
    context: CallContext,
  ): Promise<readonly ApprovalRequest[]> {
    const plans = await Promise.all(subjects.map(({ whenKnown }) => whenKnown?.()));
    const whole = requests.map((request, index) => {
      const plan = plans[index];
      return plan ? Object.freeze({ ...request, plan }) : request;
    });
    for (const [index, request] of whole.entries())
      if (request !== requests[index] && !context.signal.aborted) await emitStoredEvent(context, onScreen(request));
    return whole;
  }

  function begin(
    request: ApprovalRequest,
    whole: Promise<ApprovalRequest>,
    context: CallContext,
    access: AccessTarget | undefined,
  ): QueuedApproval {
    const withdrawal = new AbortController();
    const asked = { request, access, withdraw: () => withdrawal.abort() };
    open.add(asked);
    const answer = settle(asked, whole, context, withdrawal.signal).finally(() => open.delete(asked));
    answer.catch(() => undefined); // the call may never wait for the answer
    return {
      get plan() {
        return asked.request.plan;
      },
      answer,
      withdraw: asked.withdraw,
    };
  }

  async function settle(
    question: Open,
    whole: Promise<ApprovalRequest>,
    context: CallContext,
    withdrawn: AbortSignal,
  ): Promise<ApprovalAnswer | undefined> {
    let asked = now();
    const signal = AbortSignal.any([context.signal, withdrawn]);
    // An exception counts as a denial, like any unclear answer.
    const answering = whole
      .then((request) => {
        question.request = request;
        asked = now();
        return approve(request, signal);
      })
      .catch(() => undefined);
    const given = await raceWithAbort(answering, signal, throwInterrupted).catch((stopped) => {
      if (context.signal.aborted) throw stopped;
      return 'withdrawn' as const;
    });
    if (given === 'withdrawn' || given?.isDecidedAgain) return undefined;
    const { request } = question;
    const answer = understood(given, request.plan);
    const { decision, words, edited, holds } = answer;
    outdate(request, answer, context);
    const waitedMs = Math.max(0, Math.round(now() - asked));
    const parts = {
      ...(words && { words }),
      ...(edited !== undefined && { edited: true }),
      ...(holds && request.canHold && { holds }),
    };
    const { title, tool } = request.plan;
    const { id: toolCallId, name } = request.call;
    if (question.access) {
      const { access: target } = question;
      await emitStoredEvent(context, { type: 'access', toolCallId, name: tool ?? name, target, decision, waitedMs });
      return answer;
    }
    await emitStoredEvent(context, {
      type: 'approval',
      toolCallId,
      name,
      ...(title && { title }),
      decision,
      waitedMs,
      ...parts,
    });
    return answer;
  }

  /** Withdraws other open requests that this answer decides, and later requests based on a denied or edited change. */
  function outdate(
    { id, runId, batch, plan, call }: ApprovalRequest,
    answer: ApprovalAnswer,
    context: CallContext,
  ): void {
    const isYes = answer.decision === 'allow-run' || (answer.decision === 'allow' && plan.once);
    const covered = isYes && answer.edited === undefined ? plan.grant : undefined;
    if (covered !== undefined) context.grants.add(covered);
    const file = answer.decision === 'deny' || answer.edited !== undefined ? plan.change?.realPath : undefined;
    const others = [...open].filter(({ request }) => request.runId === runId);
    const later = others.slice(others.findIndex(({ request }) => request.id === id) + 1);
    for (const one of others)
      if (covered !== undefined && one.request.id !== id && one.request.plan.grant === covered) one.withdraw();
    for (const one of others)
      if (answer.always && one.request.id !== id && ruledTool(one.request) === ruledTool({ plan, call }))
        one.withdraw();
    for (const one of later)
      if (file !== undefined && one.request.batch === batch && one.request.plan.change?.realPath === file)
        one.withdraw();
  }
}

/** Tool by which rules name a request. */
const ruledTool = ({ plan, call }: Pick<ApprovalRequest, 'plan' | 'call'>): string => plan.tool ?? call.name;

function understood(given: ApprovalAnswer | undefined, { offersOutside }: ApprovalRequestPlan): ApprovalAnswer {
  if (offersOutside && given?.decision === 'deny' && given.outside === true) return { decision: 'deny', outside: true };
  const decision = approvalDecisionSchema.safeParse(given?.decision).data ?? 'deny';
  if (decision === 'deny') {
    const feedback = typeof given?.words === 'string' ? given.words.trim() : '';
    return { decision, ...(feedback ? { words: feedback } : given?.holds === true && { holds: true }) };
  }
  // An edited plan is allowed only as edited, without a rule.
  if (typeof given?.edited === 'string') return { decision: 'allow', edited: given.edited };
  return { decision, ...(given?.always === true && { always: true }) };
}

function onRecord({ id, call, plan }: ApprovalRequest): RunEventBody {
  const { change } = plan;
  const isText = change && change.after !== null;
  const diff = isText ? formatShortFileChange(change.path, change.before, change.after!) : undefined;
  const { what, where } = plan.english ?? plan;
  const command = plan.command !== undefined && { command: plan.command };
  const question = { id, what, where, why: '', ...command, ...(diff && { diff }) };
  const subject = { toolCallId: call.id, name: call.name, ...(plan.title && { title: plan.title }) };
  return { type: 'approval-request', ...subject, question, proposed: hashApprovedPlan(plan) };
}

function onAccess({ id, call, plan }: ApprovalRequest): RunEventBody {
  const { what, where, why, details, english } = plan;
  const question = { id, what, where, why, ...(english && { english }), ...(details && { command: details }) };
  return { type: 'question', toolCallId: call.id, question, access: true };
}

function onScreen({ id, call, plan, note }: ApprovalRequest): RunEventBody {
  const { change, title } = plan;
  const diff =
    change && change.after !== null && formatFileChange(change.path, change.before, change.after, maxShownDiffLines);
  const { what, where, english, command } = plan;
  const why = [plan.loss?.text, plan.why].filter(Boolean).join(' ');
  const subject = { what, where, why, ...(english && { english }), ...(command !== undefined && { command }) };
  const question = { id, ...subject, ...(note !== undefined && { note }), ...(diff && { diff }) };
  return { type: 'question', toolCallId: call.id, question, ...(title && { title }) };
}
