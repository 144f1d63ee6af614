import assert from 'node:assert/strict';
import { findRealModels } from '../real/models.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';

describe('a small trained model', () => {
  let editor: Towpath;
  before(async function () {
    const file = (await findRealModels())[0]?.file;
    if (file === undefined) return this.skip();
    editor = await openTowpath({
      settings: { 'towpath.model': `local/${file}`, 'towpath.local.gpu': false, 'towpath.local.threads': 1 },
    });
  });
  after(() => editor?.stop());

  const answer = async () => {
    const entries = await editor.panel.transcript();
    return entries.findLast((entry) => 'role' in entry && entry.role === 'assistant')?.text ?? '';
  };

  it('streams its answer into a narrow panel, is stopped, and answers another message', async () => {
    await editor.resizePanel(300);
    await editor.panel.send('Tell me a long story about a boat on a canal.');
    await eventually('its answer has begun', async () => (await answer()).length > 40);
    const begun = await answer();
    await eventually('it goes on', async () => (await answer()).length > begun.length);
    await editor.screenshot('trained-model');
    await editor.panel.stop();
    await editor.panel.waitForPhase('Failed');
    const stopped = await answer();
    assert.ok(stopped.startsWith(begun.slice(0, 20)), stopped);
    await editor.panel.send('And what is the capital of France?');
    await eventually('it answers', async () => ![stopped, ''].includes(await answer()));
  });

  it('is checked until it is stopped: the report has what was tried by then', async () => {
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.stop'));
    await editor.panel.waitForPhase(['Failed', 'WaitingUser']);
    await editor.command('Towpath: Check This Model');
    assert.match(await editor.dialog.text(), /^Check what .+ can do\?\nAbout .+\nIt costs nothing\.\n/s);
    await editor.dialog.click('Check');
    const status = editor.page.locator('.statusbar-item', { hasText: 'Towpath is checking' });
    // What a model writes in a task differs each time, and may be long: it is stopped after the first task or in it.
    const isFirstDone = await eventually(
      'the first task is done',
      async () => (await status.first().innerText()).includes('2 of 15, Two calls at once'),
      30_000,
    ).then(
      () => true,
      () => false,
    );
    await editor.panel.frame.getByTestId('notice').getByRole('button', { name: 'Dismiss' }).click();
    await editor.command('Towpath: Check This Model');
    const notice = await editor.told(/: \d of 15, /);
    await editor.screenshot('trained-check');
    await notice.getByRole('button', { name: 'Stop Check' }).click();
    await editor.told('was not checked to the end. It was stopped.');
    const page = () =>
      editor.host.evaluate(
        (vscode) => vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'towpath-checks')?.getText() ?? '',
      );
    await eventually('the report says what was not run', async () =>
      /^- \*\*\S+:\*\* [01] of 15 tasks done, 1[345] not run\. It was stopped\.$/m.test(await page()),
    );
    if (isFirstDone) assert.match(await page(), /^\| [✓✗] A plain call \| \d+ s \| \d+ \| \d+ \| [\d,]+ \|$/m);
    await eventually('the page is drawn', async () => {
      const texts = editor.page.frames().map((frame) => frame.locator('body').innerText({ timeout: 1000 }));
      const drawn = await Promise.allSettled(texts);
      return drawn.some((one) => one.status === 'fulfilled' && one.value.includes(' of 15 tasks done, '));
    });
    await editor.screenshot('trained-check-report');
  });
});
