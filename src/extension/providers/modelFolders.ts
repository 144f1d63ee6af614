import os from 'node:os';
import * as vscode from 'vscode';
import { settings } from '../settings/settings.ts';

/** Where downloaded models are kept: the editor's storage of this extension, which all windows share, or what the settings say. */
export const downloadFolder = (storage: vscode.Uri): string =>
  settings()['local.downloadFolder'] || vscode.Uri.joinPath(storage, 'models').fsPath;

/** The folders that the person lists. */
export const listedFolders = (): string[] =>
  settings()['local.folders'].map((folder) => folder.replace(/^~(?=$|[\\/])/, os.homedir()));
