import { stringify } from 'safe-stable-stringify';
import type { ToolCall } from '../../protocol/content/messages.ts';
import type { ToolOutcome } from '../../protocol/content/tools.ts';
import type { RecordedOutcome, WorkflowStepStart } from '../../protocol/run/events.ts';
import { readFileChangeStates } from '../changes/changeState.ts';
import type { CallContext, CompletedStepRecord, ToolCallPlan } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { sha256 } from '../sandbox/fileText.ts';

// A workflow step wants an effect. An error about an existing effect would only repeat forever, so it counts as success.

export function stepStartRecord(
  call: ToolCall,
  plan: ToolCallPlan | undefined,
  { step }: CallContext,
): { step?: WorkflowStepStart } {
  return step && plan?.data ? { step: { argumentsId: argumentsIdOf(call), data: plan.data() } } : {};
}

export async function findCompletedStepResult(
  call: ToolCall,
  done: CompletedStepRecord,
  workspace: Workspace,
): Promise<object | undefined> {
  if (done.argumentsId !== argumentsIdOf(call)) return undefined;
  const { changes, moved } = await readFileChangeStates(workspace, done);
  const all = [...changes, ...(moved ? [moved] : [])];
  return all.length > 0 && all.every((one) => one === 'after') ? { ...Object(done.data), changed: true } : undefined;
}

/** Returns the outcome for `tool-end`. A stop is no outcome: the effect is unknown. */
export function toRecordedOutcome(outcome: ToolOutcome): { outcome?: RecordedOutcome } {
  if (outcome.ok) return { outcome: { data: outcome.data } };
  return outcome.error.code === 'TOOL_INTERRUPTED' ? {} : { outcome: { error: outcome.error } };
}

const argumentsIdOf = ({ name, arguments: given }: ToolCall): string => sha256(stringify([name, given]) ?? '');
