import { isDeepStrictEqual } from 'node:util';
import type { ToolOutcome } from '../../protocol/content/tools.ts';
import { type ApprovalRequestPlan, type ToolCallPlan, ToolError } from '../core/tool.ts';
import { lineDiff } from '../edit/diff.ts';

/**
 * Visible and approved part of a plan. `why` is excluded, because the reason is no part of the effect. `origin` identifies an MCP server
 * and tool; `loss` holds names of lost data; `ordinary` allows *Allow for this run*.
 */
export interface ApprovedPlanView {
  what: string;
  where: string;
  paths?: ToolCallPlan['paths'];
  change?: ToolCallPlan['change'];
  command?: string;
  timeLimit?: number;
  origin?: { identity: string; definition: string };
  sandbox?: ApprovalRequestPlan['sandbox'];
  loss: readonly string[];
  ordinary: boolean;
}

/**
 * Returns the visible part of a plan.
 * @param edited the user's edit of the new text or the command
 */
export function toApprovedPlanView(
  { what, where, paths, change, command, timeLimit, origin, grant, loss, sandbox }: ApprovalRequestPlan,
  edited?: string,
): ApprovedPlanView {
  return {
    what,
    where,
    ...(paths && { paths }),
    ...(change && { change: { ...change, after: edited ?? change.after } }),
    ...(command !== undefined && { command: edited ?? command }),
    ...(timeLimit !== undefined && { timeLimit }),
    ...(origin && { origin: { identity: origin.identity, definition: origin.definition } }),
    ...(sandbox && { sandbox }),
    loss: loss?.items ?? [],
    ordinary: grant !== undefined,
  };
}

/** Tests if the current plan equals the shown plan. The loss may shrink, but never grow. */
export function matchesApprovedPlanView(plan: ApprovalRequestPlan, shown: ApprovedPlanView): boolean {
  const { loss, ...now } = toApprovedPlanView(plan);
  const { loss: lossShown, ...before } = shown;
  return (
    isDeepStrictEqual(now, loss.length < lossShown.length ? { ...before, ordinary: now.ordinary } : before) &&
    loss.every((one) => lossShown.includes(one))
  );
}

/** Parses arguments that the user wrote as JSON. Throws `TOOL_ARGS_INVALID_JSON`. */
export function parseRevisedArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new ToolError('TOOL_ARGS_INVALID_JSON', `It is not JSON: ${(error as Error).message}`);
  }
  throw new ToolError('TOOL_ARGS_INVALID_JSON', 'It is not a JSON object.');
}

const longestDifference = 8000;

export function describeUserRevision(
  proposed: ApprovalRequestPlan,
  plan: ApprovalRequestPlan | undefined,
  args: unknown,
): unknown {
  if (proposed.change && plan?.change)
    return lineDiff(proposed.change.after ?? '', plan.change.after ?? '', longestDifference);
  return plan?.command ?? args;
}

export function addRevisionToOutcome(outcome: ToolOutcome, changedByPerson: unknown): ToolOutcome {
  const add = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value, changedByPerson }
      : { ...(value !== undefined && { value }), changedByPerson };
  if (outcome.ok) return { ...outcome, data: add(outcome.data) };
  return { ok: false, error: { ...outcome.error, details: add(outcome.error.details) } };
}
