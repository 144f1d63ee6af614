import * as vscode from 'vscode';
import { speak } from '../protocol/text/l10n.ts';

/** Sets the language of the editor; English if there is no translation. */
export function useEditorLanguage(): void {
  const { bundle } = vscode.l10n;
  speak(bundle ? vscode.env.language : 'en', bundle);
}
