import path from 'node:path';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';

/** The open folders that are on a disk of this machine. Of a virtual one `fsPath` means nothing: it may be somebody else's folder here. */
export const diskFolders = (): vscode.WorkspaceFolder[] =>
  (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');

/** The open folders, when none of them is on a disk of this machine; else none. */
export function virtualFolders(): readonly vscode.WorkspaceFolder[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.every(({ uri }) => uri.scheme !== 'file') ? folders : [];
}

export const isVirtual = (): boolean => virtualFolders().length > 0;

/** Of a path or, in a virtual workspace, an address, as the tools have them. */
export const folderUri = (place: string): vscode.Uri =>
  isVirtual() && !path.isAbsolute(place) ? vscode.Uri.parse(place, true) : vscode.Uri.file(place);

/** Why a thing is not there in a virtual workspace. */
export const notInVirtual = (
  what:
    | 'Workflows are'
    | 'Agents from files are'
    | 'Packages are'
    | 'Importing is'
    | 'Tools that change or run anything are',
): string =>
  t(
    '{0} not available in a virtual workspace, whose folders are on no disk of this machine. Files can be read, listed and searched. Open a local folder for the rest.',
    t(what),
  );
