import path from 'node:path';
import * as vscode from 'vscode';
import type {
  CodeLocation,
  CodeSymbol,
  LanguageProblem,
  LanguageService,
  OpenEditor,
} from '../../tools/code/language.ts';
import { folderUri, openVirtualFolders } from '../dialogs/folders.ts';

/** Milliseconds for a language server to report on a new file. */
const firstReport = 1500;

export const editorLanguageService: LanguageService = {
  async diagnostics(file) {
    if (file === undefined)
      return vscode.languages.getDiagnostics().flatMap(([uri, found]) => found.flatMap((one) => problemOf(uri, one)));
    const uri = folderUri(file);
    const isOpen = vscode.workspace.textDocuments.some((document) => uriToWorkspacePath(document.uri) === file);
    if (!isOpen && vscode.languages.getDiagnostics(uri).length === 0) await openForReport(uri);
    return vscode.languages.getDiagnostics(uri).flatMap((one) => problemOf(uri, one));
  },

  async workspaceSymbols(query) {
    const found = await ask<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', query);
    return found?.map(({ name, kind, containerName, location }) => ({
      ...codeLocationOf(location),
      symbol: name,
      kind: kindOf(kind),
      ...(containerName && { container: containerName }),
      endLine: location.range.end.line + 1,
    }));
  },

  async documentSymbols(file) {
    const uri = folderUri(file);
    await vscode.workspace.openTextDocument(uri);
    const found = await ask<(vscode.DocumentSymbol | vscode.SymbolInformation)[]>(
      'vscode.executeDocumentSymbolProvider',
      uri,
    );
    return found?.flatMap((symbol) => symbolsIn(uri, symbol));
  },

  definitions: (file, line, column) => executeProvider('vscode.executeDefinitionProvider', file, line, column),
  references: (file, line, column) => executeProvider('vscode.executeReferenceProvider', file, line, column),

  openEditors() {
    const { activeTextEditor } = vscode.window;
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const open = new Map<string, OpenEditor>();
    for (const { input, isDirty } of tabs)
      if (input instanceof vscode.TabInputText)
        open.set(input.uri.toString(), { ...fileOf(input.uri), active: false, unsaved: isDirty });
    if (activeTextEditor) {
      const { document, selection } = activeTextEditor;
      open.set(document.uri.toString(), {
        ...fileOf(document.uri),
        active: true,
        unsaved: document.isDirty,
        selection: {
          startLine: selection.start.line + 1,
          endLine: selection.end.line + 1,
          text: document.getText(selection),
        },
      });
    }
    return [...open.values()];
  },
};

async function executeProvider(
  command: string,
  file: string,
  line: number,
  column: number,
): Promise<CodeLocation[] | undefined> {
  const uri = folderUri(file);
  await vscode.workspace.openTextDocument(uri);
  const position = new vscode.Position(line - 1, column - 1);
  return (await ask<(vscode.Location | vscode.LocationLink)[]>(command, uri, position))?.map(codeLocationOf);
}

const ask = <Value>(command: string, ...args: unknown[]): Thenable<Value | undefined> =>
  vscode.commands.executeCommand<Value | undefined>(command, ...args);

/** Opens a file invisibly, so that the language server analyzes the text. */
async function openForReport(uri: vscode.Uri): Promise<void> {
  const reported = new Promise<void>((resolve) => {
    const timer = setTimeout(done, firstReport);
    const listener = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      if (uris.some((one) => one.toString() === uri.toString())) done();
    });
    function done() {
      clearTimeout(timer);
      listener.dispose();
      resolve();
    }
  });
  await vscode.workspace.openTextDocument(uri);
  await reported;
}

const severities: Partial<Record<vscode.DiagnosticSeverity, LanguageProblem['severity']>> = {
  [vscode.DiagnosticSeverity.Error]: 'error',
  [vscode.DiagnosticSeverity.Warning]: 'warning',
  [vscode.DiagnosticSeverity.Information]: 'info',
};

function problemOf(uri: vscode.Uri, { severity, message, range, source, code }: vscode.Diagnostic): LanguageProblem[] {
  const word = severities[severity];
  const path = uriToWorkspacePath(uri);
  if (word === undefined || path === undefined) return []; // hints are visual only
  const number = typeof code === 'object' ? code.value : code;
  const from = [source, number].filter((part) => part !== undefined && part !== '').join(' ');
  return [{ path, line: range.start.line + 1, severity: word, message, ...(from !== '' && { source: from }) }];
}

function symbolsIn(
  uri: vscode.Uri,
  symbol: vscode.DocumentSymbol | vscode.SymbolInformation,
  container?: string,
): CodeSymbol[] {
  const children = 'children' in symbol ? symbol.children : [];
  const within = container ?? ('containerName' in symbol ? symbol.containerName : undefined);
  const location =
    'location' in symbol
      ? codeLocationOf(symbol.location)
      : { ...fileOf(uri), line: symbol.selectionRange.start.line + 1 };
  return [
    { ...location, symbol: symbol.name, kind: kindOf(symbol.kind), ...(within && { container: within }) },
    ...children.flatMap((child) => symbolsIn(uri, child, symbol.name)),
  ];
}

function codeLocationOf(location: vscode.Location | vscode.LocationLink): CodeLocation {
  if ('uri' in location) return { ...fileOf(location.uri), line: location.range.start.line + 1 };
  const range = location.targetSelectionRange ?? location.targetRange;
  return { ...fileOf(location.targetUri), line: range.start.line + 1 };
}

const fileOf = (uri: vscode.Uri) => ({
  path: uriToWorkspacePath(uri),
  name: path.posix.basename(uri.path),
});

/** Returns the path; undefined for schemes other than the open folders'. */
export function uriToWorkspacePath(uri: vscode.Uri): string | undefined {
  if (uri.scheme === 'file') return uri.fsPath;
  return openVirtualFolders().some((folder) => folder.uri.scheme === uri.scheme) ? uri.toString() : undefined;
}

const kindOf = (kind: vscode.SymbolKind): string => (vscode.SymbolKind[kind] ?? 'symbol').toLowerCase();
