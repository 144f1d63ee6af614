import { realpathSync } from 'node:fs';
import * as vscode from 'vscode';
import { ToolError } from '../../tools/core/tool.ts';
import { changedCellSources, parseNotebook } from '../../tools/notebook/notebook.ts';

export function findOpenNotebook(file: string): vscode.NotebookDocument | undefined {
  const notebooks = vscode.workspace.notebookDocuments.filter(
    ({ uri, isClosed }) => uri.scheme === 'file' && !isClosed,
  );
  return notebooks.find(({ uri }) => uri.fsPath === file || realPathOf(uri.fsPath) === file);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // deleted
  }
}

/**
 * Applies and saves a change in an open notebook as one undo step; other cells, outputs and the selection stay. Returns false if more than
 * cell sources changes, so that the file must be written. Throws if the editor's state differs from the file.
 */
export async function editNotebook(notebook: vscode.NotebookDocument, before: string, text: string): Promise<boolean> {
  if (notebook.isDirty)
    throw new ToolError(
      'E_PRECONDITION_FAILED',
      'The notebook has changes in the editor that are not saved. Nothing was written; it has to be saved first.',
    );
  const sources = changedCellSources(before, text);
  if (!sources) return false;
  const was = parseNotebook(before);
  const cells = notebook.getCells();
  const isSame = (cell: vscode.NotebookCell, at: number) =>
    typeof was !== 'string' && sameLines(cell.document.getText(), was.cells[at]?.source);
  if (typeof was === 'string' || cells.length !== was.cells.length || !cells.every(isSame))
    throw new ToolError(
      'E_PRECONDITION_FAILED',
      'The editor shows this notebook otherwise, or it has just changed. Nothing was written; read it again.',
    );
  const edit = new vscode.WorkspaceEdit();
  for (const [at, source] of sources) {
    const { document } = cells[at]!;
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    edit.replace(document.uri, document.validateRange(whole), source);
  }
  if (!(await vscode.workspace.applyEdit(edit)))
    throw new ToolError('TOOL_EXEC_FAILED', 'The editor refused to change the notebook. Nothing was written.');
  if (!(await notebook.save()))
    throw new ToolError('TOOL_EXEC_FAILED', 'The notebook was changed in the editor, and could not be saved.');
  return true;
}

const sameLines = (a: string, b: string | undefined) => a.replaceAll(/\r\n?/g, '\n') === b?.replaceAll(/\r\n?/g, '\n');
