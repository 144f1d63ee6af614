import path from 'node:path';
import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { RunStore } from '../../runs/store.ts';
import { type LineEdit, lineEditRevertingChange, lineEditsBetween } from '../../tools/changes/revertHunk.ts';
import { acceptedItem } from '../dialogs/acceptedItem.ts';
import { notify } from '../dialogs/notify.ts';
import type { ChangedFiles } from './changedFiles.ts';
import type { PanelConversation } from './conversation.ts';

interface Dependencies {
  changedFiles: ChangedFiles;
  conversation: PanelConversation;
  store: RunStore;
}

type Row = Awaited<ReturnType<ChangedFiles['rows']>>[number];

interface Found {
  document: vscode.TextDocument;
  edit: LineEdit;
}

/**
 * Reverts the change at the cursor to the content before the run, in the editor, to be saved or undone by the user. Without a change at the
 * cursor, a list is displayed.
 */
export async function revertChangeAtCursor({ changedFiles, conversation, store }: Dependencies): Promise<void> {
  const { runId } = conversation;
  const rows = runId === undefined ? [] : (await changedFiles.rows(runId)).filter(isOfText);
  const before = async ({ file }: Row) => (file.before === null ? '' : store.contents.read(runId!, file.before));
  const editor = vscode.window.activeTextEditor;
  const here = rows.find(
    ({ absolute }) => editor?.document.uri.scheme === 'file' && absolute === editor.document.uri.fsPath,
  );
  const edit =
    editor &&
    here &&
    lineEditRevertingChange(editor.selection.active.line, await before(here), editor.document.getText());
  const found = edit ? { document: editor.document, edit } : await choose(rows, before);
  if (found && !(await vscode.workspace.applyEdit(editOf(found))))
    notify('error', t('The editor did not undo the change.'));
}

const isOfText = ({ file, absolute }: Row): boolean => absolute !== undefined && !file.kind && file.from === undefined;

async function choose(rows: Row[], before: (row: Row) => Promise<string>): Promise<Found | undefined> {
  const items = (await Promise.all(rows.map((row) => itemsOf(row, before)))).flat();
  if (items.length === 0) {
    notify('info', t('This run has no change that can be undone.'));
    return undefined;
  }
  const picker = vscode.window.createQuickPick<(typeof items)[number]>();
  picker.title = t('Undo a change of this run');
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.items = items.slice(0, maxChanges);
  picker.onDidChangeActive(([item]) => item && void show(item));
  return acceptedItem(picker);
}

async function itemsOf(row: Row, before: (row: Row) => Promise<string>): Promise<(vscode.QuickPickItem & Found)[]> {
  try {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(row.absolute!));
    return lineEditsBetween(await before(row), document.getText()).map((edit) => {
      const now = edit.start < edit.end ? document.lineAt(edit.start).text : edit.lines[0];
      return {
        label: escapeInvisibleInLine(`${path.basename(row.row.path)}:${edit.start + 1}`),
        description: `+${edit.end - edit.start} −${edit.lines.length}`,
        detail: escapeInvisibleInLine(now?.trim() ?? ''),
        document,
        edit,
      };
    });
  } catch {
    return []; // gone, or no longer text
  }
}

async function show({ document, edit }: Found): Promise<void> {
  const position = new vscode.Position(Math.min(edit.start, document.lineCount - 1), 0);
  const selection = new vscode.Range(position, position);
  await vscode.window.showTextDocument(document, { selection, preserveFocus: true, preview: true });
}

function editOf({ document, edit }: Found): vscode.WorkspaceEdit {
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
  return all;
}

const maxChanges = 500;
