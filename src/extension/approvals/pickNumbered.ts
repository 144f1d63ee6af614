import * as vscode from 'vscode';

/**
 * Shows a list with numeric shortcuts that stays open until answered. Enter alone goes back, because a held key may reach the list.
 * @param back first entry
 * @param choices numbered from 1, up to one digit
 * @param gone closes the list
 */
export async function pickNumbered<Choice extends vscode.QuickPickItem>(
  back: string,
  choices: readonly Choice[],
  { title, placeholder }: { title: string; placeholder: string },
  gone: vscode.CancellationToken,
): Promise<Choice | undefined> {
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { choice?: Choice }>();
  Object.assign(picker, { title, placeholder, ignoreFocusOut: true });
  picker.items = [
    { label: `$(arrow-left) ${back}` },
    ...choices.map((choice, at) => ({
      ...choice,
      label: at < 9 ? `${at + 1} · ${choice.label}` : choice.label,
      choice,
    })),
  ];
  try {
    return await new Promise((resolve) => {
      picker.onDidChangeValue((typed) => /^[1-9]$/.test(typed) && choices[+typed - 1] && resolve(choices[+typed - 1]));
      picker.onDidAccept(() => resolve(picker.selectedItems[0]?.choice));
      picker.onDidHide(() => resolve(undefined));
      gone.onCancellationRequested(() => resolve(undefined));
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}
