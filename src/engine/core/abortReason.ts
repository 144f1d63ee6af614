import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunPhase } from '../../protocol/run/events.ts';
import type { AbortReason } from '../../protocol/text/codes.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';

/** Where a run hands back to the person. */
export interface StopPoint {
  phase: Exclude<RunPhase, 'Running'>;
  error?: ErrorInfo;
  /** The limit of turns that it has reached. */
  turns?: number;
  /** A denial of the user holds it. */
  held?: true;
}

/** The reason a run's signal is aborted with: where the loop is to hand back. */
export class RunAborted extends Error {
  constructor(readonly point: StopPoint) {
    super(point.error?.message);
  }

  static byPerson = (): RunAborted =>
    new RunAborted({ phase: 'Failed', error: { code: 'ENGINE_ABORTED', ...toErrorInfo(message('Stopped.')) } });

  /** Nothing happens that is not recorded. */
  static byStore = (error: ErrorInfo): RunAborted => new RunAborted({ phase: 'Failed', error });

  static byClosing = (): RunAborted => new RunAborted({ phase: 'WaitingUser', error: closedError() });
}

/** Thrown where a workflow can go no further until the person decides: it rests at this point, and goes on from the same step. */
export class RunSuspended extends Error {
  constructor(readonly point: StopPoint) {
    super('The run rests.');
  }
}

/** Error of a run that was at work when the editor closed. */
export const closedError = (): ErrorInfo => ({
  code: 'ENGINE_ABORTED',
  ...toErrorInfo(
    message(
      'Interrupted: the editor closed while this run was in progress. Nothing was lost; calls without approval did not run.',
    ),
  ),
  reason: 'closed' satisfies AbortReason,
});

/** Where an aborted run hands back. */
export const stopPointOf = (signal: AbortSignal): StopPoint => (signal.reason as RunAborted).point;

/** The run is to go on with the next start, where it is. */
export const isClosing = (signal: AbortSignal): boolean =>
  signal.aborted && stopPointOf(signal).phase === 'WaitingUser';
