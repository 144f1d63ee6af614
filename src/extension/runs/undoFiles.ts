import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type {
  RedoRequest,
  UndoConfirmationAnswer,
  UndoConfirmationRequest,
  UndoRequest,
  UndoResult,
} from '../../engine/run/undo.ts';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import { newestRedoableUndo } from '../../protocol/run/runFiles.ts';
import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, localizedCount, t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { RestorableRunBranchFiles } from '../../runs/branchFiles.ts';
import type { RunStore } from '../../runs/store.ts';
import { undoableCallIds } from '../../runs/undoSteps.ts';
import { readCurrentFileText } from '../../tools/changes/compareChanges.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { repositoryUndoSentences } from '../dialogs/repositoryUndoText.ts';
import type { PanelConversation } from './conversation.ts';

export class FileUndo {
  constructor(
    private readonly engine: ExecutionEngine,
    private readonly store: RunStore,
    private readonly workspace: Workspace,
    private readonly conversation: PanelConversation,
    private readonly modals: Dialogs,
  ) {}

  /** Redoes the undo of a call, by default the newest of the run. Changed files prevent the redo with a message. */
  async redo({ runId, toolCallId }: Partial<ToolCallKey> = { runId: this.conversation.runId }): Promise<void> {
    const run = runId && (this.engine.live(runId) ?? (await this.store.read(runId)));
    const undone =
      run && newestRedoableUndo(run, ({ toolCallIds }) => toolCallId === undefined || toolCallIds.includes(toolCallId));
    if (!runId || !undone) return this.conversation.notice({ level: 'info', text: t('There is nothing to redo.') });
    const result = await this.change(runId, { undo: undone.seq }, async () => 'none');
    if (!result || result.left.length === 0) return;
    const left = result.left.map(({ path, why }) => t('{0} was left as it is: {1}', escapeInvisibleInLine(path), why));
    const lines = result.undone.length > 0 ? left : [t('Nothing was redone: the files have changed since.'), ...left];
    this.conversation.notice({ level: 'warning', text: shortened(lines).join('\n') });
  }

  async all(scope: 'turn' | 'run'): Promise<void> {
    const { runId } = this.conversation;
    const run = runId && (this.engine.live(runId) ?? (await this.store.read(runId)));
    if (run) await this.calls(run.id, { toolCallIds: undoableCallIds(run, scope) });
    else this.nothing();
  }

  /**
   * Resolves to true if all files are restored; a notice names the rest.
   *
   * @param asksAlways confirms even a single change
   */
  async calls(runId: string, { toolCallIds, paths }: UndoRequest, asksAlways = false): Promise<boolean> {
    if (toolCallIds.length === 0) return this.nothing();
    return this.work(runId, { toolCallIds, ...(paths && { paths }) }, undoing(), asksAlways);
  }

  private nothing(): false {
    this.conversation.notice({ level: 'info', text: t('There is nothing to undo.') });
    return false;
  }

  async files(runId: string, files: RestorableRunBranchFiles): Promise<boolean> {
    return this.work(runId, files, restoring(), true);
  }

  async differing({ files }: RestorableRunBranchFiles): Promise<number> {
    const now = await Promise.all(files.map(({ path }) => readCurrentFileText(this.workspace, path)));
    return files.filter(({ to }, index) => now[index]?.id !== to).length;
  }

  private async work(
    runId: string,
    request: UndoRequest | RestorableRunBranchFiles,
    texts: UndoTexts,
    asksAlways: boolean,
  ): Promise<boolean> {
    let isAsked = false;
    const result = await this.change(runId, request, async (question) => {
      isAsked = true;
      const isPlain = question.changedSince.length === 0 && !question.repositories;
      const losesNothing = isPlain && isOneChange(request);
      return losesNothing && !asksAlways ? 'all' : this.ask(question, texts);
    });
    if (!result) return false;
    const action = { label: t('Redo'), action: 'redo' } as const;
    const redo = result.undone.length > 0 && !isOnCard(request) ? { action } : {};
    const done = texts.done(localizedCount(result.undone.length, 'file'));
    if ('action' in redo) this.conversation.notice({ level: 'info', text: done, ...redo });
    if (!isAsked && result.left.length === 0) this.conversation.notice({ level: 'info', text: texts.nothing });
    const left = result.left.map(({ path, why }) => t('{0} was left as it is: {1}', escapeInvisibleInLine(path), why));
    if (left.length > 0) this.conversation.notice({ level: 'warning', text: shortened(left).join('\n'), ...redo });
    return left.length === 0 && (result.undone.length > 0 || !isAsked);
  }

