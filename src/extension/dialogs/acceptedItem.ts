import type * as vscode from 'vscode';

/** Shows a picker and disposes it afterwards. Resolves to the accepted item, or to undefined after Escape. */
export async function acceptedItem<Item extends vscode.QuickPickItem>(
  picker: vscode.QuickPick<Item>,
): Promise<Item | undefined> {
  try {
    return await new Promise((resolve) => {
      picker.onDidAccept(() => resolve(picker.selectedItems[0]));
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}
