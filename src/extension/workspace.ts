import { existsSync, promises as fs, realpathSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { ToolError } from '../tools/tool.ts';
import type { Workspace, WorkspaceRoot } from '../tools/workspace.ts';
import type { Problems } from './problems.ts';

/** The open workspace through the editor: its unsaved texts are what is read, and changes are undo steps of its own. */
export class EditorWorkspace implements Workspace {
  readonly ripgrep = findRipgrep();

  constructor(private readonly problems?: Problems) {}

  get roots(): readonly WorkspaceRoot[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return folders
      .filter((folder) => folder.uri.scheme === 'file')
      .map((folder) => ({ name: folder.name, path: folder.uri.fsPath }));
  }

  get trusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  openText(file: string): string | undefined {
    return openDocument(file)?.getText();
  }

  isDirty(file: string): boolean {
    return openDocument(file)?.isDirty ?? false;
  }

  async writeText(file: string, text: string): Promise<void> {
    const uri = openDocument(file)?.uri ?? vscode.Uri.file(file);
    const edit = new vscode.WorkspaceEdit();
    const exists = existsSync(file);
    if (exists) {
      const document = await vscode.workspace.openTextDocument(uri);
      const everything = new vscode.Range(0, 0, document.lineCount, 0);
      edit.replace(uri, document.validateRange(everything), text.replace(/^\uFEFF/, '')); // the document keeps its BOM
    } else {
      await fs.mkdir(path.dirname(file), { recursive: true });
      edit.createFile(uri, { contents: Buffer.from(text), ignoreIfExists: false });
    }
    if (!(await vscode.workspace.applyEdit(edit)))
      throw new ToolError('TOOL_EXEC_FAILED', 'The editor refused this change; the file may be read-only.');
    const document = openDocument(file);
    if (document?.isDirty && !(await document.save()))
      throw new ToolError('TOOL_EXEC_FAILED', 'The change is in the editor, but the file could not be saved.');
  }

  watchProblems(file: string): ReturnType<Problems['watch']> {
    return this.problems?.watch(file);
  }

  async delete(file: string): Promise<void> {
    const uri = vscode.Uri.file(file);
    try {
      await vscode.workspace.fs.delete(uri, { useTrash: true });
    } catch {
      await vscode.workspace.fs.delete(uri); // a remote machine has no trash; the content is kept with the run
    }
  }
}

/** Text of the first folder's AGENTS.md, when the workspace is trusted. */
export async function workspaceInstructions(workspace: Workspace): Promise<string | undefined> {
  const root = workspace.roots[0];
  if (!root || !workspace.trusted) return undefined;
  return fs.readFile(path.join(root.path, 'AGENTS.md'), 'utf8').catch(() => undefined);
}

/** The document of a real path; the editor may know it by a path that leads there through a link. */
function openDocument(file: string): vscode.TextDocument | undefined {
  const documents = vscode.workspace.textDocuments.filter((one) => one.uri.scheme === 'file');
  return documents.find((one) => one.uri.fsPath === file) ?? documents.find((one) => realPathOf(one.uri) === file);
}

function realPathOf(uri: vscode.Uri): string | undefined {
  try {
    return realpathSync(uri.fsPath);
  } catch {
    return undefined; // not saved yet, or gone
  }
}

/** The editor brings ripgrep along; where exactly differs between its versions and its server. */
function findRipgrep(): string | undefined {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const places = ['node_modules', 'node_modules.asar.unpacked'].flatMap((folder) =>
    ['@vscode/ripgrep/bin', `@vscode/ripgrep-${process.platform}-${process.arch}/bin`].map((inside) =>
      path.join(vscode.env.appRoot, folder, inside, name),
    ),
  );
  return places.find((place) => existsSync(place));
}
