import os from 'node:os';
import * as vscode from 'vscode';
import { settings } from '../settings/settings.ts';

export const downloadFolder = (storage: vscode.Uri): string =>
  settings()['local.downloadFolder'] || vscode.Uri.joinPath(storage, 'models').fsPath;

export const localModelFolders = (): string[] =>
  settings()['local.folders'].map((folder) => folder.replace(/^~(?=$|[\\/])/, os.homedir()));
