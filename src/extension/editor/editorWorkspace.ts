import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { quoteForMessage } from '../../tools/core/pathSyntax.ts';
import { ToolError } from '../../tools/core/tool.ts';
import type {
  FileWriteOptions,
  TreeEntry,
  VirtualFiles,
  Workspace,
  WorkspaceRoot,
} from '../../tools/core/workspace.ts';
import { toWorkspaceRoots } from '../../tools/core/workspaceRoots.ts';
import { decodeText, encodeText, maxTextFileBytes } from '../../tools/sandbox/fileText.ts';
import { checkTree, removeTree } from '../../tools/sandbox/fileTree.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';
import { createFile, replaceFile } from '../../tools/sandbox/writeFile.ts';
import { diskFolders, isVirtualWorkspace } from '../dialogs/folders.ts';
import { editNotebook, findOpenNotebook } from './notebooks.ts';
import type { ChangeErrorDetector } from './problems.ts';
import { replaceDocumentText, type SaveOptions, saveDocument } from './saving.ts';
import { createVirtualFileSystem } from './virtualFileSystem.ts';

/** Workspace through the editor: reads include unsaved text, and each change is one undo step. */
export class EditorWorkspace implements Workspace {
  readonly ripgrep: string | undefined;

  /**
   * @param extensionPath install folder of Towpath, whose packages are the fallback location of ripgrep
   * @param patience time limits of a save
   */
  constructor(
    private readonly problems?: ChangeErrorDetector,
    extensionPath?: string,
    private readonly patience: SaveOptions['patience'] = { limit: 60_000, silent: 3000 },
  ) {
    this.ripgrep = findRipgrep([vscode.env.appRoot, ...(extensionPath === undefined ? [] : [extensionPath])]);
  }

  get roots(): readonly WorkspaceRoot[] {
    const started = this.startedFiles();
    const roots = toWorkspaceRoots(diskFolders().map(({ name, uri }) => ({ name, path: uri.fsPath })));
    return started.length === 0 ? roots : roots.map((root) => ({ ...root, startedFiles: started }));
  }

  /** Returns files that configured servers are started from; set by the owner of the servers. */
  startedFiles: () => readonly string[] = () => [];

  get virtual(): VirtualFiles | undefined {
    return createVirtualFileSystem();
  }

  get trusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  openText(file: string): string | undefined {
    const document = openDocument(file);
    // The disk has the newest saved text, and the editor may lag by a second; only another encoding is better known to the editor.
    return document && (document.isDirty || !/^utf8/.test(document.encoding)) ? document.getText() : undefined;
  }

  async decodeText(file: string, bytes: Buffer): Promise<string | undefined> {
    return (await decodedByEditor(file, bytes))?.text;
  }

  isDirty(file: string): boolean {
    return openDocument(file)?.isDirty ?? findOpenNotebook(file)?.isDirty ?? false;
  }

  async writeText(
    file: string,
    text: string,
    before?: string | null,
    { exactly, ...waiting }: FileWriteOptions = {},
  ): Promise<string> {
    const open = openDocument(file);
    const uri = open?.uri ?? vscode.Uri.file(file);
    if (before === null || (before === undefined && !existsSync(file))) {
      await createFile(file, await encodedFor(uri, text));
      return text;
    }
    const notebook = open ? undefined : findOpenNotebook(file);
    if (notebook && before !== undefined) {
      if (!(await editNotebook(notebook, before, text))) return replaceOnDisk(file, text, before);
      const stands = String(await readRegularFile(file, maxTextFileBytes));
      return exactly && stands !== text ? replaceOnDisk(file, text, stands) : stands;
    }
    if (before !== undefined && ((exactly && !open) || (!open?.isDirty && (await isUnmarkedUtf16(file)))))
      return replaceOnDisk(file, text, before);
    const document = await vscode.workspace.openTextDocument(uri);
    if (before !== undefined) await untilItReads(document, before);
    const held = document.getText();
    if (before !== undefined && held !== before) {
      if (document.isDirty || !sameLines(held, before)) throw readsOtherwise();
      // The editor has one kind of line ending per file: saving would change all other lines.
      return replaceOnDisk(file, text, before);
    }
    await encodedAs(text, document.encoding); // throws for characters that would be lost
    await replaceDocumentText(document, text.replace(/^\uFEFF/, '')); // the document retains its BOM
    const stands = document.isDirty
      ? await saveDocument(document, held, { ...waiting, patience: this.patience })
      : text;
    if (!exactly || stands === text) return stands;
    await replaceFile(file, await encodedAs(text, document.encoding));
    await untilItReads(document, text);
    return text;
  }

  async move(from: string, to: string): Promise<void> {
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(vscode.Uri.file(from), vscode.Uri.file(to), { overwrite: false, ignoreIfExists: false });
    if (!(await vscode.workspace.applyEdit(edit)))
      throw new ToolError('TOOL_EXEC_FAILED', 'The editor refused to move this. Nothing was moved.');
  }

  watchProblems(file: string): ReturnType<ChangeErrorDetector['watch']> {
    return this.problems?.watch(file);
  }

  unsavedIn(folder: string): string[] {
    const unsaved = vscode.workspace.textDocuments.filter(({ uri, isDirty }) => uri.scheme === 'file' && isDirty);
    return unsaved.map(({ uri }) => realPathOf(uri) ?? uri.fsPath).filter((file) => isBelow(folder, file));
  }

