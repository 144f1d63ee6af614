import * as vscode from 'vscode';
import type { Notice } from '../../protocol/panel/panelMessages.ts';
import type { ChatView } from '../view/chatView.ts';
import { logNotice, type NoticeLog } from '../view/noticeLog.ts';
import { withoutLinks } from './approvalText.ts';

let panel: Pick<ChatView, 'inView' | 'post'> | undefined;
let log: NoticeLog | undefined;

/** From now on what is told while it is in view is told there; the log has all of it. */
export const setNotificationTarget = (view: typeof panel, channel?: NoticeLog): void => {
  panel = view;
  log = channel;
};

/** While it is: nothing of ours is a notification, which would lie on what the panel shows. */
export const isPanelInView = (): boolean => panel?.inView ?? false;

/** Says what needs no answer: in the panel, or, as long as that is out of view, by a notification. */
export function notify(level: Notice['level'], text: string): void {
  if (isPanelInView()) panel!.post({ type: 'notice', notice: { level, text } });
  else void showNotification(level, text);
}

/**
 * The same, with what can be done about it. Resolves to the button that was pressed; undefined where none was, and something else is told by now.
 * Whatever a button does, it allows nothing: a page can press it, too.
 */
export function notifyWithActions(
  level: Notice['level'],
  text: string,
  ...buttons: string[]
): Promise<string | undefined> {
  if (!isPanelInView()) return showNotification(level, text, ...buttons);
  return offerInPanel(level, text, buttons).pressed;
}

/** The button is there until `end` is called, or something else is told. */
export function offerInPanel(
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

/** What is offered in the panel. */
let offered: { id: number; buttons: string[]; answer(pressed: string | undefined): void } | undefined;
let count = 0;

/** A button of what is offered was pressed there; without one it was put away. */
export function pressed(id: number, button?: number): void {
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
  if (level === 'info') return vscode.window.showInformationMessage(withoutLinks(text), ...buttons);
  if (level === 'warning') return vscode.window.showWarningMessage(withoutLinks(text), ...buttons);
  return vscode.window.showErrorMessage(withoutLinks(text), ...buttons);
}
