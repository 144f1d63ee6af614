import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { quoteForMessage } from '../../tools/core/pathSyntax.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { realOrVirtualRelativePath } from '../../tools/sandbox/resolveReadPath.ts';
import { uriToWorkspacePath } from '../editor/languageService.ts';

/** Returns the active editor. Throws an `Error` without one. */
export function requireActiveEditor(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Error(t('No file is open in the editor.'));
  return editor;
}

/** Returns the workspace path. Throws an `Error` outside of the open folders. */
export async function requireWorkspacePath(workspace: Workspace, uri: vscode.Uri): Promise<string> {
  const name = quoteForMessage(uri.path.slice(uri.path.lastIndexOf('/') + 1));
  if (uri.scheme === 'untitled') throw new Error(t('{0} is not saved yet and has no path to mention.', name));
  const at = uriToWorkspacePath(uri);
  const path = at === undefined ? undefined : await realOrVirtualRelativePath(workspace, at);
  if (path === undefined) throw new Error(t('{0} is outside the open folders and was not attached.', name));
  return path;
}
