import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { EventBody, When } from '../../protocol/run/events.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { RunAborted } from '../core/abortReason.ts';
import { EngineError, toInfo } from '../core/errorInfo.ts';
import type { Active } from './activeRun.ts';
import type { ChangedWaiting } from './messageQueue.ts';
import { isOnlyChosen, type UserInput } from './questionQueue.ts';

/** What the person says to a run, or about it. */
export interface InputDependencies {
  active: ReadonlyMap<string, Active>;
  /** As it is now, at work or at rest. Rejects for a run that cannot be read. */
  read(runId: string): Promise<Run>;
  /** Resolves to why it could not be recorded. Never rejects. */
  note(runId: string, body: EventBody): Promise<unknown>;
}

export type RunInput = { runId: string; when?: When } & UserInput;

/**
 * Words for a run that is at work: the answer to what its model asks, else given `when` it is said: at the next turn, once it is
 * done, or now, for which it is stopped: whoever goes on with it then lets them be heard. Resolves to false when it is not at work.
 */
export async function sendInput(
  { active: runs }: InputDependencies,
  { runId, when = 'turn', ...input }: RunInput,
): Promise<boolean> {
  const active = runs.get(runId);
  if (!active || active.ended || active.controller.signal.aborted) return false;
  if (!active.log) return active.early.push({ ...input, when }) > 0;
  if (when === 'turn' && ((await active.asking?.hear(input)) || isOnlyChosen(input))) return true;
  const emitted = active.log.emit({ type: 'queued', ...userTextOf(input), ...(when !== 'turn' && { when }) });
  if (!(await isKept(emitted))) return false; // it has just ended: who speaks now begins anew
  if (when === 'now') active.controller.abort(RunAborted.byPerson());
  return true;
}

/**
 * Changes what waits under a number, in a run at work or at rest. Resolves to false when it waits no more: it was given, or taken back.
 * To be said now, a run at work is stopped: whoever goes on with it then lets it be heard.
 */
export async function changeWaiting(
  hearing: InputDependencies,
  runId: string,
  queued: number,
  { when, ...input }: ChangedWaiting,
): Promise<boolean> {
  if (!(await waitingAt(hearing, runId, queued))) return false;
  await hearing.note(runId, { type: 'queued-change', queued, ...userTextOf(input), when });
  const now = await waitingAt(hearing, runId, queued);
  const isChanged = now?.text === input.userInput && now.when === when;
  if (isChanged && when === 'now') hearing.active.get(runId)?.controller.abort(RunAborted.byPerson());
  return isChanged;
}

/** Takes back what waits under a number. */
export async function withdrawInput(hearing: InputDependencies, runId: string, queued: number): Promise<void> {
  if (await waitingAt(hearing, runId, queued)) await hearing.note(runId, { type: 'queued-remove', queued });
}

/** Records what the person says about a run, at whatever moment: its title, its pin. Resolves to why it could not be kept. */
export async function record(
  hearing: InputDependencies,
  runId: string,
  body: EventBody,
): Promise<ErrorInfo | undefined> {
  const active = hearing.active.get(runId);
  if (active && !active.ended && !active.log?.run.seq) return toInfo(new EngineError('ENGINE_BUSY', beginning));
  const failure = await hearing.note(runId, body);
  return failure === undefined ? undefined : toInfo(failure);
}

/** Words and what goes with them, as they are kept. */
export const userTextOf = ({ userInput: text, attachments }: UserInput) => ({
  text,
  ...(attachments?.length && { attachments: [...attachments] }),
});

/** Nothing waits in a run that was deleted or cannot be read. */
const waitingAt = async ({ read }: InputDependencies, runId: string, queued: number) =>
  (await read(runId).catch(() => undefined))?.queued.find((one) => one.queued === queued);

const isKept = (emitted: Promise<void>): Promise<boolean> =>
  emitted.then(
    () => true,
    () => false,
  );

/** A record begins with how the run began. */
const beginning = message('This run is just starting. Try again in a moment.');
