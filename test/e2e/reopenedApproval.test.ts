import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const interrupted = 'Interrupted when the window closed · needs your approval';

describe('an approval that was not answered before a reload', () => {
  let provider: Provider;
  let editor: Towpath;

  before(async () => {
    provider = await startProvider(({ messages }) => {
      const last = messages.at(-1)!;
      if (last.role === 'tool') return reply.text('Done.');
      return reply.call('fs_edit', { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] });
    });
    editor = await openTowpath({
      files: { 'a.txt': 'one\n' },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const card = () => editor.panel.cards('fs.edit').last();
  const button = (name: string) => card().getByRole('button', { name, exact: true });
  const write = (text: string) => writeFileSync(path.join(editor.folder, 'a.txt'), text);
  /** A run whose edit waits, in a window that was reloaded since; gives the number of requests to the provider. */
  const reloaded = async () => {
    write('one\n');
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.newRun');
    });
    await editor.panel.send('Edit it.');
    assert.match(await editor.dialog.text(), /^Edit a\.txt/);
    await editor.reload();
    await editor.panel.ready();
    await editor.panel.shows(interrupted);
    return provider.requests.length;
  };

  it('is shown as such, asked again by Answer…, done once, and the run goes on', async () => {
    const before = await reloaded();
    await editor.screenshot('approval-interrupted');
    await editor.panel.shows(/\+\s*two/);
    assert.equal(await editor.dialog.isOpen(), false);
    await editor.panel.frame.getByTestId('history').click();
    const row = editor.panel.frame.locator('.history-row', { hasText: 'Edit it.' });
    await row.getByText('Waiting for approval ·').waitFor();
    assert.equal(await editor.page.locator('.activitybar .badge-content', { hasText: /\d/ }).innerText(), '1');
    await editor.panel.frame.getByTestId('search-runs').press('Escape');
    await editor.panel.frame.getByTestId('new-run').click(); // Answer… finds the run that is not shown
    await editor.page.locator('.statusbar-item', { hasText: '1 approval waiting' }).click();
    assert.match(await editor.dialog.text(), /^Edit a\.txt/);
    assert.deepEqual([provider.requests.length, editor.read('a.txt')], [before, 'one\n']);
    await editor.dialog.click('Allow');
    await editor.panel.shows('Done.');
    assert.deepEqual([provider.requests.length, editor.read('a.txt')], [before + 1, 'two\n']);
    assert.match(await card().innerText(), /Edited/);
  });

  it('opens by itself only after a key or a click in the panel', async () => {
    const before = await reloaded();
    await editor.page.locator('.statusbar-item', { hasText: '1 approval waiting' }).waitFor();
    assert.equal(await editor.dialog.isOpen(), false);
    await editor.panel.composer.click();
    assert.match(await editor.dialog.text(), /^Edit a\.txt/);
    await editor.dialog.escape();
    await editor.panel.continueHeld();
    await editor.panel.shows('Done.');
    assert.deepEqual([provider.requests.length, editor.read('a.txt')], [before + 1, 'one\n']);
  });

  it('a key answers it; Deny on its card denies it without a dialog', async () => {
    let before = await reloaded();
    await editor.command('Towpath: Answer…');
    await editor.dialog.click('Allow');
    await editor.panel.shows('Done.');
    assert.deepEqual([provider.requests.length, editor.read('a.txt')], [before + 1, 'two\n']);

    before = await reloaded();
    await button('Deny').click();
    await editor.panel.continueHeld();
    await editor.panel.shows('Done.');
    assert.deepEqual([provider.requests.length, editor.read('a.txt')], [before + 1, 'one\n']);
    assert.equal(await editor.dialog.isOpen(), false);
  });

  it('says what has changed since, or that it no longer applies', async () => {
    let before = await reloaded();
    write('zero\none\n');
    await button('Answer…').click();
    assert.match(await editor.dialog.text(), /The file has changed since the proposal; the edit still applies\./);
    await editor.panel.shows('The file has changed since the proposal');
    await editor.screenshot('approval-changed-since');
    await editor.dialog.click('Allow');
    await eventually('it is done', () => editor.read('a.txt') === 'zero\ntwo\n');
    await editor.panel.shows('Done.');

    before = await reloaded();
    write('other\n');
    await button('Answer…').click();
    await editor.panel.shows('The file has changed; the edit no longer applies.');
    await editor.screenshot('approval-stale');
    assert.deepEqual([provider.requests.length, editor.read('a.txt')], [before, 'other\n']);
    await editor.panel.frame.getByTestId('continue').click();
    await editor.panel.shows('Done.');
    assert.equal(provider.requests.length, before + 1);
  });

  it('a message in its place goes on without it', async () => {
    const before = await reloaded();
    await editor.panel.send('Leave it.');
    await editor.panel.shows('Not run: it was not answered');
    await eventually('the model is asked', () => provider.requests.length > before);
    await editor.dialog.text(); // this script proposes it again
    await editor.dialog.escape();
    assert.equal(editor.read('a.txt'), 'one\n');
  });
});
