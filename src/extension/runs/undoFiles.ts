import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { FileRestorationRequest } from '../../engine/run/fileRestoration.ts';
import { overlappingCallIds } from '../../engine/run/recordedCalls.ts';
import type {
  UndoConfirmation,
  UndoConfirmationAnswer,
  UndoConfirmationRequest,
  UndoRequest,
  UndoResult,
} from '../../engine/run/undo.ts';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { Run } from '../../protocol/run/run.ts';
import { newestRedoableUndo } from '../../protocol/run/runFiles.ts';
import { conversationCallId } from '../../protocol/run/tasks.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { RestorableRunBranchFiles } from '../../runs/branchFiles.ts';
import type { RunStore } from '../../runs/store.ts';
import { undoableCallIds } from '../../runs/undoSteps.ts';
import { readCurrentFileText } from '../../tools/changes/compareChanges.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { BackgroundRecordings } from '../../tools/host/backgroundRecordings.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import {
  firstLines,
  notUndoneNotes,
  restoreTexts,
  type UndoSubject,
  undoneCallName,
  undoQuestion,
  undoTexts,
} from '../dialogs/undoQuestion.ts';
import type { PanelConversation } from './conversation.ts';

export class FileUndo {
  /** Undos and redos at work, by run. */
  private readonly changing = new Map<string, Promise<unknown>>();

  constructor(
    private readonly engine: ExecutionEngine,
    private readonly store: RunStore,
    private readonly workspace: Workspace,
    private readonly conversation: PanelConversation,
    private readonly modals: Dialogs,
    private readonly backgroundRecordings: BackgroundRecordings,
  ) {}

  /** Redoes the undo of a call, by default the newest of the run. Changed files prevent the redo with a message. */
  async redo({ runId, toolCallId }: Partial<ToolCallKey> = { runId: this.conversation.runId }): Promise<void> {
    const run = runId && (await this.read(runId));
    const undone =
      run && newestRedoableUndo(run, ({ toolCallIds }) => toolCallId === undefined || toolCallIds.includes(toolCallId));
    if (!runId || !undone) return this.conversation.notice({ level: 'info', text: t('There is nothing to redo.') });
    const result = await this.change(runId, { undo: undone.seq }, async () => 'none');
    if (!result || result.left.length === 0) return;
    const left = result.left.map(({ path, why }) => t('{0} was left as it is: {1}', escapeInvisibleInLine(path), why));
    const lines = result.undone.length > 0 ? left : [t('Nothing was redone: the files have changed since.'), ...left];
    this.conversation.notice({ level: 'warning', text: firstLines(lines).join('\n') });
  }

  async all(scope: 'turn' | 'run'): Promise<void> {
    const { runId } = this.conversation;
    const run = runId && (await this.read(runId));
    if (!run) return void this.nothing();
    const toolCallIds = undoableCallIds(run, scope);
    const given = new Set(toolCallIds.map((id) => conversationCallId(run, id)));
    const reply = run.messages.findLast(
      (one) => one.role === 'assistant' && one.toolCalls?.some(({ id }) => given.has(id)),
    );
    const ofReply = reply?.role === 'assistant' ? (reply.toolCalls ?? []).map(({ id }) => id) : toolCallIds;
    const starts = ofReply.map((id) => run.calls[id]?.startSeq ?? run.seq);
    await this.since(run.id, toolCallIds, scope === 'run' ? 0 : Math.min(run.seq, ...starts), false);
  }

