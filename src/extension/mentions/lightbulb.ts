import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';

/** Code actions for any diagnostic, and for selected lines of the workspace. Called at each cursor movement, so no further data is read. */
export const lightbulbCodeActionProvider: vscode.CodeActionProvider = {
  provideCodeActions({ uri }, { isEmpty }, { diagnostics }) {
    const [worst] = diagnostics
      .filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Information)
      .sort((one, other) => one.severity - other.severity);
    const actions: vscode.CodeAction[] = [];
    if (worst) {
      const trouble = { uri, line: worst.range.start.line + 1 };
      const fix = createAction(t('Fix with Towpath'), vscode.CodeActionKind.QuickFix, 'towpath.fix', [trouble]);
      fix.diagnostics = [worst];
      actions.push(fix);
    }
    const { isTrusted, getWorkspaceFolder } = vscode.workspace;
    if ((worst || !isEmpty) && isTrusted && getWorkspaceFolder(uri)) {
      const kind = worst ? vscode.CodeActionKind.QuickFix : vscode.CodeActionKind.Refactor;
      actions.push(createAction(t('Ask Towpath Here…'), kind, 'towpath.askHere'));
    }
    return actions;
  },
};

function createAction(
  title: string,
  kind: vscode.CodeActionKind,
  command: string,
  args: unknown[] = [],
): vscode.CodeAction {
  const action = new vscode.CodeAction(title, kind);
  action.command = { title, command, arguments: args };
  return action;
}
