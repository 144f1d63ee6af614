import path from 'node:path';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { hunkAtLine } from '../../tools/changes/fileHunks.ts';
import { notify } from '../dialogs/notify.ts';
import type { FileUndo } from '../runs/undoFiles.ts';
import type { DocumentHunk, RunHunks } from './runHunks.ts';

interface Dependencies {
  hunks: RunHunks;
  undo: FileUndo;
}

/** Shows the next or previous hunk of the displayed run, also in the other changed files. After the last hunk comes the first. */
export async function showHunk({ hunks }: Dependencies, direction: 'next' | 'previous'): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const paths = await hunks.paths();
  const isNext = direction === 'next';
  const here = editor && hunks.has(editor.document) ? paths.indexOf(path.normalize(editor.document.uri.fsPath)) : -1;
  if (editor && here >= 0) {
    const found = await hunks.hunks(editor.document);
    const { line } = editor.selection.active;
    const hunk = isNext ? found.find(({ start }) => start > line) : found.findLast(({ start }) => start < line);
    if (hunk) return showHunkAt(editor.document, hunk, editor.viewColumn);
  }
  const steps = Array.from(paths, (_, step) => (isNext ? step + 1 : paths.length * 2 - step - 1));
  for (const step of steps) {
    const name = paths[(here < 0 ? step - (isNext ? 1 : 0) : here + step) % paths.length]!;
    const document = await openText(name);
    const found = document ? await hunks.hunks(document) : [];
    const hunk = isNext ? found[0] : found.at(-1);
    if (document && hunk) return showHunkAt(document, hunk);
  }
  notify('info', t('This run has no changes to show in text files.'));
}

/** Undoes the hunk at the cursor, or the hunk of a CodeLens. */
export async function undoHunkAtCursor({ hunks, undo }: Dependencies, uri?: unknown, key?: unknown): Promise<void> {
  const found = await findHunk(hunks, uri, key);
  if (!found) return;
  const { runId, path } = hunks.locate(found.document)!;
  const reason = await undo.hunk(runId, path, found.hunk.key);
  if (reason !== undefined) notify('warning', reason);
}

/** Marks the hunk at the cursor, or the hunk of a CodeLens, as reviewed. */
export async function markHunkReviewed({ hunks }: Dependencies, uri?: unknown, key?: unknown): Promise<void> {
  const found = await findHunk(hunks, uri, key);
  if (found) await hunks.markReviewed(found.document, found.hunk.key);
}

async function findHunk(
  hunks: RunHunks,
  uri: unknown,
  key: unknown,
): Promise<{ document: vscode.TextDocument; hunk: DocumentHunk } | undefined> {
  const editor = vscode.window.activeTextEditor;
  const document =
    uri instanceof vscode.Uri
      ? vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString())
      : editor?.document;
  const all = document ? await hunks.hunks(document) : [];
  const hunk =
    typeof key === 'string'
      ? all.find((one) => one.key === key)
      : editor && hunkAtLine(all, editor.selection.active.line);
  if (document && hunk && hunks.locate(document)) return { document, hunk };
  const isNotebook = document?.uri.scheme === 'vscode-notebook-cell';
  notify(
    'info',
    isNotebook
      ? t('Changes in a notebook are undone in the list of files.')
      : t('There is no change of this run at the cursor.'),
  );
  return undefined;
}

async function openText(name: string): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(vscode.Uri.file(name));
  } catch {
    return undefined; // gone, or no longer text
  }
}

async function showHunkAt(
  document: vscode.TextDocument,
  { start }: DocumentHunk,
  viewColumn?: vscode.ViewColumn,
): Promise<void> {
  const position = document.validatePosition(new vscode.Position(start, 0));
  const selection = new vscode.Range(position, position);
  await vscode.window.showTextDocument(document, { selection, preview: true, ...(viewColumn && { viewColumn }) });
}