  /**
   * Undoes calls or a file that the user selected. Calls that ran at the same time as a single call are offered, too. Resolves to true if all
   * files are restored; a notice names the rest.
   */
  async calls(runId: string, { toolCallIds, paths }: UndoRequest): Promise<boolean> {
    const [only] = toolCallIds;
    if (only === undefined) return this.nothing();
    const run = await this.read(runId);
    const isSingle = toolCallIds.length === 1;
    const ids = isSingle && !paths ? await this.withOverlapping(run, only) : toolCallIds;
    if (!ids) return false;
    const call =
      isSingle && !paths && ids.length === 1 && isRecorded(run, only) ? undoneCallName(run, only) : undefined;
    const isNamed = isSingle || paths?.length === 1;
    const subject = { texts: undoTexts(), call, isNamed, notes: [] };
    return this.work(runId, { toolCallIds: ids, ...(paths && { paths }) }, subject, false);
  }

  /** Undoes one hunk of a file. Returns the reason if the hunk is left as it is. */
  async hunk(runId: string, path: string, key: string): Promise<string | undefined> {
    await this.read(runId);
    const result = await this.change(runId, { hunk: { path, key } }, async () => 'all');
    if (result?.left[0]) return result.left[0].why;
    if (result?.undone.length) {
      const action = { label: t('Redo'), action: 'redo' } as const;
      this.conversation.notice({
        level: 'info',
        text: t('One change in {0} was undone.', escapeInvisibleInLine(path)),
        action,
      });
    }
    return undefined;
  }

  /**
   * Undoes the calls from event `since` on, and names what stays.
   *
   * @param asksAlways confirms even a single change
   */
  async since(runId: string, toolCallIds: readonly string[], since: number, asksAlways = true): Promise<boolean> {
    const run = await this.read(runId);
    const notes = notUndoneNotes(run, since);
    if (toolCallIds.length === 0) return this.nothing(notes);
    const [only] = toolCallIds;
    const call = toolCallIds.length === 1 && isRecorded(run, only!) ? undoneCallName(run, only!) : undefined;
    return this.work(runId, { toolCallIds }, { texts: undoTexts(), call, isNamed: false, notes }, asksAlways);
  }

  /** Undefined: cancelled. */
  private async withOverlapping(run: Run, toolCallId: string): Promise<readonly string[] | undefined> {
    const others = overlappingCallIds(run, toolCallId);
    if (others.length === 0) return [toolCallId];
    const names = others.map((id) => t('“{0}”', undoneCallName(run, id) ?? id)).join(', ');
    const together = others.length === 1 ? t('Undo Both') : t('Undo All {0}', others.length + 1);
    const chosen = await this.modals.ask({
      text: t('Undo the changes of “{0}”?', undoneCallName(run, toolCallId) ?? toolCallId),
      detail: t('It ran at the same time as {0}. Some changes may belong to either.', names),
      buttons: [together, t('Undo Only This')],
    });
    if (chosen === undefined) return undefined;
    return chosen === together ? [toolCallId, ...others] : [toolCallId];
  }

  /** Reads the run after an earlier undo or redo, with what its background commands have changed until now. */
  private async read(runId: string): Promise<Run> {
    await this.changing.get(runId);
    await this.backgroundRecordings.record(runId);
    return this.engine.live(runId) ?? (await this.store.read(runId));
  }

  private nothing(notes: readonly string[] = []): false {
    this.conversation.notice({ level: 'info', text: [t('There is nothing to undo.'), ...notes].join(' ') });
    return false;
  }

  async files(runId: string, files: RestorableRunBranchFiles): Promise<boolean> {
    const notes = notUndoneNotes(await this.read(runId), 0);
    return this.work(runId, files, { texts: restoreTexts(), isNamed: false, notes }, true);
  }

  async differing({ files }: RestorableRunBranchFiles): Promise<number> {
    const now = await Promise.all(files.map(({ path }) => readCurrentFileText(this.workspace, path)));
    return files.filter(({ to }, index) => now[index]?.id !== to).length;
  }

