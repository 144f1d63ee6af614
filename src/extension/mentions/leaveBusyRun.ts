import { answerableQuestionIds, pendingApprovalIds } from '../../protocol/run/pending.ts';
import { isRunHeldByDenial } from '../../protocol/run/resumable.ts';
import type { Run } from '../../protocol/run/run.ts';
import type { RunStore } from '../../runs/store.ts';
import type { PanelConversation } from '../runs/conversation.ts';

interface Dependencies {
  conversation: Pick<PanelConversation, 'restored' | 'runId' | 'working' | 'run' | 'open'>;
  store: Pick<RunStore, 'isElsewhere'>;
}

/**
 * Shows a new run if the shown run works, waits for the user, or is in use by another window. A message from the editor then does not
 * change work of which the user is not thinking.
 */
export async function leaveBusyRun({ conversation, store }: Dependencies): Promise<void> {
  await conversation.restored;
  const { runId } = conversation;
  if (runId === undefined) return;
  const isFree = !conversation.working && !(await store.isElsewhere(runId)) && isAtRest(await conversation.run());
  if (!isFree) await conversation.open(undefined);
}

const isAtRest = (run: Run | undefined): boolean =>
  run !== undefined &&
  run.readOnly === undefined &&
  run.queued.length === 0 &&
  pendingApprovalIds(run).length === 0 &&
  answerableQuestionIds(run).length === 0 &&
  !isRunHeldByDenial(run);
