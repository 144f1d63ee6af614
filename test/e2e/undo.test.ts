import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { oneWindow } from '../support/editor/oneWindow.ts';
import type { Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('undo', () => {
  let editor: Towpath;
  const begin = oneWindow({ files: { 'one.txt': 'mine 1', 'two.txt': 'mine 2' } });
  let provider: Provider;
  beforeEach(async () => {
    const write = (name: string, content: string) => ({ path: name, content });
    provider = await startProvider([
      reply.call('fs_write', write('one.txt', 'Pulled 1.')).call('fs_write', write('two.txt', 'Pulled 2.')),
      reply.text('Both are written.'),
      reply.text('I see.'),
    ]);
    editor = await begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.endpoint.baseUrl': provider.url,
      'files.autoSave': 'off',
    });
    await editor.panel.send('Write both.');
    await editor.dialog.text();
    await editor.dialog.click('Allow All (2)');
    await eventually('both are written', () => editor.read('two.txt') === 'Pulled 2.');
    await editor.panel.waitForPhase('WaitingUser');
  });
  afterEach(() => provider.close());

  const files = () => [editor.read('one.txt'), editor.read('two.txt')];
  const answers = async (words: RegExp, button: string) => {
    assert.match(await editor.dialog.text(), words);
    await editor.dialog.click(button);
  };

  it('of a turn with a file edited since: what the person made stays unless they give it up', async () => {
    writeFileSync(path.join(editor.folder, 'one.txt'), 'mine, since then');
    await editor.screenshot('undo-turn');
    await editor.panel.frame.getByTestId('undo-turn').click();
    await answers(/Undo what Towpath changed in 2 files\?.*one\.txt\nwas changed since/s, 'Undo the Others');
    await eventually('the other is undone', () => editor.read('two.txt') === 'mine 2');
    assert.equal(editor.read('one.txt'), 'mine, since then');
    await editor.panel.frame.getByText('one.txt stays as it is: It was changed since.').waitFor();
    await editor.command('Towpath: Undo Run');
    await answers(/Undo what Towpath changed in one\.txt\?/, 'Undo All of Them');
    await eventually('both are undone', () => editor.read('one.txt') === 'mine 1');
    await editor.panel.send('What now?');
    await eventually('the model answers', () => provider.requests.length === 3);
    assert.match(
      JSON.stringify(provider.requests[2]!.body.messages),
      /The person has undone your changes of: two\.txt\./,
    );
  });

  it('of one change by its card, after a reload, only after the dialog', async () => {
    await editor.reload();
    const undo = editor.panel.cards('fs.write').first().getByTestId('undo');
    await undo.click();
    await editor.dialog.escape();
    assert.deepEqual(files(), ['Pulled 1.', 'Pulled 2.']);
    await undo.click();
    await answers(/Undo what Towpath changed in one\.txt\?/, 'Undo');
    await eventually('the file is as it was', () => editor.read('one.txt') === 'mine 1');
    assert.equal(editor.read('two.txt'), 'Pulled 2.');
    await eventually('the card says so', async () =>
      /Undone/.test(await editor.panel.cards('fs.write').first().innerText()),
    );
  });
});
