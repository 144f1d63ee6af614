import * as vscode from 'vscode';
import type { Notice } from '../../protocol/panel/panelMessages.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import type { ChatView } from '../view/chatView.ts';
import { logNotice, type NoticeLog } from '../view/noticeLog.ts';
import { disableCommandLinks } from './approvalText.ts';

let panel: Pick<ChatView, 'inView' | 'post'> | undefined;
let log: NoticeLog | undefined;

export const setNotificationTarget = (view: typeof panel, channel?: NoticeLog): void => {
  panel = view;
  log = channel;
};

/** Tests if the panel is visible: then Towpath shows no editor notifications, which would cover the panel. */
export const isPanelInView = (): boolean => panel?.inView ?? false;

export function notify(level: Notice['level'], text: string): void {
  if (isPanelInView()) panel!.post({ type: 'notice', notice: { level, text } });
  else void showNotification(level, text);
}

/** Runs a command of the user. An error becomes a warning. */
export async function notifyFailure(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    notify('warning', localize(messageOf(error)));
  }
}

/**
 * Shows a message with actions. Resolves to the pressed button, or undefined if replaced or dismissed. Buttons must not grant permissions,
 * because the page can press a button too.
 */
export function notifyWithActions(
  level: Notice['level'],
  text: string,
  ...buttons: string[]
): Promise<string | undefined> {
  if (!isPanelInView()) return showNotification(level, text, ...buttons);
  return showPanelButtonNotice(level, text, buttons).pressed;
}

/** Shows a button until `end` is called or another message appears. */
export function showPanelButtonNotice(
  level: Notice['level'],
  text: string,
  buttons: string[],
): { pressed: Promise<string | undefined>; end(): void } {
  offered?.answer(undefined);
  count += 1;
  const id = count;
  const pressed = new Promise<string | undefined>((resolve) => {
    offered = { id, buttons, answer: resolve };
  });
  panel?.post({ type: 'notice', notice: { level, text, offer: { id, buttons } } });
  return { pressed, end: () => panel?.post({ type: 'notice-over', id }) };
}

let offered: { id: number; buttons: string[]; answer(pressed: string | undefined): void } | undefined;
let count = 0;

export function onNoticeButtonPressed(id: number, button?: number): void {
  if (offered?.id !== id) return;
  offered.answer(button === undefined ? undefined : offered.buttons[button]);
  offered = undefined;
}

async function showNotification(
  level: Notice['level'],
  text: string,
  ...buttons: string[]
): Promise<string | undefined> {
  if (log) logNotice(log, { level, text });
  if (level === 'info') return vscode.window.showInformationMessage(disableCommandLinks(text), ...buttons);
  if (level === 'warning') return vscode.window.showWarningMessage(disableCommandLinks(text), ...buttons);
  return vscode.window.showErrorMessage(disableCommandLinks(text), ...buttons);
}
