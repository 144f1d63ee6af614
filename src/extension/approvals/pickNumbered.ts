import * as vscode from 'vscode';

/**
 * A list that stays until it is answered, of which a number chooses. Enter alone goes back, for a key that is held a moment too long
 * comes here, too.
 * @param back what stands first
 * @param choices numbered from 1, as far as one digit goes
 * @param gone closes it
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
