import { setTimeout } from 'node:timers/promises';
import { RunSuspendedError, type StopPoint } from '../../engine/core/abortReason.ts';
import type { WorkflowContext } from '../../engine/core/workflow.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import { message } from '../../protocol/text/l10n.ts';
import {
  joinLocalizableTexts,
  messageOf,
  storedLocalizableText,
  toErrorInfo,
  toStoredText,
} from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';
import { WorkflowActionError } from '../action/action.ts';
import type { StepErrorPolicy } from '../plan/schema.ts';

/** Errors that `on_error` never handles: a denial, an unknown effect, an unavailable tool. */
const final = ['TOOL_DENIED', 'TOOL_INTERRUPTED', 'TOOL_NOT_AVAILABLE'];

export const isExcludedFromErrorPolicy = (code: string | undefined): boolean =>
  code !== undefined && final.includes(code);

export const canRetry = (error: unknown, { signal }: Pick<WorkflowContext, 'signal'>): boolean =>
  !signal.aborted &&
  !(error instanceof StoreError || error instanceof RunSuspendedError) &&
  (error instanceof UnattendedInterruption || !isExcludedFromErrorPolicy(stepErrorInfo(error).code));

/**
 * Error of a step interrupted by the editor's exit without a user to decide. `on_error` applies, except `retry`, which could repeat the
 * effect.
 */
export class UnattendedInterruption extends WorkflowActionError {}

const longestWait = 60;

/**
 * Runs work with the retries of `retry` and increasing waits. Throws the last failure, and at once an error that `on_error` does not
 * handle.
 *
 * @param work receives the number of the attempt
 * @param first attempt that was active when the editor exited; else 0
 */
export async function runWithRetries<Value>(
  { retry = 0, wait = 1 }: StepErrorPolicy,
  { context, name }: { context: WorkflowContext; name: string },
  work: (attempt: number) => Promise<Value>,
  first = 0,
): Promise<Value> {
  for (let attempt = first; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= retry || error instanceof UnattendedInterruption || !canRetry(error, context)) throw error;
      const ms = Math.min(wait * 2 ** attempt, Math.max(wait, longestWait)) * 1000;
      const text = message('{0} failed: trying again ({1} of {2})', name, attempt + 1, retry);
      void context.emit({ type: 'progress', ...toStoredText(text), until: Date.now() + ms });
      await setTimeout(ms, undefined, { signal: context.signal }).catch(() => {});
      context.signal.throwIfAborted();
    }
  }
}

const maxReported = 5;

export function mergeStopPoints(failed: readonly StopPoint[]): StopPoint | undefined {
  const [first] = failed;
  const reported = new Map(
    failed.flatMap(({ error }) => (error ? [[error.message, storedLocalizableText(error)] as const] : [])),
  );
  if (!first?.error || reported.size < 2) return first;
  const more = reported.size > maxReported ? [message('And {0} more.', reported.size - maxReported)] : [];
  return {
    ...first,
    error: {
      ...first.error,
      ...toErrorInfo(joinLocalizableTexts([...[...reported.values()].slice(0, maxReported), ...more])),
    },
  };
}

export const nodeErrorOf = (node: string, error: unknown): { node: string; code: string; message: string } => {
  const { code, message } = stepErrorInfo(error);
  return { node, code, message };
};

export function stepErrorInfo(error: unknown): ErrorInfo {
  if (error instanceof WorkflowActionError) return error.info;
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  const text = error instanceof Error || typeof message !== 'string' ? messageOf(error) : message;
  return { code: typeof code === 'string' ? code : 'UNKNOWN', ...toErrorInfo(text) };
}
