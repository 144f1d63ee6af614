import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';

/** Code action for any diagnostic. Called at each cursor movement, so no further data is read. */
export const lightbulbCodeActionProvider: vscode.CodeActionProvider = {
  provideCodeActions({ uri }, _, { diagnostics }) {
    const [worst] = diagnostics
      .filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Information)
      .sort((one, other) => one.severity - other.severity);
    if (!worst) return [];
    const title = t('Fix with Towpath');
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    const trouble = { uri, line: worst.range.start.line + 1 };
    action.diagnostics = [worst];
    action.command = { title, command: 'towpath.fix', arguments: [trouble] };
    return [action];
  },
};
