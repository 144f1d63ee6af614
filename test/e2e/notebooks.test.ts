import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const notebook = {
  cells: [
    { cell_type: 'markdown', id: 'one', metadata: {}, source: ['# Title'] },
    {
      cell_type: 'code',
      execution_count: 7,
      id: 'two',
      metadata: { tags: ['kept'] },
      outputs: [{ name: 'stdout', output_type: 'stream', text: ['what it gave\n'] }],
      source: ['a = 1\n', 'print(a)'],
    },
  ],
  metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' }, ours: 'kept' },
  nbformat: 4,
  nbformat_minor: 5,
};

describe('a notebook that is open', () => {
  const temporary = temporaryFolder();
  const text = `${JSON.stringify(notebook, null, 1)}\n`;
  const folder = writeWorkspace(temporary, { 'a.ipynb': text, 'b.ipynb': text });
  const file = path.join(folder, 'a.ipynb');
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    provider = await startProvider(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? reply.text('Done.')
        : reply.call('fs_edit', {
            path: `${/[ab]\.ipynb/.exec(messages.at(-1)!.content!)![0]}`,
            cell: 2,
            edits: [{ oldText: 'a = 1', newText: 'a = 2' }],
          }),
    );
    editor = await openTowpath({
      folder,
      builtIn: 'all', // notebooks are an extension
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.approvals.preset': 'edits-free',
        'files.autoSave': 'off',
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const open = (file: string) =>
    editor.host.evaluate(async (vscode, file) => {
      const document = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
      await vscode.window.showNotebookDocument(document);
    }, file);
  const shown = (file: string) =>
    editor.host.evaluate(async (vscode, file) => {
      const found = vscode.workspace.notebookDocuments.find(({ uri }) => uri.fsPath === file)!;
      return {
        cells: found.getCells().map((cell) => cell.document.getText()),
        outputs: found.getCells().map((cell) => cell.outputs.length),
        isDirty: found.isDirty,
      };
    }, file);
  const onDisk = () => JSON.parse(readFileSync(file, 'utf8')) as typeof notebook;

  it('is changed in its cell and saved; outputs and metadata stay, and undo takes it back', async () => {
    await open(file);
    await editor.panel.send('Make a two of a.ipynb');
    await editor.panel.waitForPhase('WaitingUser');
    assert.deepEqual(await shown(file), { cells: ['# Title', 'a = 2\nprint(a)'], outputs: [0, 1], isDirty: false });
    const after = onDisk();
    assert.equal([after.cells[1]!.source].flat().join(''), 'a = 2\nprint(a)');
    assert.deepEqual(
      [after.cells[1]!.outputs, after.cells[1]!.metadata, after.metadata.ours, after.cells.map(({ id }) => id)],
      [notebook.cells[1]!.outputs, { tags: ['kept'] }, 'kept', ['one', 'two']],
    );
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('notebook.cell.edit'));
    await editor.command('Towpath: Undo Change at Cursor');
    await editor.told('Changes in a notebook are undone in the list of files.');
    assert.equal(await editor.page.locator('.codelens-decoration a', { hasText: 'Mark as Reviewed' }).count(), 0);
    await editor.command('Towpath: Undo Turn');
    await eventually('it is undone', async () => (await shown(file)).cells[1] === 'a = 1\nprint(a)');
    await eventually('the file is as it was, to the byte', () => readFileSync(file, 'utf8') === text);
  });

  it('that is not saved is left alone, and the model is told', async () => {
    const other = path.join(folder, 'b.ipynb'); // the editor may be reading the one of before once more
    await open(other);
    await editor.host.evaluate(async (vscode, file) => {
      const found = vscode.workspace.notebookDocuments.find(({ uri }) => uri.fsPath === file)!;
      const edit = new vscode.WorkspaceEdit();
      edit.insert(found.cellAt(0).document.uri, new vscode.Position(0, 0), 'Mine ');
      await vscode.workspace.applyEdit(edit);
    }, other);
    await eventually('the editor says that it is not saved', async () => (await shown(other)).isDirty);
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.newRun'));
    const asked = provider.requests.length;
    await editor.panel.send('Make a two of b.ipynb');
    await editor.panel.waitForPhase('WaitingUser');
    const told = provider.requests
      .slice(asked)
      .flatMap(({ body }) => body.messages)
      .filter(({ role }) => role === 'tool');
    assert.match(told[0]!.content!, /changes in the editor that are not saved/);
    assert.deepEqual((await shown(other)).cells, ['Mine # Title', 'a = 1\nprint(a)']);
  });
});
