import { type Attachment, userMessage } from '../../protocol/content/messages.ts';
import { failedToolOutcome, type ToolOutcome } from '../../protocol/content/tools.ts';
import type { MessageDeliveryTiming } from '../../protocol/run/events.ts';
import type { QueuedMessage, Run } from '../../protocol/run/run.ts';
import type { RunLog } from '../core/runLog.ts';
import type { Suspension } from '../core/runResult.ts';

export interface QueuedMessageChange {
  userInput: string;
  attachments?: readonly Attachment[];
  when: MessageDeliveryTiming;
}

/** True if a message waits for the next turn: no call starts before its delivery. */
export const hasInterruptingMessage = ({ queued }: Pick<Run, 'queued'>): boolean =>
  queued.some(({ when }) => when !== 'done');

/**
 * Delivers queued messages for this turn: `now` first, then in order. Pending changes and removals apply before each delivery.
 *
 * @param upTo highest number to deliver
 */
export async function deliverQueued(
  log: Pick<RunLog, 'run' | 'emit' | 'idle'>,
  upTo = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (;;) {
    await log.idle();
    const waiting = log.run.queued.filter(({ queued }) => queued <= upTo);
    const next = waiting.find(({ when }) => when === 'now') ?? waiting.find(({ when }) => when === 'turn');
    if (!next) return;
    await deliverQueuedMessage(log, next);
  }
}

/**
 * Returns the next message for the end of the work; one at a time, because each may start new work. Undefined: none, or the work has not
 * succeeded (limit, denial, failure).
 */
export function nextMessageAfterWork(
  { queued, messages }: Run,
  { phase, error }: Suspension,
): QueuedMessage | undefined {
  const last = messages.at(-1);
  const isAnswered = last?.role === 'assistant' && !last.incomplete && !last.toolCalls?.length;
  return !error && (phase === 'Completed' || isAnswered) ? queued[0] : undefined;
}

export const deliverQueuedMessage = (
  { emit }: Pick<RunLog, 'emit'>,
  { text, attachments, queued }: QueuedMessage,
): Promise<void> => emit({ type: 'message', message: userMessage(text, attachments), queued });

export const skippedCallOutcome: ToolOutcome = failedToolOutcome(
  'TOOL_NOT_RUN',
  'Not run: the person said something first. Read it, then ask again for what is still right.',
);

export const isSkippedCallOutcome = (outcome: ToolOutcome): boolean =>
  !outcome.ok && outcome.error.code === 'TOOL_NOT_RUN';
