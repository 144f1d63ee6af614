import { isDeepStrictEqual } from 'node:util';
import type { ToolOutcome } from '../../protocol/content/tools.ts';
import { type AskedPlan, type CallPlan, ToolError } from '../core/tool.ts';
import { lineDiff } from '../edit/diff.ts';

/** The part of a plan that a person sees and says yes to. `why` is a reason to look, not a part of what is done. */
export interface ShownCall {
  what: string;
  where: string;
  paths?: CallPlan['paths'];
  change?: CallPlan['change'];
  command?: string;
  timeLimit?: number;
  /** Of an MCP server's tool: whose it is, and what it says about itself. */
  origin?: { identity: string; definition: string };
  /** Names of what would be lost. */
  loss: readonly string[];
  /** It may be covered by an *Allow for this run*: no place that is always asked about. */
  ordinary: boolean;
}

/** @param edited what the person made of the new text or the command */
export function shownOf(
  { what, where, paths, change, command, timeLimit, origin, grant, loss }: AskedPlan,
  edited?: string,
): ShownCall {
  return {
    what,
    where,
    ...(paths && { paths }),
    ...(change && { change: { ...change, after: edited ?? change.after } }),
    ...(command !== undefined && { command: edited ?? command }),
    ...(timeLimit !== undefined && { timeLimit }),
    ...(origin && { origin: { identity: origin.identity, definition: origin.definition } }),
    loss: loss?.items ?? [],
    ordinary: grant !== undefined,
  };
}

/** Compares what would be done now with what was shown. Less may be lost than that, never more. */
export function isShown(plan: AskedPlan, shown: ShownCall): boolean {
  const { loss, ...now } = shownOf(plan);
  const { loss: lossShown, ...before } = shown;
  return (
    isDeepStrictEqual(now, loss.length < lossShown.length ? { ...before, ordinary: now.ordinary } : before) &&
    loss.every((one) => lossShown.includes(one))
  );
}

/** The arguments that a person wrote as JSON. Throws `TOOL_ARGS_INVALID_JSON`. */
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

/** What the person made of a call: the difference of the texts, the new command, or the new arguments. */
export function changedByPerson(proposed: AskedPlan, plan: AskedPlan | undefined, args: unknown): unknown {
  if (proposed.change && plan?.change)
    return lineDiff(proposed.change.after ?? '', plan.change.after ?? '', longestDifference);
  return plan?.command ?? args;
}

/** The outcome of a call that ran otherwise than the model wrote it, so that the model knows. */
export function withChange(outcome: ToolOutcome, changedByPerson: unknown): ToolOutcome {
  const add = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value, changedByPerson }
      : { ...(value !== undefined && { value }), changedByPerson };
  if (outcome.ok) return { ...outcome, data: add(outcome.data) };
  return { ok: false, error: { ...outcome.error, details: add(outcome.error.details) } };
}