  private async work(
    runId: string,
    request: UndoRequest | RestorableRunBranchFiles,
    subject: UndoSubject,
    asksAlways: boolean,
  ): Promise<boolean> {
    const { texts, notes } = subject;
    let isAsked = false;
    let isConfirmed = false;
    const result = await this.change(runId, request, async (question) => {
      isAsked = true;
      const losesNothing = isPlain(question) && isOneChange(request);
      isConfirmed = !losesNothing || asksAlways;
      return isConfirmed ? this.ask(question, subject) : 'all';
    });
    if (!result) return false;
    const action = { label: t('Redo'), action: 'redo' } as const;
    const redo = result.undone.length > 0 && !isOnCard(request) ? { action } : {};
    const done = texts.done(localizedCount(result.undone.length, 'file'));
    if (!isConfirmed && notes.length > 0) this.conversation.notice({ level: 'info', text: notes.join(' ') });
    if ('action' in redo) this.conversation.notice({ level: 'info', text: done, ...redo });
    if (!isAsked && result.left.length === 0) this.conversation.notice({ level: 'info', text: texts.nothing });
    const left = result.left.map(({ path, why }) => t('{0} was left as it is: {1}', escapeInvisibleInLine(path), why));
    if (left.length > 0) this.conversation.notice({ level: 'warning', text: firstLines(left).join('\n'), ...redo });
    return left.length === 0 && (result.undone.length > 0 || !isAsked);
  }

  /** Undefined: nothing was possible, which was reported. */
  private async change(
    runId: string,
    request: FileRestorationRequest,
    ask: UndoConfirmation,
  ): Promise<UndoResult | undefined> {
    if (!this.workspace.trusted) {
      this.conversation.notice({
        level: 'warning',
        text: t('Nothing can be changed in an untrusted workspace.'),
        action: { label: t('Manage Trust'), action: 'manage-trust' },
      });
      return undefined;
    }
    const changing = this.engine.undo(runId, request, this.workspace, ask);
    this.changing.set(runId, changing);
    const result = await changing;
    if (!('code' in result)) return result;
    const action = { label: t('Take Over'), action: 'take-over' } as const;
    const isElsewhere = result.code === 'STORE_LOCKED';
    this.conversation.notice({ level: 'error', text: localizedErrorText(result), ...(isElsewhere && { action }) });
    return undefined;
  }

  /**
   * Asks for confirmation, and for each file that something else may have changed unless the user selected the calls. Closing a dialog undoes
   * nothing.
   */
  private async ask(request: UndoConfirmationRequest, subject: UndoSubject): Promise<UndoConfirmationAnswer> {
    const question = undoQuestion(request, subject);
    let paths: readonly string[] = [];
    if (question) {
      const buttons = question.buttons.map(({ label }) => label);
      const chosen = await this.modals.ask({ text: question.text, detail: question.detail, buttons });
      if (chosen === undefined) return 'none';
      paths = question.buttons.find(({ label }) => label === chosen)?.paths ?? [];
    }
    if (subject.isNamed || !request.sameTime) return paths;
    const picked = await vscode.window.showQuickPick(
      request.sameTime.map((path) => ({ label: escapeInvisibleInLine(path), path })),
      {
        title: t('Towpath: changed at the same time by a command and something else'),
        placeHolder: t('Select the files to restore'),
        canPickMany: true,
        ignoreFocusOut: true,
      },
    );
    const all = [...paths, ...(picked ?? []).map(({ path }) => path)];
    return picked && all.length > 0 ? all : 'none';
  }
}

const isOnCard = (request: UndoRequest | RestorableRunBranchFiles): boolean =>
  'toolCallIds' in request && request.toolCallIds.length === 1;

const isPlain = ({ changedSince, sameTime, repositories }: UndoConfirmationRequest): boolean =>
  changedSince.length === 0 && !sameTime && !repositories;

/** A single call or file needs no confirmation while nothing is lost, because it can be redone. */
const isOneChange = (request: UndoRequest | RestorableRunBranchFiles): boolean =>
  'toolCallIds' in request && (request.toolCallIds.length === 1 || request.paths?.length === 1);

const isRecorded = ({ calls }: Run, toolCallId: string): boolean => calls[toolCallId]?.snapshot !== undefined;
