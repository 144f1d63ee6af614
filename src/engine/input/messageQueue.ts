import { type Attachment, userMessage } from '../../protocol/content/messages.ts';
import { failure, type ToolOutcome } from '../../protocol/content/tools.ts';
import type { When } from '../../protocol/run/events.ts';
import type { Run, Waiting } from '../../protocol/run/run.ts';
import type { RunLog } from '../core/runLog.ts';
import type { Suspension } from '../core/runResult.ts';

/** What waits, as the person wants it now. */
export interface ChangedWaiting {
  userInput: string;
  attachments?: readonly Attachment[];
  when: When;
}

/** Something waits for the next turn: no call begins before it is heard. */
export const isInterrupting = ({ queued }: Pick<Run, 'queued'>): boolean => queued.some(({ when }) => when !== 'done');

/**
 * Gives the model what waits for this turn: what is to be said now first, then in the order it was said in. What is being changed or
 * taken back has been, before each is given: afterwards it is too late.
 * @param upTo the number after which nothing is given yet
 */
export async function giveWaiting(
  log: Pick<RunLog, 'run' | 'emit' | 'idle'>,
  upTo = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (;;) {
    await log.idle();
    const waiting = log.run.queued.filter(({ queued }) => queued <= upTo);
    const next = waiting.find(({ when }) => when === 'now') ?? waiting.find(({ when }) => when === 'turn');
    if (!next) return;
    await give(log, next);
  }
}

/**
 * What waited for the end of the work and is to be given now, one at a time, for each may be work of its own. Undefined where nothing
 * waits, or the work is not done: it rests at a limit, a no or a failure.
 */
export function whenDone({ queued, messages }: Run, { phase, error }: Suspension): Waiting | undefined {
  const last = messages.at(-1);
  const isAnswered = last?.role === 'assistant' && !last.incomplete && !last.toolCalls?.length;
  return !error && (phase === 'Completed' || isAnswered) ? queued[0] : undefined;
}

export const give = ({ emit }: Pick<RunLog, 'emit'>, { text, attachments, queued }: Waiting): Promise<void> =>
  emit({ type: 'message', message: userMessage(text, attachments), queued });

/** The outcome of a call that had not begun when the person spoke. */
export const notRun: ToolOutcome = failure(
  'TOOL_NOT_RUN',
  'Not run: the person said something first. Read it, then ask again for what is still right.',
);

export const isNotRun = (outcome: ToolOutcome): boolean => !outcome.ok && outcome.error.code === 'TOOL_NOT_RUN';