  async delete(file: string, listed?: readonly TreeEntry[]): Promise<void> {
    if (listed) await checkTree(file, listed);
    try {
      await vscode.workspace.fs.delete(vscode.Uri.file(file), { recursive: true, useTrash: true });
    } catch {
      await removeTree(file, listed); // a remote machine has no trash; the content is stored with the run
      const gone = vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .filter((tab) => !tab.isDirty && shows(tab, file));
      await vscode.window.tabGroups.close(gone, true);
    }
  }
}

const isBelow = (folder: string, file: string) => file === folder || file.startsWith(folder + path.sep);

const shows = ({ input }: vscode.Tab, file: string) =>
  input instanceof vscode.TabInputText && input.uri.scheme === 'file' && isBelow(file, input.uri.fsPath);

/** Writes only if the file holds exactly this text in a known encoding. */
async function replaceOnDisk(file: string, text: string, before: string): Promise<string> {
  const bytes = await readRegularFile(file, maxTextFileBytes);
  const isForeign = !(openDocument(file)?.encoding.startsWith('utf') ?? true);
  const plain = isForeign ? undefined : decodeText(bytes);
  if (plain && !plain.lossy) {
    if (plain.text !== before) throw readsOtherwise();
    await replaceFile(file, encodeText({ ...plain, text }));
    return text;
  }
  const found = await decodedByEditor(file, bytes);
  if (found?.text !== before) throw readsOtherwise();
  await replaceFile(file, await encodedAs(text, found.encoding));
  return text;
}

/** Tests for UTF-16 without a byte order mark: the editor would add a mark on save. */
const isUnmarkedUtf16 = async (file: string): Promise<boolean> =>
  decodeText(await readRegularFile(file, maxTextFileBytes))?.foreign === true;

/**
 * Decodes a file with the editor's encoding from settings, language or content. Undefined for UTF-8, or if the bytes are not restored by
 * encoding.
 */
async function decodedByEditor(file: string, bytes: Buffer): Promise<{ text: string; encoding: string } | undefined> {
  try {
    const uri = isVirtualWorkspace() ? vscode.Uri.parse(file) : vscode.Uri.file(file);
    const { encoding } = openDocument(file) ?? (await vscode.workspace.openTextDocument(uri));
    if (encoding.startsWith('utf')) return undefined;
    const text = await vscode.workspace.decode(bytes, { encoding });
    const back = await vscode.workspace.encode(text, { encoding });
    return bytes.equals(back) ? { text, encoding } : undefined;
  } catch {
    return undefined; // binary file for the editor
  }
}

async function untilItReads(document: vscode.TextDocument, text: string): Promise<void> {
  for (let waited = 0; waited < 2000 && !document.isDirty && !sameLines(document.getText(), text); waited += 50)
    await sleep(50);
}

const sameLines = (a: string, b: string) => a.replaceAll(/\r\n?/g, '\n') === b.replaceAll(/\r\n?/g, '\n');

const readsOtherwise = () =>
  new ToolError(
    'E_PRECONDITION_FAILED',
    'The editor reads this file in another encoding, or it has just changed. Nothing was written; read it again.',
  );

async function encodedAs(text: string, encoding: string): Promise<Uint8Array> {
  const bytes = await vscode.workspace.encode(text, { encoding });
  if (!encoding.startsWith('utf')) checkSame(text, await vscode.workspace.decode(bytes, { encoding }), encoding);
  return bytes;
}

async function encodedFor(uri: vscode.Uri, text: string): Promise<Uint8Array> {
  const bytes = await vscode.workspace.encode(text, { uri });
  const back = await vscode.workspace.decode(bytes, { uri });
  const encoding = vscode.workspace.getConfiguration('files', uri).get('encoding', 'utf8');
  checkSame(text.replace(/^\uFEFF/, ''), back.replace(/^\uFEFF/, ''), encoding);
  return bytes;
}

// Throws for the first character lost by an encoding.
function checkSame(text: string, back: string, encoding: string): void {
  if (back === text) return;
  const [wanted, made] = [[...text], [...back]];
  const lost = wanted.find((character, at) => character !== made[at]) ?? '';
  const code = lost.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? '';
  throw new ToolError(
    'E_PRECONDITION_FAILED',
    `The file is in the encoding ${encoding}, which lacks the character ${quoteForMessage(lost)} (U+${code}). Nothing was written.`,
  );
}

/** Returns the document of a real path or a URI; the editor may know a file by a path with a link. */
function openDocument(file: string): vscode.TextDocument | undefined {
  if (isVirtualWorkspace()) return vscode.workspace.textDocuments.find((one) => one.uri.toString() === file);
  const documents = vscode.workspace.textDocuments.filter((one) => one.uri.scheme === 'file');
  return documents.find((one) => one.uri.fsPath === file) ?? documents.find((one) => realPathOf(one.uri) === file);
}

function realPathOf(uri: vscode.Uri): string | undefined {
  try {
    return realpathSync(uri.fsPath);
  } catch {
    return undefined; // not saved yet, or deleted
  }
}

function findRipgrep(roots: readonly string[]): string | undefined {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const packages = ['@vscode/ripgrep/bin', `@vscode/ripgrep-${process.platform}-${process.arch}/bin`];
  const candidates = roots.flatMap((root) =>
    ['node_modules', 'node_modules.asar.unpacked'].flatMap((folder) =>
      packages.map((inside) => path.join(root, folder, inside, name)),
    ),
  );
  return candidates.find((candidate) => existsSync(candidate));
}
