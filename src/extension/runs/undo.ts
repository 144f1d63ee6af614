import type { ExecutionEngine } from '../../engine/engine.ts';
import type { UndoAnswer, UndoQuestion, UndoRequest } from '../../engine/undo.ts';
import { visible, visibleLine } from '../../protocol/visible.ts';
import type { BranchFiles } from '../../runs/branchFiles.ts';
import type { RunStore } from '../../runs/store.ts';
import { undoable } from '../../runs/undo.ts';
import { textNow } from '../../tools/files/since.ts';
import type { Workspace } from '../../tools/workspace.ts';
import type { Modals } from '../dialogs/modals.ts';
import type { Conversation } from './conversation.ts';

/** Takes changes of the shown run back, after a question of the editor's. */
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
    await this.calls({ toolCallIds: run ? undoable(run, scope) : [] });
  }

  /** Resolves to whether all of it is as it was before; what is not is said. */
  async calls(request: UndoRequest): Promise<boolean> {
    if (this.conversation.runId && request.toolCallIds.length > 0) return this.work(request, undoing);
    this.conversation.notice({ level: 'info', text: 'There is nothing to undo.' });
    return false;
  }

  /** The same for files that are not as the shown run left them. */
  async files(files: BranchFiles): Promise<boolean> {
    return this.work(files, restoring);
  }

  /** How many of these are not as they should be. */
  async differing({ files }: BranchFiles): Promise<number> {
    const now = await Promise.all(files.map(({ path }) => textNow(this.workspace, path)));
    return files.filter(({ to }, index) => now[index]?.id !== to).length;
  }

  private async work(request: UndoRequest | BranchFiles, words: Words): Promise<boolean> {
    const { runId } = this.conversation;
    if (!runId) return false;
    if (!this.workspace.trusted) {
      this.conversation.notice({
        level: 'warning',
        text: 'Nothing is changed in an untrusted workspace.',
        action: { label: 'Manage Trust', action: 'manage-trust' },
      });
      return false;
    }
    let isAsked = false;
    const result = await this.engine.undo(runId, request, this.workspace, (question) => {
      isAsked = true;
      return this.ask(question, words);
    });
    if ('code' in result) {
      const action = { label: 'Take Over', action: 'take-over' } as const;
      this.conversation.notice({
        level: 'error',
        text: result.message,
        ...(result.code === 'STORE_LOCKED' && { action }),
      });
      return false;
    }
    if (!isAsked && result.left.length === 0) this.conversation.notice({ level: 'info', text: words.nothing });
    const left = result.left.map(({ path, why }) => `${visibleLine(path)} stays as it is: ${why}`);
    if (left.length > 0) this.conversation.notice({ level: 'warning', text: shortened(left).join('\n') });
    return left.length === 0 && (result.undone.length > 0 || !isAsked);
  }

  /** Closing the dialog undoes nothing; overwriting what was changed since is never the first button. */
  private async ask({ paths, changedSince }: UndoQuestion, words: Words): Promise<UndoAnswer> {
    const [undo, others, overwrite] = [words.verb, `${words.verb} the Others`, `${words.verb} All of Them`];
    const buttons =
      changedSince.length === 0 ? [undo] : paths.length > changedSince.length ? [others, overwrite] : [overwrite];
    const what = paths.length === 1 ? visibleLine(paths[0]!) : `${paths.length} files`;
    const since =
      changedSince.length > 1
        ? `were changed since. ${words.doing} them gives up`
        : `was changed since. ${words.doing} it gives up`;
    const lost = `${listed(changedSince)}\n${since} what is there now.`;
    const detail = [paths.length > 1 && listed(paths), changedSince.length > 0 && lost].filter(Boolean).join('\n\n');
    const text = words.question(what, paths.length);
    const chosen = await this.modals.ask({ text, detail: visible(detail), buttons });
    if (chosen === undefined) return 'none';
    return chosen === others ? 'unchanged' : 'all';
  }
}

interface Words {
  question(what: string, count: number): string;
  verb: string;
  doing: string;
  nothing: string;
}

const undoing: Words = {
  question: (what) => `Undo what Towpath changed in ${what}?`,
  verb: 'Undo',
  doing: 'Undoing',
  nothing: 'There is nothing to undo: the files are as they were before.',
};

const restoring: Words = {
  question: (what, count) => `Restore ${what} as this branch left ${count === 1 ? 'it' : 'them'}?`,
  verb: 'Restore',
  doing: 'Restoring',
  nothing: 'There is nothing to restore: the files are as this branch left them.',
};

const listed = (paths: readonly string[]) => shortened(paths.map(visibleLine)).join('\n');

const shortened = (lines: readonly string[]) =>
  lines.length > 12 ? [...lines.slice(0, 12), `… and ${lines.length - 12} more`] : lines;
