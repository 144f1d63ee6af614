import assert from 'node:assert/strict';
import { promises as fs, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { EditorWorkspace } from '../../src/extension/editor/editorWorkspace.ts';
import { editorLanguageService } from '../../src/extension/editor/languageService.ts';
import { ChangeErrorDetector } from '../../src/extension/editor/problems.ts';
import { eventually } from '../support/eventually.ts';

// A language of our own, with a small server for it: the editor's others may be there or not.
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'towpath-language-')));
const file = path.join(folder, 'one.rope');
const other = path.join(folder, 'two.rope');
const selector: vscode.DocumentSelector = { scheme: 'file', pattern: '**/*.rope' };

/** Every line "knot NAME" defines, every "bad …" is an error, every "odd …" a warning. */
function serve(): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('rope');
  const coming = new Set<NodeJS.Timeout>();
  const report = (document: vscode.TextDocument) => {
    if (!document.fileName.endsWith('.rope')) return;
    const problems = lines(document).flatMap((text, line) => {
      const severity = { bad: vscode.DiagnosticSeverity.Error, odd: vscode.DiagnosticSeverity.Warning }[
        text.split(' ')[0]!
      ];
      if (severity === undefined) return [];
      const problem = new vscode.Diagnostic(new vscode.Range(line, 0, line, 3), `${text} will not hold`, severity);
      problem.source = 'rope';
      problem.code = 7;
      return [problem];
    });
    coming.add(setTimeout(() => collection.set(document.uri, problems), 20));
  };
  const knots = (document: vscode.TextDocument) =>
    lines(document).flatMap((text, line) => (text.startsWith('knot ') ? [{ name: text.slice(5), line }] : []));
  const find = (word: string, document: vscode.TextDocument, kind: 'knot' | 'any') =>
    lines(document).flatMap((text, line) =>
      (kind === 'knot' ? text === `knot ${word}` : text.includes(word))
        ? [new vscode.Location(document.uri, new vscode.Position(line, 0))]
        : [],
    );
  const wordAt = (document: vscode.TextDocument, position: vscode.Position) =>
    document.getText(document.getWordRangeAtPosition(position));
  return vscode.Disposable.from(
    new vscode.Disposable(() => coming.forEach(clearTimeout)), // what has ended reports no more
    collection,
    vscode.workspace.onDidOpenTextDocument(report),
    vscode.workspace.onDidChangeTextDocument(({ document }) => report(document)),
    vscode.languages.registerDocumentSymbolProvider(selector, {
      provideDocumentSymbols: (document) => {
        const range = (line: number) => document.lineAt(line).range;
        const [outer, ...inner] = knots(document).map(
          ({ name, line }) => new vscode.DocumentSymbol(name, '', vscode.SymbolKind.Function, range(line), range(line)),
        );
        if (outer) outer.children = inner;
        return outer ? [outer] : [];
      },
    }),
    vscode.languages.registerWorkspaceSymbolProvider({
      provideWorkspaceSymbols: (query) =>
        query === 'bowline'
          ? [
              new vscode.SymbolInformation(
                'bowline',
                vscode.SymbolKind.Function,
                'knots',
                new vscode.Location(vscode.Uri.file(other), new vscode.Position(4, 0)),
              ),
            ]
          : [],
    }),
    vscode.languages.registerDefinitionProvider(selector, {
      provideDefinition: (document, position) => find(wordAt(document, position), document, 'knot'),
    }),
    vscode.languages.registerReferenceProvider(selector, {
      provideReferences: (document, position) => find(wordAt(document, position), document, 'any'),
    }),
  );
}

const lines = (document: vscode.TextDocument) => document.getText().split('\n');

describe('what language servers know', () => {
  let server: vscode.Disposable;
  before(async () => {
    await fs.writeFile(file, 'knot bowline\nbad splice\nodd whipping\ntie bowline\nknot hitch\n');
    await fs.writeFile(other, 'knot sheet\nbad splice\n');
    server = serve();
  });
  after(async () => {
    server.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(folder, { recursive: true });
  });

  it('problems of a file that nobody opened, then of everything', async () => {
    assert.deepEqual(await editorLanguageService.diagnostics(file), [
      { path: file, line: 2, severity: 'error', message: 'bad splice will not hold', source: 'rope 7' },
      { path: file, line: 3, severity: 'warning', message: 'odd whipping will not hold', source: 'rope 7' },
    ]);
    const all = await editorLanguageService.diagnostics();
    assert.deepEqual(
      all.filter(({ source }) => source === 'rope 7').map(({ line }) => line),
      [2, 3],
    );
  });

  it('symbols of a file, with what they are part of, and of the workspace', async () => {
    const place = { path: file, name: 'one.rope' };
    assert.deepEqual(await editorLanguageService.documentSymbols(file), [
      { ...place, line: 1, symbol: 'bowline', kind: 'function' },
      { ...place, line: 5, symbol: 'hitch', kind: 'function', container: 'bowline' },
    ]);
    const found = await editorLanguageService.workspaceSymbols('bowline');
    assert.deepEqual(
      found?.filter(({ path }) => path === other),
      [{ path: other, name: 'two.rope', line: 5, symbol: 'bowline', kind: 'function', container: 'knots', endLine: 5 }],
    );
  });

  it('definitions and references', async () => {
    const place = { path: file, name: 'one.rope' };
    assert.deepEqual(await editorLanguageService.definitions(file, 4, 5), [{ ...place, line: 1 }]);
    assert.deepEqual(await editorLanguageService.references(file, 4, 5), [
      { ...place, line: 1 },
      { ...place, line: 4 },
    ]);
  });

  it('what is open and selected', async () => {
    await vscode.window.showTextDocument(vscode.Uri.file(other), { preview: false });
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
    editor.selection = new vscode.Selection(0, 5, 1, 3);
    const isSelected = () => editorLanguageService.openEditors().some(({ selection }) => selection?.endLine === 2);
    await eventually('the selection has been told', isSelected);
    const open = editorLanguageService.openEditors().filter(({ name }) => name.endsWith('.rope'));
    assert.deepEqual(open, [
      { path: other, name: 'two.rope', active: false, unsaved: false },
      {
        path: file,
        name: 'one.rope',
        active: true,
        unsaved: false,
        selection: { startLine: 1, endLine: 2, text: 'bowline\nbad' },
      },
    ]);
  });

  it('an edit tells the errors that it caused, and only those', async () => {
    const problems = new ChangeErrorDetector();
    const workspace = new EditorWorkspace(problems);
    const { signal } = new AbortController();
    const edit = async (text: string) => {
      const caused = workspace.watchProblems(file);
      await workspace.writeText(file, text);
      return caused?.(signal);
    };
    try {
      assert.deepEqual(await edit('knot hitch\n\nbad splice\nbad toggle\n'), ['line 4: bad toggle will not hold']);
      assert.deepEqual(await edit('bad toggle\nbad splice\n'), []);
      assert.equal(workspace.watchProblems(path.join(folder, 'plain.txt')), undefined, 'nobody reports on it');
    } finally {
      problems.dispose();
    }
  });
});
