import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import { type ForkPoint, forkPoints, relatedRuns } from '../../protocol/run/branches.ts';
import { escapeInvisibleInProseLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { mapLimit } from '../../protocol/values/concurrency.ts';
import { type RestorableRunBranchFiles, restorableRunBranchFiles } from '../../runs/branchFiles.ts';
import type { ForkableUserMessage } from '../../runs/fork.ts';
import { StoreError } from '../../runs/journal.ts';
import type { RunStore } from '../../runs/store.ts';
import { undoOperations } from '../../runs/undoSteps.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import { notify } from '../dialogs/notify.ts';
import type { SelectableModels } from '../models/models.ts';
import type { ChatView } from '../view/chatView.ts';
import type { PanelConversation } from './conversation.ts';
import { recordSelectedEffort } from './tryAnotherModel.ts';
import type { FileUndo } from './undoFiles.ts';

interface PickedMessage {
  seq: number;
  isEnd?: true;
}

interface Dependencies {
  engine: ExecutionEngine;
  store: RunStore;
  conversation: PanelConversation;
  models: SelectableModels;
  undo: FileUndo;
  policies: ApprovalPolicies;
  view: Pick<ChatView, 'post' | 'focus'>;
}

/**
 * Branches of the displayed run: each continues in its own run, and no event is rewritten. Files stay as they are for every branch;
 * *Restore Files to Here* uses the confirmation of undo.
 */
export class ConversationBranches {
  private readonly positions = new Map<string, number>();
  private showing = 0;

  constructor(private readonly parts: Dependencies) {}

  /** Replaces a message of the user in a branch and sends it. */
  async editAndSend(): Promise<void> {
    const { store } = this.parts;
    const from = await this.atRest('edit');
    const message = from && (await this.pick(from, t('Towpath: edit and send again')));
    if (!message) return;
    const { content, attachments } = message.message;
    const typed = await vscode.window.showInputBox({
      title: t('Towpath: edit and send again'),
      prompt: t(
        'Edit your message. It is sent in a new branch; what came after it stays in this one. ⏎ is a line break.',
      ),
      value: content.replaceAll('\n', lineBreak),
      ignoreFocusOut: true,
    });
    const text = typed?.replaceAll(lineBreak, '\n');
    if (text === undefined || (text.trim() === '' && !attachments)) return;
    const files = await this.changedBy(from, await store.callsAfter(from, message.seq));
    const restore =
      files > 0
        ? await askToRestoreFiles(
            t('Towpath: this run changed files after that message'),
            t('Restore {0} to here…', localizedCount(files, 'file')),
          )
        : false;
    if (restore === undefined || !(await this.instead(from, message, text, restore)))
      this.parts.view.post({ type: 'unheard', text });
  }

  /** Replaces the message with text from the panel. Resolves to true if sent. */
  async sendInstead(
    runId: string,
    at: number,
    text: string,
    restore = false,
    named: readonly Attachment[] = [],
  ): Promise<boolean> {
    const message = await this.messageAt(runId, at, 'edit');
    return message !== undefined && this.instead(runId, message, text, restore, named);
  }

  private async instead(
    from: string,
    message: ForkableUserMessage,
    text: string,
    restore: boolean,
    named: readonly Attachment[] = [],
    model?: string,
  ): Promise<boolean> {
    const { conversation, store, undo } = this.parts;
    if (conversation.runId !== from) return false;
    const changed = restore ? await store.callsAfter(from, message.seq) : [];
    if (restore && !(await undo.since(from, changed, message.seq))) return false;
    const branch = await this.forkAt(from, message.seq - 1);
    if (branch === undefined) return false;
    if (model !== undefined) await recordSelectedEffort(this.parts, branch, model);
    const attachments = [...(message.message.attachments ?? []), ...named];
    void conversation.sendTo(branch, { userInput: text, ...(attachments.length > 0 && { attachments }) });
    return true;
  }

  /** Creates a branch before the message and moves its text to the message box. */
  async forkBefore(runId: string, at: number): Promise<void> {
    const message = await this.messageAt(runId, at, 'fork');
    const branch = message && (await this.forkAt(runId, message.seq - 1));
    if (branch) this.parts.view.post({ type: 'draft', text: message.message.content });
    await this.parts.view.focus();
  }

  /** Restores the files at the time of the message, after the confirmation of undo. */
  async restoreTo(runId: string, at: number): Promise<void> {
    const message = await this.messageAt(runId, at, 'restore');
    if (!message) return;
    const toolCallIds = await this.parts.store.callsAfter(runId, message.seq);
    await this.parts.undo.since(runId, toolCallIds, message.seq);
  }

  /**
   * Sends the message before the reply again, in a branch.
   *
   * @param pick selects another model first; cancelling changes nothing
   */
  async answerAgain(runId: string, at: number, pick?: () => Promise<string | undefined>): Promise<void> {
    const message = await this.messageAt(runId, at, 'again');
    const model = message && (await pick?.());
    if (!message || (pick && model === undefined)) return;
    if (this.parts.conversation.runId === runId)
      await this.instead(runId, message, message.message.content, false, [], model);
  }

  /** Returns the newest message of the user up to the index, in the displayed run at rest. */
  private async messageAt(
    runId: string,
    at: number,
    what: keyof typeof atWork,
  ): Promise<ForkableUserMessage | undefined> {
    const from = await this.atRest(what);
    if (from !== runId) return undefined;
    try {
      return (await this.parts.store.forkableMessages(runId)).findLast((one) => one.at <= at);
    } catch (error) {
      this.parts.conversation.notice({ level: 'error', text: localizedErrorText(StoreError.from(error)) });
      return undefined;
    }
  }

  async fork(): Promise<void> {
    const { conversation } = this.parts;
    await conversation.restored;
    const from = conversation.runId;
    if (from === undefined) return nothingShown();
    const picked = await this.pick(
      from,
      t('Towpath: fork this run'),
      conversation.working ? undefined : t('After all messages'),
    );
    if (picked) await this.forkAt(from, picked.seq - 1);
  }

  async restoreFiles(): Promise<void> {
    const { conversation, store, undo } = this.parts;
    const from = await this.atRest('restore');
    const end = t('After all messages, as this branch left them');
    const picked = from && (await this.pick(from, t('Towpath: restore files as they were'), end));
    if (!picked) return;
    if (picked.isEnd) return this.restoreAll(from);
    const toolCallIds = await store.callsAfter(from, picked.seq);
    if (conversation.runId === from) await undo.since(from, toolCallIds, picked.seq);
  }

  private async restoreAll(runId: string): Promise<void> {
    const { conversation, undo } = this.parts;
    const files = await this.filesOf(runId);
    if (files && conversation.runId === runId) await undo.files(runId, files);
  }

  private async filesOf(runId: string): Promise<RestorableRunBranchFiles | undefined> {
    const { store, conversation } = this.parts;
    try {
      const kin = relatedRuns(runId, await store.list()).filter(({ id }) => id !== runId);
      const runs = await mapLimit(kin, 4, ({ id }) => store.read(id).catch(() => undefined));
      return restorableRunBranchFiles(
        await store.read(runId),
        runs.filter((run) => run !== undefined),
      );
    } catch (error) {
      conversation.notice({ level: 'error', text: localizedErrorText(StoreError.from(error)) });
      return undefined;
    }
  }

  /** Displays another branch of a fork point and offers to restore its files. */
  async switch(): Promise<void> {
    const { conversation, store, undo } = this.parts;
    await conversation.restored;
    const { runId } = conversation;
    const points = runId === undefined ? [] : forkPoints(runId, await store.list());
    if (points.length === 0) {
      notify('info', t('This run has no branches.'));
      return;
    }
    const items = await Promise.all(
      points.flatMap(({ seq, ways, nth }) =>
        ways.flatMap((way, index) =>
          index === nth
            ? []
            : [
                this.textAfter(way, seq).then((label) => ({
                  label,
                  description: t('{0} of {1}', index + 1, ways.length),
                  way,
                })),
              ],
        ),
      ),
    );
    const title = t('Towpath: switch to another branch');
    const chosen = await vscode.window.showQuickPick(items, { title });
    if (!chosen) return;
    await conversation.open(chosen.way);
    const files = await this.filesOf(chosen.way);
    const differing = files ? await undo.differing(files) : 0;
    if (!files || differing === 0) return;
    const restore = await askToRestoreFiles(
      t('Towpath: some files have changed since this branch'),
      t('Restore {0}…', localizedCount(differing, 'file')),
    );
    if (restore && conversation.runId === chosen.way) await undo.files(chosen.way, files);
  }

  async show(): Promise<void> {
    const { conversation, store, view } = this.parts;
    const { runId } = conversation;
    this.showing++;
    const own = this.showing;
    if (runId === undefined) return;
    const runs = await store.list();
    const points = await Promise.all(forkPoints(runId, runs).map((point) => this.shownPoint(runId, point)));
    if (own === this.showing) view.post({ type: 'branches', runId, points: points.flat() });
  }

  private async shownPoint(runId: string, { seq, ways, nth }: ForkPoint) {
    const key = `${seq} ${runId}`;
    const at = this.positions.get(key) ?? (await this.parts.store.messagesUpTo(runId, seq).catch(() => undefined));
    if (at === undefined) return []; // errors are reported when the run is opened
    this.positions.set(key, at);
    return [{ at, nth: nth + 1, of: ways.length, previous: ways[nth - 1], next: ways[nth + 1] }];
  }

  private async forkAt(from: string, seq: number): Promise<string | undefined> {
    const { store, policies, conversation } = this.parts;
    try {
      const branch = await store.fork(from, seq);
      policies.branched(from, branch);
      await conversation.open(branch);
      return branch;
    } catch (error) {
      conversation.notice({ level: 'error', text: localizedErrorText(StoreError.from(error)) });
      return undefined;
    }
  }

  /** Returns the displayed run if at rest: two branches at work would write the same files. */
  private async atRest(what: keyof typeof atWork): Promise<string | undefined> {
    const { conversation } = this.parts;
    await conversation.restored;
    if (conversation.runId === undefined) nothingShown();
    else if (conversation.working) conversation.notice({ level: 'info', text: t(atWork[what]) });
    else return conversation.runId;
    return undefined;
  }

  /** @param end label of the run's end, if selectable */
  private async pick(runId: string, title: string): Promise<ForkableUserMessage | undefined>;
  private async pick(runId: string, title: string, end: string | undefined): Promise<PickedMessage | undefined>;
  private async pick(runId: string, title: string, end?: string): Promise<PickedMessage | undefined> {
    const { store, conversation } = this.parts;
    try {
      const message = await store.forkableMessages(runId);
      const labelOf = (text: string) => (end === undefined ? text : t('Before: {0}', text));
      const items = message.map((one, index) => ({
        label: labelOf(shortText(one.message.content)),
        description: t('{0} of {1}', index + 1, message.length),
        place: one as PickedMessage,
      }));
      if (end !== undefined)
        items.push({ label: end, description: '', place: { seq: (await store.read(runId)).seq + 1, isEnd: true } });
      if (items.length > 0) return (await vscode.window.showQuickPick(items.reverse(), { title }))?.place;
      notify('info', t('This run has no messages yet.'));
    } catch (error) {
      conversation.notice({ level: 'error', text: localizedErrorText(StoreError.from(error)) });
    }
    return undefined;
  }

  private async changedBy(runId: string, toolCallIds: readonly string[]): Promise<number> {
    return undoOperations(await this.parts.store.read(runId), toolCallIds).length;
  }

  private async textAfter(runId: string, seq: number): Promise<string> {
    const message = await this.parts.store.forkableMessages(runId).catch(() => []);
    const first = message.find((one) => one.seq > seq);
    return first ? shortText(first.message.content) : t('No messages yet');
  }
}

/** Replaces line breaks, which an input box would remove. */
const lineBreak = ' ⏎ ';

const atWork = {
  edit: 'This run is in progress. Stop it, then edit your message.',
  fork: 'This run is in progress. Stop it, then fork it.',
  restore: 'This run is in progress. Stop it, then restore its files.',
  again: 'This run is in progress. Stop it, then try it again.',
} as const;

/** True: restore; false: keep; undefined: cancelled, nothing is sent. */
async function askToRestoreFiles(title: string, restoring: string): Promise<boolean | undefined> {
  const items = [
    { label: t('Keep the files as they are'), restore: false },
    { label: restoring, restore: true },
  ];
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.restore;
}

const nothingShown = (): undefined => void notify('info', t('No run is shown. Open the run to continue.'));

const shortText = (text: string): string =>
  truncateWithEllipsis(escapeInvisibleInProseLine(text), 100) || t('A picture');
