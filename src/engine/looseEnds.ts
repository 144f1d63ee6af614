import { callIdsIn } from '../llm/callIds.ts';
import { pendingCalls } from '../protocol/messages.ts';
import { failure, toToolResult } from '../protocol/tools.ts';
import type { RunLog } from './log.ts';

export const interrupted = failure(
  'TOOL_INTERRUPTED',
  'The run ended while this was running. It may have had its effect: check before doing it again.',
);
export const unanswered = failure('TOOL_DENIED', 'The run ended before this was answered. It did not run.', {
  words: 'closed',
});

/**
 * Calls that the editor's end, or a stop that they did not heed, left without a result. One that was started may have had
 * its effect: `TOOL_INTERRUPTED`, never repeated by itself. One that was not started did not run: an unanswered question is
 * a no.
 */
export async function answerLooseEnds(log: RunLog): Promise<void> {
  await endActions(log);
  for (const call of pendingCalls(log.run.messages)) {
    const state = log.run.calls[call.id];
    const begun = state?.startedAt !== undefined;
    const outcome = begun ? interrupted : unanswered;
    if (state?.status !== 'done')
      await log.emit({
        type: 'tool-end',
        toolCallId: call.id,
        name: call.name,
        ok: false,
        ms: 0,
        code: outcome.error.code,
      });
    await log.emit({
      type: 'message',
      message: { role: 'tool', content: '', toolResults: [toToolResult(call.id, outcome)] },
    });
  }
}

/** The same for the calls of workflow nodes, which are in no message. */
async function endActions({ run, emit }: RunLog): Promise<void> {
  const asked = callIdsIn(run.messages);
  for (const [toolCallId, state] of Object.entries(run.calls)) {
    if (asked.has(toolCallId) || state.status === 'done') continue;
    const code = state.startedAt === undefined ? 'TOOL_DENIED' : 'TOOL_INTERRUPTED';
    await emit({ type: 'tool-end', toolCallId, name: '', ok: false, ms: 0, code });
  }
}
