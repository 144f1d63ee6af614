import * as vscode from 'vscode';
import { speak } from '../protocol/text/l10n.ts';

/** People are spoken to as the editor speaks to them; all in English, where we have no words in its language. */
export function speakAsTheEditor(): void {
  const { bundle } = vscode.l10n;
  speak(bundle ? vscode.env.language : 'en', bundle);
}
