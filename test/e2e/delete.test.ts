import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('deleting a folder in a real editor', () => {
  let editor: Towpath;
  let provider: Provider;
  const picture = Buffer.from([0x89, 0, 255, 1]);
  const at = (file: string) => path.join(editor.folder, file);
  const remove = () => reply.call('fs_delete', { path: 'old' });

  before(async () => {
    provider = await startProvider([]);
    editor = await openTowpath({
      files: { 'old/a.txt': 'A\n', 'kept/secret.txt': 'kept\n' },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'files.autoSave': 'off',
      },
    });
    mkdirSync(at('old/deep'));
    writeFileSync(at('old/deep/b.png'), picture);
    symlinkSync('../kept', at('old/link'));
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });
  const asks = async () => {
    provider.script = (request) => (request.messages.at(-1)!.role === 'tool' ? reply.text('Done.') : remove());
    await editor.panel.send('Remove it.');
  };

  it('says what goes; a link goes as a link; undo brings everything back', async () => {
    await editor.host.evaluate(async (vscode, file) => {
      await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
    }, at('old/a.txt'));
    await asks();
    const question = await editor.dialog.text();
    assert.match(question, /^Delete old with 3 files \(6 bytes\)\na\.txt\ndeep\/\ndeep\/b\.png\nlink \(link\)\n/);
    await editor.screenshot('delete-folder');
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    await eventually('it is gone', () => !existsSync(at('old')));
    assert.deepEqual(readdirSync(editor.folder), ['kept']);
    assert.equal(editor.read('kept/secret.txt'), 'kept\n');
    await editor.panel.cards('fs.delete').last().getByTestId('undo').click();
    await eventually('it is back', () =>
      ['link', 'deep/b.png', 'a.txt'].every((name) => existsSync(at(`old/${name}`))),
    );
    assert.deepEqual([editor.read('old/a.txt'), readFileSync(at('old/deep/b.png'))], ['A\n', picture]);
    await eventually('the card says so', async () =>
      /Undone/.test(await editor.panel.cards('fs.delete').last().innerText()),
    );
  });

  it('is refused with the name of what is not saved in it, without a question', async () => {
    await editor.host.evaluate(async (vscode, file) => {
      const edited = await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
      await edited.edit((edit) => edit.insert(new vscode.Position(0, 0), 'typed '));
    }, at('old/a.txt'));
    await asks();
    const told = () => JSON.stringify(provider.requests.at(-1)!.body.messages);
    await eventually('the model is told', () => /unsaved changes of [\\"]+old\/a\.txt/.test(told()));
    assert.equal(await editor.dialog.isOpen(), false);
    assert.equal(editor.read('old/a.txt'), 'A\n');
  });
});
