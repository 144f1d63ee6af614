import * as vscode from 'vscode';
import { isSameToolCall, type ToolCallKey } from '../../protocol/content/callKey.ts';
import type { Notice } from '../../protocol/panel/panelMessages.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { localizedRunTitle } from '../../protocol/run/run.ts';
import { escapeInvisibleInProseLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import { showReminderNotification } from '../dialogs/reminder.ts';

interface Waiting extends ToolCallKey {
  question: string;
  unremind?(): void;
}

interface Dependencies {
  shown(): string | undefined;
  panelInView(): boolean;
  titleOf(runId: string): string;
  open(runId: string): Promise<void>;
  focus(): Promise<void>;
  notice(notice: Notice): void;
  changed(): void;
}

/**
 * User questions of running models. The panel displays and answers them; this list counts them and notifies about questions that the panel
 * does not display: in the panel if another run is displayed, else by a notification.
 */
export class UserQuestionList {
  private waiting: Waiting[] = [];

  constructor(private readonly parts: Dependencies) {}

  onEvent(event: RunEvent): void {
    if (event.type === 'ask') this.asked(event);
    else if (event.type === 'answer' || event.type === 'tool-end') this.leave((one) => isSameToolCall(one, event));
    else if (event.type === 'phase' && event.phase !== 'Running') this.leave((one) => one.runId === event.runId);
  }

  get count(): number {
    return this.waiting.length;
  }

  has(runId: string, toolCallId?: string): boolean {
    return this.waiting.some(
      (one) => one.runId === runId && (toolCallId === undefined || one.toolCallId === toolCallId),
    );
  }

  async show(runId = this.waiting[0]?.runId): Promise<void> {
    if (runId === undefined || !this.has(runId)) return;
    await vscode.commands.executeCommand('towpath.showChat');
    if (this.parts.shown() !== runId) await this.parts.open(runId);
    this.looked();
    await this.parts.focus(); // the notification had the focus
  }

  looked(): void {
    const seen = this.parts.panelInView() ? this.parts.shown() : undefined;
    for (const one of this.waiting) if (one.runId === seen) one.unremind?.();
  }

  panelTurned(): void {
    const inView = this.parts.panelInView();
    for (const one of this.waiting) {
      if (inView) one.unremind?.();
      else if (!one.unremind) this.remind(one);
    }
  }

  private asked(event: Extract<RunEvent, { type: 'ask' }>): void {
    const { runId, toolCallId, questions } = event;
    const question = truncateWithEllipsis(escapeInvisibleInProseLine(questions[0]?.question ?? ''), 200);
    const one: Waiting = { runId, toolCallId, question };
    this.leave((other) => isSameToolCall(other, event));
    this.waiting.push(one);
    this.parts.changed();
    if (!this.parts.panelInView()) this.remind(one);
    else if (this.parts.shown() !== runId) {
      const action: Notice['action'] = { label: t('Show'), action: 'answer', call: { runId, toolCallId } };
      const text = t('Question in “{0}”: {1}', this.titleOf(one), question);
      this.parts.notice({ level: 'info', text, action });
    }
  }

  private titleOf({ runId }: Waiting): string {
    return truncateWithEllipsis(localizedRunTitle(this.parts.titleOf(runId)), 60);
  }

  private remind(one: Waiting): void {
    const run = this.parts.shown() === one.runId ? '' : ` ${t('in “{0}”', this.titleOf(one))}`;
    const detail = `${run} · ${one.question}`;
    const link = `[${t('Answer…')}](command:towpath.answer?${encodeURIComponent(JSON.stringify([{ runId: one.runId, toolCallId: one.toolCallId }]))})`;
    const close = showReminderNotification(t('Towpath has a question: {0}', `${link}${disableCommandLinks(detail)}`));
    one.unremind = () => {
      one.unremind = undefined;
      close();
    };
  }

  private leave(isGone: (one: Waiting) => boolean): void {
    const gone = this.waiting.filter(isGone);
    if (gone.length === 0) return;
    this.waiting = this.waiting.filter((one) => !isGone(one));
    for (const one of gone) one.unremind?.();
    this.parts.changed();
  }
}
