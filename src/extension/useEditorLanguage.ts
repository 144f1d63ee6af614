import * as vscode from 'vscode';
import { setLanguage } from '../protocol/text/l10n.ts';

/** Sets the language of the editor; English if there is no translation. */
export function useEditorLanguage(): void {
  const { bundle } = vscode.l10n;
  setLanguage(bundle ? vscode.env.language : 'en', bundle);
}
