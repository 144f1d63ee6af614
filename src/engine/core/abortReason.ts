import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunPhase } from '../../protocol/run/events.ts';
import type { AbortReason } from '../../protocol/text/codes.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';

/**
 * Stop point of a run: the user decides on the continuation. `turns`: the turn limit that was reached. `held`: a denial of the user holds
 * the run.
 */
export interface StopPoint {
  phase: Exclude<RunPhase, 'Running'>;
  error?: ErrorInfo;
  turns?: number;
  held?: true;
}

export class RunAbortedError extends Error {
  constructor(readonly point: StopPoint) {
    super(point.error?.message);
  }

  static byPerson = (): RunAbortedError =>
    new RunAbortedError({ phase: 'Failed', error: { code: 'ENGINE_ABORTED', ...toErrorInfo(message('Stopped.')) } });

  static byStore = (error: ErrorInfo): RunAbortedError => new RunAbortedError({ phase: 'Failed', error });

  static byClosing = (): RunAbortedError => new RunAbortedError({ phase: 'WaitingUser', error: editorClosedError() });
}

/** Thrown to suspend a workflow until a decision of the user. The workflow resumes at the same step. */
export class RunSuspendedError extends Error {
  constructor(readonly point: StopPoint) {
    super('The run rests.');
  }
}

export const editorClosedError = (): ErrorInfo => ({
  code: 'ENGINE_ABORTED',
  ...toErrorInfo(
    message(
      'Interrupted: the editor closed while this run was in progress. Nothing was lost; calls without approval did not run.',
    ),
  ),
  reason: 'closed' satisfies AbortReason,
});

export const stopPointOf = (signal: AbortSignal): StopPoint => (signal.reason as RunAbortedError).point;

export const isAbortedByEditorClose = (signal: AbortSignal): boolean =>
  signal.aborted && stopPointOf(signal).phase === 'WaitingUser';
