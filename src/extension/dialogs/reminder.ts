import * as vscode from 'vscode';

/** Shows a notification until the returned function is called. Links in the title run commands. */
export function showReminderNotification(title: string): () => void {
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => closed);
  return close;
}
