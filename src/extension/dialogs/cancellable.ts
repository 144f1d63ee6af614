import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { disableCommandLinks } from './approvalText.ts';
import { isPanelInView, showPanelButtonNotice } from './notify.ts';

type Work<Value> = (signal: AbortSignal, progress: (text: string, percent?: number) => void) => Promise<Value>;

export function withCancellation<Value>(title: string, work: Work<Value>, stop = t('Cancel')): Thenable<Value> {
  return isPanelInView() ? inPanel(title, work, stop) : inNotification(title, work);
}

function inNotification<Value>(title: string, work: Work<Value>): Thenable<Value> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: disableCommandLinks(title),
    cancellable: true,
  };
  return vscode.window.withProgress(options, (progress, token) => {
    const stop = new AbortController();
    token.onCancellationRequested(() => stop.abort());
    return work(stop.signal, (message, increment) =>
      progress.report({ message: disableCommandLinks(message), increment }),
    );
  });
}

function inPanel<Value>(title: string, work: Work<Value>, stop: string): Thenable<Value> {
  const stopped = new AbortController();
  const { pressed, end } = showPanelButtonNotice('info', title, [stop]);
  void pressed.then((button) => button === stop && stopped.abort());
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, (progress) =>
    work(stopped.signal, (message) => progress.report({ message: disableCommandLinks(message) })).finally(end),
  );
}
