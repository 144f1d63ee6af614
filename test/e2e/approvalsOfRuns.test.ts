import assert from 'node:assert/strict';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

/** Kimi K2 gives the first edit of every run this id. */
const id = 'functions.fs_edit:0';

describe('approvals of two runs whose calls have the same id', () => {
  let provider: Provider;
  let editor: Towpath;

  before(async () => {
    provider = await startProvider(({ messages }) => {
      const last = messages.at(-1)!;
      if (messages.some(({ role }) => role === 'tool')) return reply.text('Done.');
      const path = String(last.content).includes('first') ? 'first.txt' : 'second.txt';
      return reply.call('fs_edit', { path, edits: [{ oldText: 'one', newText: path }] }, { id });
    });
    editor = await openTowpath({
      files: { 'first.txt': 'one\n', 'second.txt': 'one\n' },
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

  const command = (name: string) =>
    editor.host.evaluate(async (vscode, name) => {
      await vscode.commands.executeCommand(name);
    }, name);
  const [newRun, closeEditors] = ['towpath.newRun', 'workbench.action.closeAllEditors'];
  /** Reads the first line of the dialog, and puts the approval aside by its review. */
  const titleOfDialog = async () => {
    const [title] = (await editor.dialog.text()).split('\n');
    await editor.dialog.click('Review…');
    return title;
  };
  const reviewInFront = (file: string) =>
    editor.page.locator('.tab.active', { hasText: `Edit ${file} (proposed)` }).waitFor();
  const key = async () => {
    await editor.panel.composer.click(); // a review that was closed had the keys
    await editor.page.keyboard.press("Control+Alt+'");
  };
  const status = () => editor.page.locator('.statusbar-item', { hasText: '2 approvals waiting' });
  const card = (name: string) => editor.panel.cards('fs.edit').last().getByRole('button', { name, exact: true });
  const toast = (text: string) => editor.page.locator('.notification-toast', { hasText: text });
  /** What a run's model was told of its call. */
  const told = (message: string) =>
    provider.requests
      .map(({ body }) => body.messages)
      .filter((messages) => messages.some(({ content }) => content?.includes(message)))
      .flatMap((messages) => messages.filter((_, at) => messages.slice(0, at).some(({ role }) => role === 'assistant')))
      .flatMap(({ role, content }) => (role === 'tool' || role === 'user' ? [content] : []));

  it('a card, a key, the status bar, a command and a notification each answer the one on the screen', async () => {
    await editor.panel.send('Edit the first file.');
    assert.equal(await titleOfDialog(), 'Edit first.txt');
    await reviewInFront('first.txt');
    await command(closeEditors!);
    await command(newRun!);
    await editor.panel.send('Edit the second file.');
    assert.equal(await titleOfDialog(), 'Edit second.txt');
    const ways: [name: string, way: () => Promise<unknown>][] = [
      ['card', () => card('Answer…').click()],
      ['key', key],
      ['status bar', () => status().click()],
      ['palette', () => editor.command('Towpath: Answer…')],
    ];
    for (const [name, way] of ways) {
      await reviewInFront('second.txt');
      await command(closeEditors!);
      await way();
      assert.equal(await titleOfDialog(), 'Edit second.txt', name);
    }
    await reviewInFront('second.txt');
    await command(closeEditors!);

    const titles = [
      ['Needs your approval:', 'Edit second.txt'],
      ['“Edit the first file.” needs your approval', 'Edit first.txt (run “Edit the first file.”)'],
    ] as const;
    for (const [text, title] of titles) {
      await editor.command('View: Show Explorer');
      await toast(text).getByRole('link', { name: 'Answer…' }).click();
      assert.equal(await titleOfDialog(), title);
      await editor.command('Towpath: Focus on Chat View');
      await eventually('no notification is left', async () => (await toast('').count()) === 0);
    }
    await reviewInFront('first.txt');
    await editor.command('Towpath: Answer…');
    assert.equal(await titleOfDialog(), 'Edit first.txt (run “Edit the first file.”)', 'the review in front');
    await command(closeEditors!);
  });

  it('a new run says how many others wait, and nothing can be taken over', async () => {
    await command(newRun!);
    await editor.panel.shows('2 runs need your approval');
    await editor.panel.frame.getByTestId('notice').getByRole('button', { name: 'Answer…' }).click();
    assert.equal((await editor.dialog.text()).split('\n')[0], 'Edit first.txt (run “Edit the first file.”)');
    await editor.dialog.click('Review…');
    await reviewInFront('first.txt');
    await command(closeEditors!);
    await command('towpath.takeOver');
    await editor.panel.shows('No other window has this run.');
    await editor.panel.frame.getByTestId('history').click();
    await editor.panel.frame
      .locator('.history-row', { hasText: 'Edit the second file.' })
      .locator('.history-open')
      .click();
    await editor.panel.shows('Edit the second file.');
  });

  it('a denial and its feedback reach the run of its card, and no other', async () => {
    await card('Deny').click();
    await editor.panel.shows('Denied · waiting for your instructions');
    await editor.panel.send('Not this one.');
    await editor.panel.shows('Denied: “Not this one.”');
    await editor.panel.waitForPhase('WaitingUser');
    assert.match(told('Edit the second file.').join(), /Not this one\./);
    assert.deepEqual(told('Edit the first file.'), []);
    assert.equal(editor.read('second.txt'), 'one\n');
    await key(); // the shown run has none: the oldest
    assert.equal((await editor.dialog.text()).split('\n')[0], 'Edit first.txt (run “Edit the first file.”)');
    await editor.screenshot('approval-of-another-run');
    await editor.dialog.click('Allow');
    await eventually('it is done', () => editor.read('first.txt') === 'first.txt\n');
    assert.equal(editor.read('second.txt'), 'one\n');
  });
});
