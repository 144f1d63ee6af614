import { messageOf } from '../../protocol/text/localized.ts';
import type { RestorableRunBranchFiles } from '../../runs/branchFiles.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { RunLog } from '../core/runLog.ts';
import type { EngineOptions } from './engineOptions.ts';
import {
  type RedoRequest,
  redoFileChanges,
  restoreFilesOfConversationBranch,
  type UndoConfirmation,
  type UndoRequest,
  type UndoResult,
  undoFileChanges,
} from './undo.ts';
import { type HunkUndoRequest, undoHunk } from './undoHunk.ts';

export type FileRestorationRequest = UndoRequest | RedoRequest | RestorableRunBranchFiles | HunkUndoRequest;

/**
 * Undoes changes of a run or a part of them, restores files to the state that the run left, or redoes an undo.
 *
 * @param hold records what background commands have changed, also while a dialog was open, and no more until the returned function is called
 */
export async function restoreFiles(
  log: RunLog,
  parts: Parameters<typeof undoFileChanges>[1],
  request: FileRestorationRequest,
  { ask, hold }: { ask: UndoConfirmation; hold(): Promise<() => void> },
): Promise<UndoResult> {
  let release = () => {};
  const askAndHold: UndoConfirmation = async (question) => {
    const answer = await ask(question);
    if (answer !== 'none') release = await hold();
    return answer;
  };
  try {
    if ('files' in request) return await restoreFilesOfConversationBranch(log, parts, request, askAndHold);
    if ('hunk' in request) return await undoHunk(log, parts, request, askAndHold);
    if ('toolCallIds' in request) return await undoFileChanges(log, parts, request, askAndHold);
    release = await hold();
    return await redoFileChanges(log, parts, request);
  } finally {
    release();
  }
}

/** Returns the workspace of an undo: that of the workflow, if different, else the open one, with the reason if it cannot be known. */
export async function undoLocationOf(
  options: Pick<EngineOptions, 'workflow'>,
  log: RunLog,
  workspace: Workspace,
): Promise<{ workspace: Workspace; problem?: ReturnType<typeof messageOf> }> {
  try {
    const workflow = await options.workflow(log.run.workflowId);
    return { workspace: (await workflow.undoing?.(log)) ?? workspace };
  } catch (error) {
    return { workspace, problem: messageOf(error) };
  }
}
