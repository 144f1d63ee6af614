import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { quickPickOf } from '../support/editor/quickPick.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('the storage of a workspace', () => {
  let provider: Provider;
  let editor: Towpath;

  before(async () => {
    provider = await startProvider([]);
    editor = await openTowpath({
      files: { 'a.txt': 'hours of work\n' },
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

  const run = async (command: string) => {
    await editor.host.evaluate(async (vscode) => vscode.commands.executeCommand('towpath.newRun'));
    let isCalled = false;
    provider.script = () => {
      if (isCalled) return reply.text('Done.');
      isCalled = true;
      return reply.late(0).call(toWireToolName('shell.run'), { command });
    };
    await editor.panel.send('Go.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
  };
  /** Numbers of the stored contents and outputs of runs. */
  const stored = () => {
    const files = readdirSync(editor.userDataDir, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /[\\/]runs[\\/].*[\\/]contents[\\/]/.test(file),
    );
    const outputs = files.filter((file) => file.endsWith('.output'));
    return { contents: files.length - outputs.length, outputs: outputs.length };
  };

  it('is listed with its sizes; what is deleted is named before, and Undo says that it is gone', async () => {
    await run('rm a.txt; seq 1 20000');
    assert.equal(existsSync(path.join(editor.folder, 'a.txt')), false);
    assert.deepEqual(stored(), { contents: 1, outputs: 1 });
    const list = quickPickOf(editor.page);
    const undoHistory = list.rows.filter({ hasText: 'Undo history' });
    const shows = (text: RegExp) =>
      eventually(`the list shows ${text}`, async () => text.test((await undoHistory.allInnerTexts()).join('')));
    await editor.command('Towpath: Manage Storage…');
    await shows(/ kB of 500 MB, back to /);
    await eventually('all sizes are known', async () => {
      const title = editor.page.locator('.quick-input-title');
      return /^Storage: \d+(\.\d)? MB$/.test(await title.innerText());
    });
    await editor.screenshot('manage-storage');
    await list.pick('Undo history');
    assert.match(
      await editor.dialog.text(),
      /^Delete the undo history \(\d+(\.\d)? kB\)\?\nWhat runs have changed until now can no longer be undone, redone or compared\. No file/,
    );
    await editor.dialog.escape();
    assert.deepEqual(stored(), { contents: 1, outputs: 1 });
    await editor.command('Towpath: Manage Storage…');
    await shows(/back to /);
    await list.pick('Undo history');
    await editor.dialog.click('Delete');
    await shows(/0 kB of 500 MB$/);
    assert.deepEqual(stored(), { contents: 0, outputs: 1 });
    await list.pick('Command output');
    await list.pick('All');
    await editor.dialog.click('Delete');
    await shows(/0 kB of 500 MB$/);
    await editor.page.keyboard.press('Escape');
    assert.deepEqual(stored(), { contents: 0, outputs: 0 });
    await editor.panel.frame.getByTestId('undo').first().click();
    await editor.panel.shows('a.txt was left as it is: This content is no longer stored.');
    assert.equal(existsSync(path.join(editor.folder, 'a.txt')), false);
    writeFileSync(path.join(editor.folder, 'a.txt'), 'written again\n');
    await run('rm a.txt');
    await editor.panel.frame.getByTestId('undo').first().click();
    await eventually('what is recorded from now on is back', () => editor.read('a.txt') === 'written again\n');
  });

  it('tells when the undo history is full, and leads to it', async () => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.workspace.getConfiguration().update('towpath.undo.quota', 0.0001, vscode.ConfigurationTarget.Global);
    });
    const says = editor.panel.shows('of 0.1 kB. Changes of the last 7 days stay undoable.');
    const opens = editor.panel.frame.getByText('Manage Storage…').click(); // at once: a notice goes by itself
    await run('echo more > b.txt');
    await Promise.all([says, opens]);
    await editor.screenshot('undo-history-full');
    const { rows } = quickPickOf(editor.page);
    await eventually('the list is open', async () => (await rows.allInnerTexts()).some((text) => /0\.1 kB/.test(text)));
    await editor.page.keyboard.press('Escape');
    await editor.panel.frame.getByTestId('undo').first().click();
    await eventually('it can be undone', () => editor.read('b.txt') === undefined);
  });
});
