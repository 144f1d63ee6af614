import * as vscode from 'vscode';
import type { Notice } from '../../protocol/view.ts';
import type { ChatView } from '../view/chatView.ts';
import { withoutLinks } from './questionText.ts';

let panel: Pick<ChatView, 'inView' | 'post'> | undefined;

/** From now on what is told while it is in view is told there. */
export const tellIn = (view: typeof panel): void => {
  panel = view;
};

/** Says what needs no answer: in the panel, or, as long as that is out of view, by a notification. */
export function tell(level: Notice['level'], text: string): void {
  if (panel?.inView) panel.post({ type: 'notice', notice: { level, text } });
  else if (level === 'info') void vscode.window.showInformationMessage(withoutLinks(text));
  else if (level === 'warning') void vscode.window.showWarningMessage(withoutLinks(text));
  else void vscode.window.showErrorMessage(withoutLinks(text));
}
