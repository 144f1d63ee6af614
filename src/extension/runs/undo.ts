import type { ExecutionEngine } from '../../engine/engine.ts';
import type { UndoAnswer, UndoQuestion, UndoRequest } from '../../engine/undo.ts';
import { t } from '../../protocol/l10n.ts';
import { told } from '../../protocol/sentence.ts';
import { visible, visibleLine } from '../../protocol/visible.ts';
import type { BranchFiles } from '../../runs/branchFiles.ts';
import type { RunStore } from '../../runs/store.ts';
import { undoable } from '../../runs/undo.ts';
import { textNow } from '../../tools/files/since.ts';
import type { Workspace } from '../../tools/workspace.ts';
import type { Modals } from '../dialogs/modals.ts';
import type { Conversation } from './conversation.ts';

/** Undoes changes of a run after a dialog of the editor. */
export class Undo {
  constructor(
    private readonly engine: ExecutionEngine,
    private readonly store: RunStore,
    private readonly workspace: Workspace,
    private readonly conversation: Conversation,
    private readonly modals: Modals,
  ) {}

  /** All changes of the newest turn that has any, or of the run. */
  async all(scope: 'turn' | 'run'): Promise<void> {
    const { runId } = this.conversation;
    const run = runId && (this.engine.live(runId) ?? (await this.store.read(runId)));
    if (run) await this.calls(run.id, { toolCallIds: undoable(run, scope) });
    else this.nothing();
  }

  /** Resolves to whether all of it is as it was before; a notice names the rest. */
  async calls(runId: string, { toolCallIds, paths }: UndoRequest): Promise<boolean> {
    if (toolCallIds.length > 0) return this.work(runId, { toolCallIds, ...(paths && { paths }) }, undoing());
    return this.nothing();
  }

  private nothing(): false {
    this.conversation.notice({ level: 'info', text: t('There is nothing to undo.') });
    return false;
  }

  /** Restores files that are not as the run left them. */
  async files(runId: string, files: BranchFiles): Promise<boolean> {
    return this.work(runId, files, restoring());
  }

  /** How many of these are not as they should be. */
  async differing({ files }: BranchFiles): Promise<number> {
    const now = await Promise.all(files.map(({ path }) => textNow(this.workspace, path)));
    return files.filter(({ to }, index) => now[index]?.id !== to).length;
  }

  private async work(runId: string, request: UndoRequest | BranchFiles, words: Words): Promise<boolean> {
    if (!this.workspace.trusted) {
      this.conversation.notice({
        level: 'warning',
        text: t('Nothing is changed in an untrusted workspace.'),
        action: { label: t('Manage Trust'), action: 'manage-trust' },
      });
      return false;
    }
    let isAsked = false;
    const result = await this.engine.undo(runId, request, this.workspace, (question) => {
      isAsked = true;
      return this.ask(question, words);
    });
    if ('code' in result) {
      const action = { label: t('Take Over'), action: 'take-over' } as const;
      this.conversation.notice({
        level: 'error',
        text: told(result),
        ...(result.code === 'STORE_LOCKED' && { action }),
      });
      return false;
    }
    if (!isAsked && result.left.length === 0) this.conversation.notice({ level: 'info', text: words.nothing });
    const left = result.left.map(({ path, why }) => t('{0} stays as it is: {1}', visibleLine(path), why));
    if (left.length > 0) this.conversation.notice({ level: 'warning', text: shortened(left).join('\n') });
    return left.length === 0 && (result.undone.length > 0 || !isAsked);
  }

  /** Closing the dialog undoes nothing; overwriting what was changed since is never the first button. */
  private async ask({ paths, changedSince }: UndoQuestion, words: Words): Promise<UndoAnswer> {
    const { all, others, overwrite } = words;
    const buttons =
      changedSince.length === 0 ? [all] : paths.length > changedSince.length ? [others, overwrite] : [overwrite];
    const lost = `${listed(changedSince)}\n${changedSince.length > 1 ? words.givesUpThem : words.givesUpIt}`;
    const detail = [paths.length > 1 && listed(paths), changedSince.length > 0 && lost].filter(Boolean).join('\n\n');
    const text = paths.length === 1 ? words.askOne(visibleLine(paths[0]!)) : words.ask(paths.length);
    const chosen = await this.modals.ask({ text, detail: visible(detail), buttons });
    if (chosen === undefined) return 'none';
    return chosen === others ? 'unchanged' : 'all';
  }
}

interface Words {
  askOne(file: string): string;
  ask(files: number): string;
  /** Buttons: `others` than those that were changed since; `overwrite`: all, with those. */
  all: string;
  others: string;
  overwrite: string;
  /** What follows the files that were changed since. */
  givesUpIt: string;
  givesUpThem: string;
  nothing: string;
}

const undoing = (): Words => ({
  askOne: (file) => t('Undo what Towpath changed in {0}?', file),
  ask: (files) => t('Undo what Towpath changed in {0} files?', files),
  all: t('Undo'),
  others: t('Undo the Others'),
  overwrite: t('Undo All of Them'),
  givesUpIt: t('was changed since. Undoing it gives up what is there now.'),
  givesUpThem: t('were changed since. Undoing them gives up what is there now.'),
  nothing: t('There is nothing to undo: the files are as they were before.'),
});

const restoring = (): Words => ({
  askOne: (file) => t('Restore {0} as this branch left it?', file),
  ask: (files) => t('Restore {0} files as this branch left them?', files),
  all: t('Restore'),
  others: t('Restore the Others'),
  overwrite: t('Restore All of Them'),
  givesUpIt: t('was changed since. Restoring it gives up what is there now.'),
  givesUpThem: t('were changed since. Restoring them gives up what is there now.'),
  nothing: t('There is nothing to restore: the files are as this branch left them.'),
});

const listed = (paths: readonly string[]) => shortened(paths.map(visibleLine)).join('\n');

const shortened = (lines: readonly string[]) =>
  lines.length > 12 ? [...lines.slice(0, 12), t('… and {0} more', lines.length - 12)] : lines;
