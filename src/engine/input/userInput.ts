import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { MessageDeliveryTiming, RunEventBody } from '../../protocol/run/events.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { RunAbortedError } from '../core/abortReason.ts';
import { errorInfoOf, RunError } from '../core/errorInfo.ts';
import type { ActiveRun } from './activeRun.ts';
import type { QueuedMessageChange } from './messageQueue.ts';
import { hasOnlyChoices, type UserInput } from './questionQueue.ts';

/**
 * Dependencies of user input. `read` returns the current run and rejects if unreadable; `note` resolves to the error of a failed record.
 */
export interface InputDependencies {
  active: ReadonlyMap<string, ActiveRun>;
  read(runId: string): Promise<Run>;
  note(runId: string, body: RunEventBody): Promise<unknown>;
}

export type RunInput = { runId: string; when?: MessageDeliveryTiming } & UserInput;

/**
 * Sends input to a running run: as the answer to a user question, else `when` requested. `now` stops the run, and its continuation delivers
 * the message. Resolves to false if the run is not running.
 */
export async function sendInput(
  { active: runs }: InputDependencies,
  { runId, when = 'turn', ...input }: RunInput,
): Promise<boolean> {
  const active = runs.get(runId);
  if (!active || active.ended || active.undoing || active.controller.signal.aborted) return false;
  if (!active.log) return active.early.push({ ...input, when }) > 0;
  if (when === 'turn' && ((await active.asking?.receive(input)) || hasOnlyChoices(input))) return true;
  const emitted = active.log.emit({ type: 'queued', ...userTextOf(input), ...(when !== 'turn' && { when }) });
  if (!(await isStored(emitted))) return false; // just ended: the input starts new work
  if (when === 'now') active.controller.abort(RunAbortedError.byPerson());
  return true;
}

/**
 * Changes a queued message, in a run at work or at rest. Resolves to false if already delivered or removed. `now` stops a running run, and
 * its continuation delivers the message.
 */
export async function changeQueuedMessage(
  dependencies: InputDependencies,
  runId: string,
  queued: number,
  { when, ...input }: QueuedMessageChange,
): Promise<boolean> {
  if (!(await waitingAt(dependencies, runId, queued))) return false;
  await dependencies.note(runId, { type: 'queued-change', queued, ...userTextOf(input), when });
  const now = await waitingAt(dependencies, runId, queued);
  const isChanged = now?.text === input.userInput && now.when === when;
  const active = dependencies.active.get(runId);
  if (isChanged && when === 'now' && !active?.undoing) active?.controller.abort(RunAbortedError.byPerson());
  return isChanged;
}

export async function withdrawInput(dependencies: InputDependencies, runId: string, queued: number): Promise<void> {
  if (await waitingAt(dependencies, runId, queued)) await dependencies.note(runId, { type: 'queued-remove', queued });
}

/** Records metadata by the user (title, pin) at any time. Resolves to the error of a failed record. */
export async function recordRunMetadata(
  dependencies: InputDependencies,
  runId: string,
  body: RunEventBody,
): Promise<ErrorInfo | undefined> {
  const active = dependencies.active.get(runId);
  if (active && !active.ended && !active.log?.run.seq) return errorInfoOf(new RunError('ENGINE_BUSY', beginning));
  const failure = await dependencies.note(runId, body);
  return failure === undefined ? undefined : errorInfoOf(failure);
}

export const userTextOf = ({ userInput: text, attachments }: UserInput) => ({
  text,
  ...(attachments?.length && { attachments: [...attachments] }),
});

const waitingAt = async ({ read }: InputDependencies, runId: string, queued: number) =>
  (await read(runId).catch(() => undefined))?.queued.find((one) => one.queued === queued);

const isStored = (emitted: Promise<void>): Promise<boolean> =>
  emitted.then(
    () => true,
    () => false,
  );

const beginning = message('This run is just starting. Try again in a moment.');
