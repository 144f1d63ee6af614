import * as vscode from 'vscode';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { Notice } from '../../protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import type { ApprovalRequest } from '../../tools/core/tool.ts';
import { disableCommandLinks, safeRunTitle } from '../dialogs/approvalText.ts';
import { showReminderNotification } from '../dialogs/reminder.ts';
import { approvalCallKey } from './findApproval.ts';

/**
 * Approval with reminders. `isDeferred`: waits without a dialog until the user opens the request. `isReminded`: shown by the panel or a
 * notification instead of a dialog. `unremind` closes the notification.
 */
export interface RemindableApproval {
  request: ApprovalRequest;
  isDeferred: boolean;
  isReminded: boolean;
  unremind?(): void;
}

interface Dependencies<Waiting> {
  all(): readonly Waiting[];
  isWaiting(one: Waiting): boolean;
  panelInView(): boolean;
  otherRun(runId: string): string | undefined;
  /** Title of the task that a call belongs to; undefined: the call is the run's own. */
  taskOf(key: ToolCallKey): string | undefined;
  notice(notice: Notice): void;
  systemNotification(text: string | null): void;
}

/**
 * Reminders of approvals without a dialog: in the panel, or by a notification while the panel is hidden. While the window is in the
 * background, the visible panel also shows a notification of the system.
 */
export class ApprovalReminders<Waiting extends RemindableApproval> {
  private isNotifiedBySystem = false;

  constructor(private readonly dependencies: Dependencies<Waiting>) {}

  remind(group: readonly Waiting[]): void {
    const { isWaiting, otherRun, panelInView } = this.dependencies;
    const unreminded = group.filter((one) => isWaiting(one) && !one.isReminded);
    for (const one of unreminded) one.isReminded = true;
    if (!panelInView()) this.notify(group);
    else if (unreminded[0] && otherRun(unreminded[0].request.runId) !== undefined) this.showNotice();
    if (unreminded.length > 0 && !vscode.window.state.focused) this.notifyBySystem(unreminded);
  }

  windowFocused(): void {
    if (this.isNotifiedBySystem) this.dependencies.systemNotification(null);
    this.isNotifiedBySystem = false;
  }

  private notifyBySystem(waiting: readonly Waiting[]): void {
    const title = this.titleOf(waiting);
    const text = whatWaits(waiting);
    this.dependencies.systemNotification(
      escapeInvisibleInLine(
        title === undefined ? t('Needs your approval: {0}', text) : `${needsApproval(title)} · ${text}`,
      ),
    );
    this.isNotifiedBySystem = true;
  }

  /** Shows the waiting hidden runs above the message box. Cards already show the requests of the current run. */
  showNotice(): void {
    const { all, otherRun, notice } = this.dependencies;
    const others = byRun(
      all().filter(({ isReminded: reminded, request }) => reminded && otherRun(request.runId) !== undefined),
    );
    const [first] = others[0] ?? [];
    if (!first) return;
    const [run, call] = [otherRun(first.request.runId)!, approvalCallKey(first.request)];
    const text = others.length > 1 ? t('{0} runs need your approval', others.length) : needsApproval(run);
    notice({
      level: 'info',
      text: escapeInvisibleInLine(text),
      action: { label: t('Answer…'), action: 'answer', call },
    });
  }

  panelTurned(all: readonly Waiting[]): void {
    const remindedRequests = all.filter((one) => one.isReminded);
    if (this.dependencies.panelInView()) for (const one of remindedRequests) one.unremind?.();
    else for (const ofRun of byRun(remindedRequests)) this.notify(ofRun);
  }

  notify(group: readonly Waiting[]): void {
    const waiting = group.filter((one) => this.dependencies.isWaiting(one) && !one.unremind);
    const [first] = waiting;
    if (!first) return;
    for (const one of waiting) one.isReminded = true;
    const { request } = first;
    const link = (text: string, command: string) =>
      `[${text}](command:${command}?${encodeURIComponent(JSON.stringify([approvalCallKey(request)]))})`;
    const ways = `${link(t('Answer…'), 'towpath.answer')} · ${link(t('Deny'), 'towpath.denyWithWords')}`;
    const title = this.titleOf(waiting);
    const text = `${ways} · ${disableCommandLinks(whatWaits(waiting))}`;
    const close = showReminderNotification(
      title === undefined
        ? t('Needs your approval: {0}', text)
        : `${disableCommandLinks(needsApproval(title))} · ${text}`,
    );
    const unremind = () => {
      close();
      for (const one of waiting) one.unremind = undefined;
      setImmediate(() => this.remind(waiting.filter((one) => one.isDeferred))); // the rest, after one was answered separately
    };
    for (const one of waiting) one.unremind = unremind;
  }

  /** Returns the title of the hidden run of the requests, or of the task that all of them belong to. */
  private titleOf(waiting: readonly Waiting[]): string | undefined {
    const run = this.dependencies.otherRun(waiting[0]!.request.runId);
    if (run !== undefined) return run;
    const titles = new Set(waiting.map(({ request }) => this.dependencies.taskOf(approvalCallKey(request))));
    return titles.size === 1 ? [...titles][0] : undefined;
  }
}

const byRun = <Waiting extends RemindableApproval>(all: readonly Waiting[]): Waiting[][] =>
  [...new Set(all.map(({ request }) => request.runId))].map((runId) =>
    all.filter(({ request }) => request.runId === runId),
  );

const needsApproval = (title: string): string => t('“{0}” needs your approval', safeRunTitle(title));

const whatWaits = (waiting: readonly RemindableApproval[]): string =>
  waiting.length > 1 ? t(localizedCount(waiting.length, 'question')) : waiting[0]!.request.plan.what;
