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
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
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
    const edited = /Undo what Towpath changed in 2 files\?\s+Restores 2 files\. You edited 1 of them since: one\.txt\./;
    await answers(edited, 'Restore 1 File');
    await eventually('the other is undone', () => editor.read('two.txt') === 'mine 2');
    assert.equal(editor.read('one.txt'), 'mine, since then');
    await editor.panel.frame
      .getByTestId('notice')
      .getByText('one.txt was left as it is: It has changed since.')
      .waitFor();
    await editor.command('Towpath: Undo Run');
    await answers(/Undo what Towpath changed in one\.txt\?\s+one\.txt\s+has changed since/, 'Undo');
    await eventually('both are undone', () => editor.read('one.txt') === 'mine 1');
    await editor.panel.send('What now?');
    await eventually('the model answers', () => provider.requests.length === 3);
    assert.match(
      JSON.stringify(provider.requests[2]!.body.messages),
      /The person has undone your changes of: two\.txt\./,
    );
  });

  it('of what came after a message that is edited and sent again: both branches are there, also after a reload', async () => {
    const input = editor.page.locator('.quick-input-widget input').first();
    const choose = (words: string) =>
      editor.page.locator('.quick-input-list .monaco-list-row', { hasText: words }).first().click();
    await editor.command('Towpath: Edit and Send Again…');
    await choose('Write both.');
    await eventually('the words are there to be edited', async () => (await input.inputValue()) === 'Write both.');
    await input.fill('Write neither.');
    await input.press('Enter');
    await choose('Restore 2 files to here…');
    await answers(/Undo what Towpath changed in 2 files\?/, 'Undo');
    await editor.panel.shows('I see.');
    assert.deepEqual(files(), ['mine 1', 'mine 2']);
    const told = JSON.stringify(provider.requests.at(-1)!.body.messages);
    assert.match(told, /Write neither/);
    assert.doesNotMatch(told, /Write both|Pulled/);
    const branch = (name: string) => editor.panel.frame.getByRole('group', { name });
    await branch('Branch 2 of 2').waitFor();
    await editor.screenshot('branches');
    await editor.reload();
    await branch('Branch 2 of 2').getByRole('button', { name: 'Show the previous branch' }).click();
    await branch('Branch 1 of 2').waitFor();
    await editor.panel.shows('Both are written.');
    await editor.command('Towpath: Switch Branch…');
    await choose('Write neither.');
    await branch('Branch 2 of 2').waitFor();
    assert.equal(await editor.panel.frame.getByText('Both are written.').count(), 0);
    const row = (title: string, depth: number) =>
      editor.panel.frame.locator(`.history-row[data-depth="${depth}"]`, { hasText: title });
    await editor.panel.frame.getByTestId('history').click();
    await row('Write neither.', 1).waitFor();
    await editor.screenshot('branches-listed');
    // Another test's run has the same title, and no branch.
    const parent = editor.panel.frame.locator('.history-row[data-depth="0"]:has(+ .history-row[data-depth="1"])', {
      hasText: 'Write both.',
    });
    const id = await parent.getAttribute('data-run');
    await parent.getByTestId('delete-run').click();
    await answers(/“Write both\.” has 1 branch\. Delete that, too\?/, 'Delete This One');
    await row('Write neither.', 0).waitFor();
    assert.equal(await editor.panel.frame.locator(`.history-row[data-run="${id}"]`).count(), 0);
  });

  it('of what came after a message that is said otherwise, to which the person says no: the words are there again', async () => {
    const { frame, composer } = editor.panel;
    const said = frame.locator('[data-role="user"]').filter({ hasText: 'Write both.' });
    await said.hover();
    await said.locator('[data-act="edit"]').click();
    await eventually('the words are there to be edited', async () => (await composer.inputValue()) === 'Write both.');
    await composer.fill('Write neither, please.');
    await frame.getByTestId('saying').getByText('restore (2)').click();
    await composer.press('Enter');
    assert.match(await editor.dialog.text(), /Undo what Towpath changed in 2 files\?/);
    await editor.dialog.escape();
    await eventually('they are there again', async () => (await composer.inputValue()) === 'Write neither, please.');
    assert.deepEqual([files(), provider.requests.length], [['Pulled 1.', 'Pulled 2.'], 2]);
  });

  it('of one change by its card, after a reload, asks only about what would be lost, and can be redone there', async () => {
    await editor.reload();
    const card = editor.panel.cards('fs.write').first();
    await card.getByTestId('undo').click();
    await eventually('the file is as it was', () => editor.read('one.txt') === 'mine 1');
    assert.equal(editor.read('two.txt'), 'Pulled 2.');
    await eventually('the card says so', async () => /Undone/.test(await card.innerText()));
    await editor.screenshot('undone-redo');
    await card.getByTestId('redo').click();
    await eventually('it is redone', () => editor.read('one.txt') === 'Pulled 1.');
    await card.getByTestId('undo').waitFor();
    writeFileSync(path.join(editor.folder, 'one.txt'), 'mine, since then');
    await card.getByTestId('undo').click();
    assert.match(await editor.dialog.text(), /Undo what Towpath changed in one\.txt\?/);
    await editor.dialog.escape();
    assert.equal(editor.read('one.txt'), 'mine, since then');
  });

  it('of the run is redone by its notice or the command, unless a file was changed since', async () => {
    const undoes = async () => {
      await editor.command('Towpath: Undo Run');
      await answers(/Undo what Towpath changed in 2 files\?/, 'Undo');
      await eventually('both are undone', () => String(files()) === 'mine 1,mine 2');
    };
    await undoes();
    await editor.panel.frame.getByTestId('notice').getByText('Undone: changes in 2 files.').waitFor();
    await editor.panel.frame.getByRole('button', { name: 'Redo', exact: true }).last().click();
    await eventually('both are redone', () => String(files()) === 'Pulled 1.,Pulled 2.');
    await undoes();
    writeFileSync(path.join(editor.folder, 'two.txt'), 'mine, since then');
    await editor.command('Towpath: Redo');
    await editor.panel.frame
      .getByTestId('notice')
      .getByText('two.txt was left as it is: It has changed since.')
      .waitFor();
    assert.deepEqual(files(), ['mine 1', 'mine, since then']);
    writeFileSync(path.join(editor.folder, 'two.txt'), 'mine 2');
    await editor.command('Towpath: Redo');
    await eventually('both are redone', () => String(files()) === 'Pulled 1.,Pulled 2.');
  });
});
