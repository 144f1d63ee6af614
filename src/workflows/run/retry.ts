import { setTimeout } from 'node:timers/promises';
import { RunSuspended, type StopPoint } from '../../engine/core/abortReason.ts';
import type { WorkflowContext } from '../../engine/core/workflow.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import { message } from '../../protocol/text/l10n.ts';
import { joined, localizedMessageIn, messageOf, textAs, toErrorInfo } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';
import { ActionError } from '../action/action.ts';
import type { OnError } from '../plan/schema.ts';

/** What is no failure of the work, so that no `on_error` is for it: a no of the person, an effect nobody knows, a tool that is not there. */
const final = ['TOOL_DENIED', 'TOOL_INTERRUPTED', 'TOOL_NOT_AVAILABLE'];

export const isFinal = (code: string | undefined): boolean => code !== undefined && final.includes(code);

/** `on_error` is for this. */
export const canRetry = (error: unknown, { signal }: Pick<WorkflowContext, 'signal'>): boolean =>
  !signal.aborted &&
  !(error instanceof StoreError || error instanceof RunSuspended) &&
  (error instanceof UnattendedInterruption || !isFinal(errorOf(error).code));

/** The editor's end interrupted a step, and no person is there to decide: `on_error` does, but for `retry`, which could repeat the effect. */
export class UnattendedInterruption extends ActionError {}

const longestWait = 60;

/**
 * Does it, and again after a failure, as often as `retry` says, each time after a longer wait. Throws the last failure, and at once what
 * `on_error` is not for.
 * @param work is told which attempt it is
 * @param first the attempt that was at work when the editor ended; 0 without one
 */
export async function retried<Value>(
  { retry = 0, wait = 1 }: OnError,
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
      const words = message('{0} failed: trying again ({1} of {2})', name, attempt + 1, retry);
      void context.emit({ type: 'progress', ...textAs(words), until: Date.now() + ms });
      await setTimeout(ms, undefined, { signal: context.signal }).catch(() => {});
      context.signal.throwIfAborted();
    }
  }
}

/** Failures that are said of one part. */
const mostSaid = 5;

/** What several lines failed for, each thing said once; undefined when none did. */
export function mergeStopPoints(failed: readonly StopPoint[]): StopPoint | undefined {
  const [first] = failed;
  const said = new Map(
    failed.flatMap(({ error }) => (error ? [[error.message, localizedMessageIn(error)] as const] : [])),
  );
  if (!first?.error || said.size < 2) return first;
  const more = said.size > mostSaid ? [message('And {0} more.', said.size - mostSaid)] : [];
  return {
    ...first,
    error: { ...first.error, ...toErrorInfo(joined([...[...said.values()].slice(0, mostSaid), ...more])) },
  };
}

/** What stands in the state as `error`. */
export const errorIn = (node: string, error: unknown): { node: string; code: string; message: string } => {
  const { code, message } = errorOf(error);
  return { node, code, message };
};

/** An error that is thrown, as it is told. */
export function errorOf(error: unknown): ErrorInfo {
  if (error instanceof ActionError) return error.info;
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  const words = error instanceof Error || typeof message !== 'string' ? messageOf(error) : message;
  return { code: typeof code === 'string' ? code : 'UNKNOWN', ...toErrorInfo(words) };
}
