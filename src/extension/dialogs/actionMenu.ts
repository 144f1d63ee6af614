import * as vscode from 'vscode';

interface MenuAction extends vscode.QuickPickItem {
  run(): unknown;
}

/** Menu of actions; performs the selected one. */
export async function showActionMenu(
  title: string,
  actions: readonly MenuAction[],
  placeHolder?: string,
): Promise<void> {
  const chosen = await vscode.window.showQuickPick(actions, { title, ...(placeHolder && { placeHolder }) });
  await chosen?.run();
}
