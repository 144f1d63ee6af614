import * as vscode from 'vscode';
import type { TreeEntry, VirtualFiles } from '../../tools/core/workspace.ts';
import { toWorkspaceRoots } from '../../tools/core/workspaceRoots.ts';
import { openVirtualFolders } from '../dialogs/folders.ts';

export function createVirtualFileSystem(): VirtualFiles | undefined {
  const folders = openVirtualFolders();
  if (folders.length === 0) return undefined;
  const named = toWorkspaceRoots(folders.map(({ name, uri }) => ({ name, path: uri.path })));
  return {
    folders: folders.map(({ uri }, at) => ({ name: named[at]!.name, address: uri.toString() })),
    below: (address, names) => vscode.Uri.joinPath(vscode.Uri.parse(address, true), ...names).toString(),
    async look(address) {
      try {
        const { type, size } = await vscode.workspace.fs.stat(vscode.Uri.parse(address, true));
        return { kind: kindOf(type), size };
      } catch (error) {
        if (error instanceof vscode.FileSystemError && error.code !== 'FileNotFound') throw refused(error);
        return undefined;
      }
    },
    async list(address) {
      const found = await vscode.workspace.fs.readDirectory(vscode.Uri.parse(address, true)).then(undefined, fail);
      return found.map(([name, type]) => ({ name, kind: kindOf(type) }));
    },
    read: async (address) => vscode.workspace.fs.readFile(vscode.Uri.parse(address, true)).then(undefined, fail),
  };
}

function kindOf(type: vscode.FileType): TreeEntry['kind'] {
  if (type & vscode.FileType.SymbolicLink) return 'link';
  if (type & vscode.FileType.Directory) return 'folder';
  return type & vscode.FileType.File ? 'file' : 'other';
}

function fail(error: unknown): never {
  throw refused(error);
}

/** Converts an error without the text, which may name unknown locations. */
const refused = (error: unknown): Error =>
  new Error(
    `The editor could not read this (${error instanceof vscode.FileSystemError ? error.code : 'unknown error'}).`,
  );
