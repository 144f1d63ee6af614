import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const line = 'echo begun > begun.txt; while sleep 0.1; do echo tick >> ticks.txt; done';

describe('an editor that is killed while a command runs', () => {
  let provider: Provider;
  let outer: string;
  let editor: Towpath;
  const open = async () => {
    editor = await openTowpath({
      folder: path.join(outer, 'workspace'),
      userDataDir: path.join(outer, 'data'),
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'files.autoSave': 'off',
      },
    });
  };
  before(async () => {
    provider = await startProvider([
      reply.call('shell_run', { command: line }),
      reply.call('shell_run', { command: line }),
      reply.text('I wait for it.'),
    ]);
    outer = temporaryFolder();
    writeWorkspace(outer, { 'a.txt': 'A' });
    await open();
  });
  after(async () => {
    await editor?.stop();
    await provider.close();
    rmSync(outer, { recursive: true, force: true });
  });

  it('the next one names it to the person and the model, runs it no second time, and ends it', async () => {
    await editor.panel.send('Tick.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await eventually('it ticks', () => editor.read('ticks.txt') !== undefined);
    await editor.kill();
    const ticks = editor.read('ticks.txt')!.length;
    await eventually('it goes on without an editor', () => editor.read('ticks.txt')!.length > ticks);

    await open();
    const notice = await editor.told('A command kept running when the editor closed');
    assert.match(await notice.innerText(), /while sleep 0\.1; .* in .*, (bash|sh) \(\d+\)/s);
    await editor.screenshot('left-running');
    await editor.command('Towpath: Continue Run');
    await eventually('the model has answered', () => provider.requests.length === 3);
    await editor.panel.shows('I wait for it.');
    assert.equal(await editor.dialog.isOpen(), false, 'nobody is asked to run it again');
    const said = JSON.stringify(provider.requests[2]!.body.messages);
    assert.match(said, /Its command went on and is still at work: [^.]*\b(bash|sh) \(\d+\)/);
    assert.match(said, /It is not run a second time beside itself/);
    assert.match(
      await editor.panel.cards('shell.run').first().innerText(),
      /interrupted when the window closed, and continued/,
    );
    await editor.screenshot('left-running-told');

    await editor.command('Towpath: Stop Orphaned Commands…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'while sleep' }).first().click();
    await editor.told('Ended: echo begun');
    const last = editor.read('ticks.txt');
    await editor.command('Towpath: Stop Orphaned Commands…');
    await editor.told('No orphaned commands');
    assert.equal(editor.read('ticks.txt'), last);
  });
});
