import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { EditorWorkspace } from '../../src/extension/editor/editorWorkspace.ts';
import { sha256 } from '../../src/tools/sandbox/fileText.ts';
import { conversation, data, error } from '../tools/conversation.ts';

/** What the editor and its extensions make of a file when it is saved: the model, the record and undo know it. */
describe('an edit that is saved by the editor', () => {
  const root = () => vscode.workspace.workspaceFolders![0]!.uri.fsPath;
  const selector = { scheme: 'file', pattern: '**/*.knot' };
  const set = new Set<string>();
  let folder: string;
  let file: string;
  let given: vscode.Disposable[];
  beforeEach(async () => {
    folder = mkdtempSync(path.join(root(), 'saving-'));
    file = path.join(folder, 'a.knot');
    given = [];
    writeFileSync(file, before);
  });
  afterEach(async () => {
    for (const one of given) one.dispose();
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const name of set) await vscode.workspace.getConfiguration().update(name, undefined, true);
    set.clear();
    rmSync(folder, { recursive: true });
  });

  const before = 'bowline\nhitch\n';
  const disk = () => readFileSync(file, 'utf8');
  const configure = async (name: string, value: unknown) => {
    set.add(name);
    await vscode.workspace.getConfiguration().update(name, value, true);
  };
  const talk = (patience = { limit: 20_000, silent: 10_000 }) =>
    conversation(new EditorWorkspace(undefined, undefined, patience));
  const edit = (oldText: string, newText: string) => ({
    path: `${path.basename(folder)}/a.knot`,
    edits: [{ oldText, newText }],
  });
  const whole = (document: vscode.TextDocument) => document.validateRange(new vscode.Range(0, 0, 1e6, 0));
  const formatsWith = async (format: (text: string) => string | Promise<string>) => {
    await configure('editor.formatOnSave', true);
    const provideDocumentFormattingEdits = async (document: vscode.TextDocument) => [
      vscode.TextEdit.replace(whole(document), await format(document.getText())),
    ];
    given.push(vscode.languages.registerDocumentFormattingEditProvider(selector, { provideDocumentFormattingEdits }));
  };
  const withDots = (text: string) => text.replaceAll(/(?<=[a-z])$/gm, '.');

  it('and formatted is told as it stands, and the next edit may name it', async () => {
    await formatsWith(withDots);
    const { call, events, kept } = talk();
    const told = await data(call('fs.edit', edit('hitch', 'clove hitch')));
    const stands = 'bowline.\nclove hitch.\n';
    assert.equal(disk(), stands);
    assert.deepEqual([told.sha256, told.added, told.removed], [sha256(stands), 2, 2]);
    assert.equal(told.changedOnSave, '@@ -1,2 +1,2 @@\n-bowline\n-clove hitch\n+bowline.\n+clove hitch.');
    const end = events.find((event) => event.type === 'tool-end');
    assert.equal(kept.get(end!.changes![0]!.after!), stands);
    const next = await data(call('fs.edit', { ...edit('bowline.', 'sheet bend.'), ifMatchSha256: told.sha256 }));
    assert.deepEqual([disk(), next.changedOnSave], ['sheet bend.\nclove hitch.\n', undefined]);
  });

  const settings: [says: string, settings: Record<string, unknown>, newText: string, stands: string][] = [
    ['trimmed', { 'files.trimTrailingWhitespace': true }, 'a  \nb', 'bowline\na\nb\n'],
    ['given a last line ending', { 'files.insertFinalNewline': true }, 'hitch two\nlast', 'bowline\nhitch two\nlast\n'],
    ['rid of blank last lines', { 'files.trimFinalNewlines': true }, 'hitch two\n\n\n', 'bowline\nhitch two\n'],
  ];
  for (const [says, configuration, newText, stands] of settings)
    it(`and ${says} is told as it stands`, async () => {
      for (const [name, value] of Object.entries(configuration)) await configure(name, value);
      const oldText = says.startsWith('given') ? 'hitch\n' : 'hitch';
      const told = await data(talk().call('fs.edit', edit(oldText, newText)));
      assert.deepEqual([disk(), told.sha256, typeof told.changedOnSave], [stands, sha256(stands), 'string']);
    });

  it('and trimmed to what it was has failed', async () => {
    await configure('files.trimTrailingWhitespace', true);
    const { code, message } = await error(talk().call('fs.edit', edit('hitch', 'hitch  \t')));
    assert.deepEqual([disk(), code], [before, 'TOOL_EXEC_FAILED']);
    assert.match(message, /took the whole change back/);
  });

  it('and mended by a code action is told as it stands', async () => {
    const kind = vscode.CodeActionKind.SourceFixAll.append('knots');
    await configure('editor.codeActionsOnSave', { 'source.fixAll.knots': 'explicit' });
    const provideCodeActions = (document: vscode.TextDocument) => {
      const action = new vscode.CodeAction('Name it', kind);
      action.edit = new vscode.WorkspaceEdit();
      action.edit.insert(document.uri, new vscode.Position(0, 0), '# knots\n');
      return [action];
    };
    const metadata = { providedCodeActionKinds: [kind] };
    given.push(vscode.languages.registerCodeActionsProvider(selector, { provideCodeActions }, metadata));
    const told = await data(talk().call('fs.edit', edit('hitch', 'clove hitch')));
    assert.deepEqual([disk(), told.sha256], ['# knots\nbowline\nclove hitch\n', sha256(disk())]);
    assert.equal(told.changedOnSave, '@@ -0,0 +1,1 @@\n+# knots');
  });

  it('and taken back by another extension has failed', async () => {
    given.push(
      vscode.workspace.onWillSaveTextDocument(({ document, waitUntil }) => {
        if (document.uri.fsPath === file)
          waitUntil(Promise.resolve([vscode.TextEdit.replace(whole(document), before)]));
      }),
    );
    const { message } = await error(talk().call('fs.edit', edit('hitch', 'clove hitch')));
    assert.match(message, /took the whole change back/);
    assert.equal(disk(), before);
  });

  it('with a formatter that fails stands as it was proposed', async () => {
    await formatsWith(() => Promise.reject(new Error('no knots today')));
    const told = await data(talk().call('fs.edit', edit('hitch', 'clove hitch')));
    assert.deepEqual([disk(), told.sha256, told.changedOnSave], ['bowline\nclove hitch\n', sha256(disk()), undefined]);
  });

  const endings: [says: string, stops: boolean, code: string][] = [
    ['is taken back when its time is over', false, 'TOOL_TIMEOUT'],
    ['is taken back when the work is stopped', true, 'TOOL_INTERRUPTED'],
  ];
  for (const [says, stops, code] of endings)
    it(`with a formatter that does not end ${says}, and nothing of it comes later`, async () => {
      const [begun, hanging] = [later<void>(), later<string>()];
      await formatsWith(() => {
        begun.resolve();
        return hanging.promise;
      });
      const { call, events, stop } = talk({ limit: stops ? 20_000 : 500, silent: 50 });
      const failing = error(call('fs.edit', edit('hitch', 'clove hitch')));
      await begun.promise;
      if (stops) stop.abort();
      const failed = await failing;
      assert.deepEqual([failed.code, disk()], [code, before]);
      if (!stops) assert.match(failed.message, /The change was taken back/);
      if (!stops) assert.ok(events.some((event) => event.type === 'tool-output' && /formatter/.test(event.text)));
      hanging.resolve(before);
      await vscode.workspace.openTextDocument(file).then((document) => document.save());
      assert.equal(disk(), before);
    });

  for (const isOpen of [false, true])
    it(`goes back to exactly what it was, whatever formats it (${isOpen ? 'open' : 'not open'} in the editor)`, async () => {
      await formatsWith(withDots);
      if (isOpen) await vscode.window.showTextDocument(vscode.Uri.file(file));
      const untouched = disk();
      await data(talk().call('fs.edit', edit('hitch', 'clove hitch')));
      const text = await new EditorWorkspace().writeText(file, untouched, disk(), { exactly: true });
      assert.deepEqual([text, disk()], [untouched, untouched]);
      const document = await vscode.workspace.openTextDocument(file);
      assert.deepEqual([document.getText(), document.isDirty], [untouched, false]);
    });

  it('in an old encoding is read back in it', async () => {
    writeFileSync(file, Buffer.from('gr\xfcn\nhitch\n', 'latin1'));
    await formatsWith(withDots);
    const uri = vscode.Uri.file(file);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri, { encoding: 'iso88591' }));
    const told = await data(talk().call('fs.edit', edit('hitch', 'schöner hitch')));
    const stands = 'grün.\nschöner hitch.\n';
    assert.deepEqual([readFileSync(file), told.sha256], [Buffer.from(stands, 'latin1'), sha256(stands)]);
  });

  it('that makes a file is refused what the encoding has no bytes for', async () => {
    await configure('files.encoding', 'iso88591');
    const path_ = `${path.basename(folder)}/new.txt`;
    const { message } = await error(talk().call('fs.write', { path: path_, content: '日本\n' }));
    assert.match(message, /lacks the character "日"/);
    assert.equal(existsSync(path.join(folder, 'new.txt')), false);
  });
});

function later<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value: Value) => resolve(value) };
}
