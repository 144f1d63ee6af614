import * as vscode from 'vscode';
import { withoutLinks } from './questionText.ts';

/** Work that a notification shows, with what it is at, until it is done or the person stops it there. */
export function stoppable<Value>(
  title: string,
  work: (signal: AbortSignal, progress: (text: string) => void) => Promise<Value>,
): Thenable<Value> {
  const options = { location: vscode.ProgressLocation.Notification, title: withoutLinks(title), cancellable: true };
  return vscode.window.withProgress(options, (progress, token) => {
    const stop = new AbortController();
    token.onCancellationRequested(() => stop.abort());
    return work(stop.signal, (message) => progress.report({ message: withoutLinks(message) }));
  });
}
