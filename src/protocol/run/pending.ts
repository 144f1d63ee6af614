// @invariant pending-is-derived: A pending call is a call without a result; this state is derived and never stored.
import type { Message, ToolCall } from '../content/messages.ts';
import { type Dictionary, sortedDictionaryEntries } from '../values/dictionary.ts';
import type { CallState, Run } from './run.ts';
import { taskToolName } from './tasks.ts';

/** Returns the calls without a result. The list is derived and never stored, so that a reopened run finds its pending calls. */
export function pendingCalls(messages: readonly Message[]): ToolCall[] {
  const answered = new Set<string>();
  const calls: ToolCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') calls.push(...(message.toolCalls ?? []));
    if (message.role === 'tool') for (const result of message.toolResults) answered.add(result.toolCallId);
  }
  return calls.filter((call) => !answered.has(call.id));
}

/** The call was presented to the user and neither denied nor started. An approved call that did not start needs a new approval. */
export const isAwaitingApproval = (state: CallState | undefined): boolean =>
  state?.proposed !== undefined && !hasBegun(state) && state.decision !== 'deny';

const hasBegun = ({ startedAt, ok, again }: CallState): boolean =>
  (startedAt !== undefined && !again) || ok !== undefined;

/** Ids of calls that need an approval, oldest first. Calls of workflow nodes are not in the conversation. */
export const pendingApprovalIds = ({ calls, readOnly }: Pick<Run, 'calls' | 'readOnly'>): string[] =>
  readOnly
    ? []
    : sortedDictionaryEntries(calls)
        .filter(([, state]) => isAwaitingApproval(state))
        .sort(([, { requestSeq: one = 0 }], [, { requestSeq: other = 0 }]) => one - other)
        .map(([id]) => id);

/** Ids of open user questions that can still be answered when no call runs: a server no longer waits for the answer to its question. */
export const answerableQuestionIds = ({ asking = [], calls }: Pick<Run, 'asking' | 'calls'>): string[] =>
  asking.filter((id) => !calls[id]?.asker);

/**
 * Returns the pending calls of a conversation that continues without a new model request: tasks, the call that needs an approval, and later
 * calls of the same reply.
 *
 * @param prefix prefix of the ids in `calls`
 */
export function callsToContinue(
  messages: readonly Message[],
  calls: Readonly<Dictionary<CallState>>,
  prefix = '',
): ToolCall[] {
  const stateOf = ({ id }: ToolCall) => (Object.hasOwn(calls, prefix + id) ? calls[prefix + id] : undefined);
  const isTask = ({ name }: ToolCall) => name === taskToolName;
  const open = pendingCalls(messages).filter((call) => {
    const state = stateOf(call);
    if (isTask(call) && state?.decision !== 'deny') return true;
    return !state || (!hasBegun(state) && state.decision !== 'deny');
  });
  return open.some((call) => isTask(call) || isAwaitingApproval(stateOf(call))) ? open : [];
}
