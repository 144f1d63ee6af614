import assert from 'node:assert/strict';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('a formatter that changes more than the model did', () => {
  const before = 'bowline\nhitch\n';
  const formatted = 'bowline.\nclove hitch.\n';
  let editor: Towpath;
  let provider: Provider;
  beforeEach(async () => {
    const edits = [{ oldText: 'hitch', newText: 'clove hitch' }];
    provider = await startProvider([reply.call('fs_edit', { path: 'a.knot', edits }), reply.text('It is tied.')]);
    editor = await openTowpath({
      files: { 'a.knot': before },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'files.autoSave': 'off',
        'editor.formatOnSave': true,
      },
    });
  });
  afterEach(async () => {
    await editor?.stop();
    await provider.close();
  });

  it('is seen in the diff, told to the model, and taken back with the change', async () => {
    await editor.host.evaluate(async (vscode) => {
      vscode.languages.registerDocumentFormattingEditProvider(
        { scheme: 'file', pattern: '**/*.knot' },
        {
          provideDocumentFormattingEdits: (document) => [
            vscode.TextEdit.replace(
              document.validateRange(new vscode.Range(0, 0, 1e6, 0)),
              document.getText().replace(/[a-z]$/gm, '$&.'),
            ),
          ],
        },
      );
    });
    await editor.panel.send('Tie it better.');
    assert.match(await editor.dialog.text(), /^Edit a\.knot\n/);
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(editor.read('a.knot'), formatted);
    const told = JSON.stringify(provider.requests.at(-1)!.body.messages);
    assert.match(told, /changedOnSave.*\+clove hitch\./);
    const card = editor.panel.cards('fs.edit').first();
    await card.getByTestId('open-diff').click();
    const lines = editor.page.locator('.monaco-diff-editor .editor.modified .view-line');
    await lines.filter({ hasText: 'bowline.' }).waitFor();
    await lines.filter({ hasText: /^clove.hitch\.$/ }).waitFor();
    await editor.screenshot('formatted');
    await card.getByTestId('undo').click();
    await eventually('the file is as it was, to the letter', () => editor.read('a.knot') === before);
    await eventually('the card says so', async () => /Undone/.test(await card.innerText()));
    assert.equal(editor.read('a.knot'), before);
  });
});
