import { stringify } from 'safe-stable-stringify';
import type { ToolCall } from '../../protocol/content/messages.ts';
import type { ToolOutcome } from '../../protocol/content/tools.ts';
import type { RecordedOutcome, StepStart } from '../../protocol/run/events.ts';
import { changeStateOf } from '../changes/changeState.ts';
import type { CallContext, CallPlan, StepDone } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { sha256 } from '../sandbox/fileText.ts';

// A step of a workflow wants an effect. Unlike a model it learns nothing from hearing that this is there already, and would fail for ever.

/** What a step keeps before it begins, so that it can be told as done when its outcome is lost. */
export function stepStart(call: ToolCall, plan: CallPlan | undefined, { step }: CallContext): { step?: StepStart } {
  return step && plan?.data ? { step: { argumentsId: argumentsIdOf(call), data: plan.data() } } : {};
}

/** What a step gives that was done before: the same one, whose files stand as it left them. */
export async function doneBefore(call: ToolCall, done: StepDone, workspace: Workspace): Promise<object | undefined> {
  if (done.argumentsId !== argumentsIdOf(call)) return undefined;
  const { changes, moved } = await changeStateOf(workspace, done);
  const all = [...changes, ...(moved ? [moved] : [])];
  return all.length > 0 && all.every((one) => one === 'after') ? { ...Object(done.data), changed: true } : undefined;
}

/** As `tool-end` records it. A stop is no outcome: what it came to is not known. */
export function stepOutcome(outcome: ToolOutcome): { outcome?: RecordedOutcome } {
  if (outcome.ok) return { outcome: { data: outcome.data } };
  return outcome.error.code === 'TOOL_INTERRUPTED' ? {} : { outcome: { error: outcome.error } };
}

const argumentsIdOf = ({ name, arguments: given }: ToolCall): string => sha256(stringify([name, given]) ?? '');
