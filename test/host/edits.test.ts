import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { EditorWorkspace } from '../../src/extension/editor/editorWorkspace.ts';
import { conversation } from '../tools/conversation.ts';

/** The file tools on the editor itself: what it holds, how it decodes and saves, what one undo takes back. */
describe('editing through the editor', () => {
  const root = () => vscode.workspace.workspaceFolders![0]!.uri.fsPath;
  let folder: string;
  let name: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(root(), 'edits-'));
    name = path.basename(folder);
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.workspace.getConfiguration('files').update('encoding', undefined, true);
    rmSync(folder, { recursive: true });
  });

  const { call } = conversation(new EditorWorkspace());
  const bytes = (file: string) => readFileSync(path.join(folder, file));
  const put = (file: string, content: string | Buffer) => writeFileSync(path.join(folder, file), content);
  const show = async (file: string, options: { encoding?: string } = {}) => {
    const document = await vscode.workspace.openTextDocument(
      vscode.Uri.file(path.join(folder, file)),
      options as never,
    );
    return { document, editor: await vscode.window.showTextDocument(document) };
  };
  const edit = (file: string, ...edits: [oldText: string, newText: string][]) =>
    call('fs.edit', { path: `${name}/${file}`, edits: edits.map(([oldText, newText]) => ({ oldText, newText })) });
  const utf8 = (text: string) => Buffer.from(text);

  const kept: [name: string, before: Buffer, after: Buffer][] = [
    [
      'Windows line endings and a byte order mark',
      utf8('\ufeffa\r\nold\r\nz\r\n'),
      utf8('\ufeffa\r\nnew\r\nmore\r\nz\r\n'),
    ],
    ['line endings of two kinds', utf8('a\nold\nb\r\nc\n'), utf8('a\nnew\nmore\nb\r\nc\n')],
    [
      'UTF-16 with its mark',
      Buffer.from('\ufeffgrün\nold\n', 'utf16le'),
      Buffer.from('\ufeffgrün\nnew\nmore\n', 'utf16le'),
    ],
    ['no final line ending', utf8('a  \nold'), utf8('a  \nnew\nmore')],
  ];
  for (const [what, before, after] of kept)
    for (const isOpen of [false, true]) {
      if (isOpen && what === 'line endings of two kinds') continue; // an open file has the one kind that the editor chose
      it(`keeps ${what}, ${isOpen ? 'open in an editor' : 'not open'}`, async () => {
        put('a.txt', before);
        if (isOpen) await show('a.txt');
        const outcome = await edit('a.txt', ['old', 'new\nmore']);
        assert.ok(outcome.ok, JSON.stringify(outcome));
        assert.deepEqual(bytes('a.txt'), after);
      });
    }

  it('a file in an encoding that nobody named is refused, open or not, and keeps its bytes', async () => {
    const latin = Buffer.from('a word that is gr\xfcn here\nold\n', 'latin1');
    put('a.txt', latin);
    for (const isOpen of [false, true]) {
      if (isOpen) await show('a.txt');
      const outcome = await edit('a.txt', ['old', 'new']);
      assert.ok(!outcome.ok && outcome.error.code === 'E_PRECONDITION_FAILED', JSON.stringify(outcome));
      assert.deepEqual(bytes('a.txt'), latin);
    }
  });

  it('a file that is open in its encoding is edited in it, and never gets what it has no bytes for', async () => {
    put('a.txt', Buffer.from('gr\xfcn\nold\n', 'latin1'));
    const { document } = await show('a.txt', { encoding: 'iso88591' });
    assert.equal(document.getText(), 'grün\nold\n');
    const lost = await edit('a.txt', ['old', '日本']);
    assert.ok(!lost.ok && /lacks the character "日" \(U\+65E5\)/.test(lost.error.message), JSON.stringify(lost));
    assert.equal(document.isDirty, false);
    const outcome = await edit('a.txt', ['old', 'schön']);
    assert.ok(outcome.ok, JSON.stringify(outcome));
    assert.deepEqual(bytes('a.txt'), Buffer.from('gr\xfcn\nsch\xf6n\n', 'latin1'));
  });

  const encodings: [encoding: string, before: string, after: string][] = [
    ['gbk', 'b5dad2bb0a6f6c640ad6d0cec40a', 'b5dad2bb0ad0c20ad6d0cec40a'],
    ['shiftjis', '93fa967b8cea0a6f6c640a', '93fa967b8cea0a905682b582a20a'],
    ['windows1252', '9367729fd694200d0a6f6c640d0a', '9367729fd694200d0ae9740d0a'],
    ['iso88591', '6772fc6e0a6f6c640a', '6772fc6e0ae9740a'],
  ];
  for (const [encoding, before, after] of encodings)
    for (const way of ['for all files', 'for its language'])
      it(`a file that is not open is read and edited in ${encoding}, which is set ${way}, to the byte`, async () => {
        const files = vscode.workspace.getConfiguration('files');
        const ofLanguage = vscode.workspace.getConfiguration('files', { languageId: 'plaintext' });
        if (way === 'for all files') await files.update('encoding', encoding, true);
        else await ofLanguage.update('encoding', encoding, true, true);
        try {
          put('a.txt', Buffer.from(before, 'hex'));
          const read = await call('fs.read', { path: `${name}/a.txt` });
          assert.ok(read.ok && !('note' in (read.data as object)), JSON.stringify(read));
          const word = { gbk: '新', shiftjis: '新しい' }[encoding] ?? 'ét';
          const lost = await edit('a.txt', ['old', '😀']);
          assert.ok(!lost.ok && /lacks the character "😀" \(U\+1F600\)/.test(lost.error.message), JSON.stringify(lost));
          assert.equal(bytes('a.txt').toString('hex'), before);
          const outcome = await edit('a.txt', ['old', word]);
          assert.ok(outcome.ok, JSON.stringify(outcome));
          assert.equal(bytes('a.txt').toString('hex'), after);
        } finally {
          await ofLanguage.update('encoding', undefined, true, true);
        }
      });

  for (const isOpen of [false, true])
    it(`a file with line endings of two kinds is edited in its encoding on the disk${isOpen ? ', open in an editor' : ''}`, async () => {
      await vscode.workspace.getConfiguration('files').update('encoding', 'gbk', true);
      put('a.txt', Buffer.from('d6d00d0a6f6c640acec40d0a', 'hex'));
      if (isOpen) await show('a.txt');
      const outcome = await edit('a.txt', ['old', '新']);
      assert.ok(outcome.ok, JSON.stringify(outcome));
      assert.equal(bytes('a.txt').toString('hex'), 'd6d00d0ad0c20acec40d0a');
    });

  it('a file whose bytes could be UTF-8, too, is edited as the editor shows it', async () => {
    put('a.txt', Buffer.from('c4a30a6f6c640a', 'hex'));
    await show('a.txt', { encoding: 'gbk' });
    const outcome = await edit('a.txt', ['模\nold', '模\n新']);
    assert.ok(outcome.ok, JSON.stringify(outcome));
    assert.equal(bytes('a.txt').toString('hex'), 'c4a30ad0c20a');
  });

  it('a change of a file in its encoding is undone to the byte', async () => {
    await vscode.workspace.getConfiguration('files').update('encoding', 'gbk', true);
    const before = Buffer.from('d6d00a6f6c640a', 'hex');
    put('a.txt', before);
    assert.ok((await edit('a.txt', ['old', '新'])).ok);
    const workspace = new EditorWorkspace();
    await workspace.writeText(path.join(folder, 'a.txt'), '中\nold\n', '中\n新\n', { exactly: true });
    assert.deepEqual(bytes('a.txt'), before);
  });

  for (const [what, encoded] of [
    ['little', (text: string) => Buffer.from(text, 'utf16le')],
    ['big', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ] as const)
    it(`UTF-16 of ${what} ends without a mark gets none`, async () => {
      put('a.txt', encoded('grün and more\nold\n'));
      const outcome = await edit('a.txt', ['old', 'new']);
      assert.ok(outcome.ok, JSON.stringify(outcome));
      assert.deepEqual(bytes('a.txt'), encoded('grün and more\nnew\n'));
    });

  it('a file that the editor would read in another encoding than it has is left alone', async () => {
    await vscode.workspace.getConfiguration('files').update('encoding', 'iso88591', true);
    put('a.txt', utf8('grün\nold\n'));
    const outcome = await edit('a.txt', ['old', 'new']);
    assert.ok(!outcome.ok && /another encoding/.test(outcome.error.message), JSON.stringify(outcome));
    assert.deepEqual(bytes('a.txt'), utf8('grün\nold\n'));
  });

  it('several edits are one undo step, and what was typed before stays', async () => {
    put('a.txt', 'one\ntwo\nthree\n');
    const { document, editor } = await show('a.txt');
    await editor.edit((change) => change.insert(new vscode.Position(0, 0), 'typed\n'));
    const outcome = await edit('a.txt', ['one', '1'], ['three', '3']);
    assert.ok(outcome.ok, JSON.stringify(outcome));
    assert.equal(bytes('a.txt').toString(), 'typed\n1\ntwo\n3\n');
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), 'typed\none\ntwo\nthree\n');
  });

  it('one edit that fails: none is made', async () => {
    put('a.txt', 'one\ntwo\n');
    const outcome = await edit('a.txt', ['one', '1'], ['nowhere', '3']);
    assert.ok(!outcome.ok && /^Edit 2 of 2/.test(outcome.error.message));
    assert.equal(bytes('a.txt').toString(), 'one\ntwo\n');
  });

  it('a read-only file stays as it is, in the editor too', async () => {
    put('a.txt', 'old\n');
    chmodSync(path.join(folder, 'a.txt'), 0o444);
    const { document } = await show('a.txt');
    const outcome = await edit('a.txt', ['old', 'new']);
    assert.ok(!outcome.ok && /is read-only\. Nothing was changed/.test(outcome.error.message), JSON.stringify(outcome));
    assert.deepEqual([bytes('a.txt').toString(), document.getText(), document.isDirty], ['old\n', 'old\n', false]);
  });

  it('a moved file takes its open editor and its unsaved text along; nothing is moved over something', async () => {
    put('a.txt', 'one\n');
    put('c.txt', 'there\n');
    const { editor } = await show('a.txt');
    await editor.edit((change) => change.insert(new vscode.Position(0, 0), 'typed\n'));
    const over = await call('fs.move', { from: `${name}/a.txt`, to: `${name}/c.txt` });
    assert.ok(!over.ok && /exists already/.test(over.error.message), JSON.stringify(over));
    const outcome = await call('fs.move', { from: `${name}/a.txt`, to: `${name}/deep/b.txt` });
    assert.ok(outcome.ok, JSON.stringify(outcome));
    assert.deepEqual(
      [existsSync(path.join(folder, 'a.txt')), existsSync(path.join(folder, 'deep/b.txt'))],
      [false, true],
    );
    const names = vscode.window.tabGroups.all.flatMap((group) => group.tabs).map((tab) => tab.label);
    assert.deepEqual(names, ['b.txt']);
    const moved = vscode.workspace.textDocuments.find((one) => one.uri.fsPath.endsWith('deep/b.txt'));
    assert.equal(moved?.getText(), 'typed\none\n');
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('a folder is moved with all it holds', async () => {
    mkdirSync(path.join(folder, 'src/deep'), { recursive: true });
    put('src/deep/a.txt', 'x');
    const outcome = await call('fs.move', { from: `${name}/src`, to: `${name}/lib` });
    assert.ok(outcome.ok, JSON.stringify(outcome));
    assert.equal(bytes('lib/deep/a.txt').toString(), 'x');
  });

  it('a new file is made with its folders, in the encoding that is set', async () => {
    await vscode.workspace.getConfiguration('files').update('encoding', 'utf8bom', true);
    const outcome = await call('fs.write', { path: `${name}/new/a.txt`, content: 'grün\n' });
    assert.ok(outcome.ok, JSON.stringify(outcome));
    assert.deepEqual(bytes('new/a.txt'), utf8('\ufeffgrün\n'));
  });
});
