import path from 'node:path';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';

/** Returns the open folders on a disk of this machine. For a virtual folder, `fsPath` is meaningless and may name another folder. */
export const diskFolders = (): vscode.WorkspaceFolder[] =>
  (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');

/** Returns the open folders if all are virtual; otherwise none. */
export function openVirtualFolders(): readonly vscode.WorkspaceFolder[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.every(({ uri }) => uri.scheme !== 'file') ? folders : [];
}

export const isVirtualWorkspace = (): boolean => openVirtualFolders().length > 0;

export const folderUri = (folder: string): vscode.Uri =>
  isVirtualWorkspace() && !path.isAbsolute(folder) ? vscode.Uri.parse(folder, true) : vscode.Uri.file(folder);

export const virtualUnsupportedMessage = (
  what:
    | 'Workflows are'
    | 'Agents from files are'
    | 'Tasks for other agents are'
    | 'Packages are'
    | 'Importing is'
    | 'Asking in the editor is'
    | 'Tools that change or run anything are',
): string =>
  t(
    '{0} not available in a virtual workspace, whose folders are on no disk of this machine. Files can be read, listed and searched. Open a local folder for the rest.',
    t(what),
  );
