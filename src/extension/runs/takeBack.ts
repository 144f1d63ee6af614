import * as vscode from 'vscode';
import { t } from '../../protocol/l10n.ts';
import type { RunStore } from '../../runs/store.ts';
import { takenBackAt } from '../../tools/files/takenBack.ts';
import { tell } from '../dialogs/tell.ts';
import type { ChangedFiles } from './changedFiles.ts';
import type { Conversation } from './conversation.ts';

interface Parts {
  changedFiles: ChangedFiles;
  conversation: Conversation;
  store: RunStore;
}

/**
 * The change at the cursor, of a file that the shown run has changed, becomes what it was before that run: in the editor, to be saved or
 * undone there, in a diff as in the file alone.
 */
export async function takeBackAtCursor({ changedFiles, conversation, store }: Parts): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const { runId } = conversation;
  const rows = runId === undefined ? [] : await changedFiles.rows(runId);
  const row = rows.find(({ place }) => place !== undefined && place === editor?.document.uri.fsPath);
  if (!editor || editor.document.uri.scheme !== 'file' || !row || row.file.kind || row.file.from !== undefined)
    return tell('info', t('Put the cursor on a change, in a file that this run has changed or in its diff.'));
  const { document, selection } = editor;
  const before = row.file.before === null ? '' : await store.contents.read(runId!, row.file.before);
  const edit = takenBackAt(selection.active.line, before, document.getText());
  if (!edit) return tell('info', t('There is no change of this run at the cursor.'));
  const end = document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
  const isLast = edit.end === document.lineCount;
  const begin =
    isLast && edit.start > 0 ? document.lineAt(edit.start - 1).range.end : new vscode.Position(edit.start, 0);
  const range = new vscode.Range(begin, document.validatePosition(new vscode.Position(edit.end, 0)));
  const text = isLast
    ? (edit.start > 0 && edit.lines.length > 0 ? end : '') + edit.lines.join(end)
    : edit.lines.map((line) => line + end).join('');
  const all = new vscode.WorkspaceEdit();
  all.replace(document.uri, range, text);
  if (!(await vscode.workspace.applyEdit(all))) tell('error', t('The editor did not take the change back.'));
}