  /** Undefined: nothing was possible, which was reported. */
  private async change(
    runId: string,
    request: UndoRequest | RedoRequest | RestorableRunBranchFiles,
    ask: (question: UndoConfirmationRequest) => Promise<UndoConfirmationAnswer>,
  ): Promise<UndoResult | undefined> {
    if (!this.workspace.trusted) {
      this.conversation.notice({
        level: 'warning',
        text: t('Nothing can be changed in an untrusted workspace.'),
        action: { label: t('Manage Trust'), action: 'manage-trust' },
      });
      return undefined;
    }
    const result = await this.engine.undo(runId, request, this.workspace, ask);
    if (!('code' in result)) return result;
    const action = { label: t('Take Over'), action: 'take-over' } as const;
    const isElsewhere = result.code === 'STORE_LOCKED';
    this.conversation.notice({ level: 'error', text: localizedErrorText(result), ...(isElsewhere && { action }) });
    return undefined;
  }

  /**
   * Asks for confirmation. Closing the dialog undoes nothing. If only some of the files changed since, the first button leaves these files
   * as they are.
   */
  private async ask(
    { paths, changedSince, repositories = [] }: UndoConfirmationRequest,
    texts: UndoTexts,
  ): Promise<UndoConfirmationAnswer> {
    const [many, changed] = [paths.length, changedSince.length];
    const others = many - changed === 1 ? t('Restore 1 File') : t('Restore {0} Files', many - changed);
    const everything = t('Restore All {0}', many);
    const buttons = many === 1 || changed === 0 ? [texts.all] : changed < many ? [others, everything] : [everything];
    const edited = t('You edited {0} of them since: {1}.', changed, inShort(changedSince));
    const intro = changed > 0 ? `${t('Restores {0} files.', many)} ${edited}\n\n` : '';
    const lost = changed > 0 ? `${listed(changedSince)}\n${texts.givesUpIt}` : '';
    const files = many === 1 ? lost : `${intro}${listed(paths)}`;
    const detail = [...repositoryUndoSentences(repositories), files].filter((one) => one !== '').join('\n');
    const text = many === 1 ? texts.askOne(escapeInvisibleInLine(paths[0]!)) : texts.ask(many);
    const chosen = await this.modals.ask({ text, detail: escapeInvisible(detail), buttons });
    if (chosen === undefined) return 'none';
    return chosen === others ? 'unchanged' : 'all';
  }
}

const isOnCard = (request: UndoRequest | RestorableRunBranchFiles): boolean =>
  'toolCallIds' in request && request.toolCallIds.length === 1;

/** A single call or file needs no confirmation while nothing is lost, because it can be redone. */
const isOneChange = (request: UndoRequest | RestorableRunBranchFiles): boolean =>
  'toolCallIds' in request && (request.toolCallIds.length === 1 || request.paths?.length === 1);

interface UndoTexts {
  askOne(file: string): string;
  ask(files: number): string;
  all: string;
  givesUpIt: string;
  nothing: string;
  done(files: LocalizedMessage): string;
}

const undoing = (): UndoTexts => ({
  askOne: (file) => t('Undo what Towpath changed in {0}?', file),
  ask: (files) => t('Undo what Towpath changed in {0} files?', files),
  all: t('Undo'),
  givesUpIt: t('has changed since. Undoing discards the current contents.'),
  nothing: t('There is nothing to undo: the files are as they were before.'),
  done: (files) => t('Undone: changes in {0}.', files),
});

const restoring = (): UndoTexts => ({
  askOne: (file) => t('Restore {0} as this branch left it?', file),
  ask: (files) => t('Restore {0} files as this branch left them?', files),
  all: t('Restore'),
  givesUpIt: t('has changed since. Restoring it discards the current contents.'),
  nothing: t('There is nothing to restore: the files are as this branch left them.'),
  done: (files) => t('Restored {0}.', files),
});

function inShort(paths: readonly string[]): string {
  const names = paths.slice(0, maxNames).map(escapeInvisibleInLine).join(', ');
  return paths.length > maxNames ? t('{0} and {1} more', names, paths.length - maxNames) : names;
}

const maxNames = 3;

const listed = (paths: readonly string[]) => shortened(paths.map(escapeInvisibleInLine)).join('\n');

const shortened = (lines: readonly string[]) =>
  lines.length > 12 ? [...lines.slice(0, 12), t('… and {0} more', lines.length - 12)] : lines;
