import type { ToolOutcome } from '../../protocol/content/tools.ts';
import type { RunEventBody, StoredFileChange } from '../../protocol/run/events.ts';
import { isErrorCode } from '../../protocol/text/codeText.ts';
import { readFileChangeStates } from '../changes/changeState.ts';
import { type CallContext, type FileChange, type RemovedEntry, type ToolCallPlan, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { modeAndEncodingOfBytes } from '../sandbox/fileText.ts';

/** Emits an event. If the record fails, throws the store's error, and nothing is executed. */
export async function emitStoredEvent(context: CallContext, event: RunEventBody): Promise<void> {
  try {
    await context.emit(event);
  } catch (error) {
    throw storeError(error);
  }
}

/** Stores the state for undo before execution: an effect without undo is not executed. */
export async function storeUndoState(plan: ToolCallPlan | undefined, context: CallContext): Promise<StoredUndoChanges> {
  const trace = plan?.change ? { changes: [plan.change] } : await plan?.trace?.();
  if (!trace) return {};
  if ('moved' in trace) return trace;
  if ('removed' in trace) return { changes: await keepRemoved(trace.removed, context) };
  const changes: StoredFileChange[] = [];
  for (const change of trace.changes) changes.push(await keepChange(change, context));
  return { changes };
}

export type StoredUndoChanges = Pick<Extract<RunEventBody, { type: 'tool-end' }>, 'changes' | 'moved'>;

async function keepChange(change: FileChange, context: CallContext): Promise<StoredFileChange> {
  const storeContent = async (content: string | null) => (content === null ? null : context.keep(content));
  try {
    return {
      path: change.path,
      before: await storeContent(change.before),
      after: await storeContent(change.after),
      ...change.form,
    };
  } catch (error) {
    throw storeError(error);
  }
}

// Stores several contents in parallel, because each waits for the disk.
async function keepRemoved(removed: readonly RemovedEntry[], context: CallContext): Promise<StoredFileChange[]> {
  const changes: StoredFileChange[] = [];
  for (let at = 0; at < removed.length; at += 16) {
    const some = removed.slice(at, at + 16).map(async ({ content, path, kind, mode }) => {
      const form = kind === 'file' ? modeAndEncodingOfBytes(content, mode) : { mode };
      return { path, before: await context.keep(content), after: null, kind, ...form };
    });
    const settled = await Promise.allSettled(some);
    for (const one of settled) {
      if (one.status === 'rejected') throw storeError(one.reason);
      changes.push(one.value);
    }
  }
  return changes;
}

/** Returns the changes of a failed call, which may be partial: some files of a folder may be deleted. */
export async function changesOfFailedCall(
  { changes, moved }: StoredUndoChanges,
  code: string,
  undoWorkspace: Workspace,
): Promise<StoredUndoChanges> {
  if ((!changes?.length && !moved) || code === 'E_PRECONDITION_FAILED') return {};
  const standing = await readFileChangeStates(undoWorkspace, { changes, moved });
  const done = changes?.filter((_, index) => standing.changes[index] === 'after') ?? [];
  return { ...(done.length > 0 && { changes: done }), ...(standing.moved === 'after' && { moved }) };
}

function storeError(error: unknown): ToolError {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return new ToolError(
    typeof code === 'string' && isErrorCode(code) ? code : 'E_INTERNAL',
    `Nothing was run, because the run could not be kept: ${typeof message === 'string' ? message : 'unknown error'}`,
  );
}

/** Returns the exit code in the data of a command. `ran`: the call has run a command. */
export function exitCodeOf(outcome: ToolOutcome, ran: boolean): { exitCode?: number | null } {
  const { exitCode } = ran && outcome.ok ? (Object(outcome.data) as { exitCode?: unknown }) : {};
  return Number.isInteger(exitCode) || exitCode === null ? { exitCode: exitCode as number | null } : {};
}
