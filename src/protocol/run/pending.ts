import type { Message, ToolCall } from '../content/messages.ts';
import { type Dictionary, entriesOf } from '../values/dictionary.ts';
import type { CallState, Run } from './run.ts';

/** A call without a result is pending. Derived, never stored: a run reopened mid-question finds its own loose ends. */
export function pendingCalls(messages: readonly Message[]): ToolCall[] {
  const answered = new Set<string>();
  const calls: ToolCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') calls.push(...(message.toolCalls ?? []));
    if (message.role === 'tool') for (const result of message.toolResults) answered.add(result.toolCallId);
  }
  return calls.filter((call) => !answered.has(call.id));
}

/** The call was put to the user, who has neither denied it nor seen it start. An approval whose call did not start is asked for again. */
export const needsApproval = (state: CallState | undefined): boolean =>
  state?.proposed !== undefined && !hasBegun(state) && state.decision !== 'deny';

/** A call that was interrupted, and that the user wants to run again, has not begun again. */
const hasBegun = ({ startedAt, ok, again }: CallState): boolean =>
  (startedAt !== undefined && !again) || ok !== undefined;

/** Ids of the calls that need an approval, oldest first; those of workflow nodes stand in no message. */
export const openApprovals = ({ calls, readOnly }: Pick<Run, 'calls' | 'readOnly'>): string[] =>
  readOnly
    ? []
    : entriesOf(calls)
        .filter(([, state]) => needsApproval(state))
        .sort(([, { requestSeq: one = 0 }], [, { requestSeq: other = 0 }]) => one - other)
        .map(([id]) => id);

/**
 * Calls of a conversation that can go on without a new request to the model, because one of them needs an approval: that one, and
 * those of the same reply whose turn had not come.
 * @param prefix what the ids have in `calls` before those in the messages
 */
export function openCalls(
  messages: readonly Message[],
  calls: Readonly<Dictionary<CallState>>,
  prefix = '',
): ToolCall[] {
  const stateOf = ({ id }: ToolCall) => (Object.hasOwn(calls, prefix + id) ? calls[prefix + id] : undefined);
  const open = pendingCalls(messages).filter((call) => {
    const state = stateOf(call);
    return !state || (!hasBegun(state) && state.decision !== 'deny');
  });
  return open.some((call) => needsApproval(stateOf(call))) ? open : [];
}
