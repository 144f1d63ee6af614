import assert from 'node:assert/strict';
import { oneWindow } from '../support/editor/oneWindow.ts';
import type { Towpath } from '../support/editor/towpath.ts';

describe('notices', () => {
  const start = oneWindow();
  let editor: Towpath;
  const run = (command: string) =>
    editor.host.evaluate((vscode, name) => {
      void vscode.commands.executeCommand(name);
    }, command);

  it('one that only informs leaves by itself, one under the pointer stays, and the log has them', async () => {
    editor = await start();
    const notice = editor.panel.frame.getByTestId('notice');
    await run('towpath.deleteKey');
    await editor.told('No key or secret is saved.');
    await editor.screenshot('notice-info');
    await notice.waitFor({ state: 'detached' });
    await run('towpath.deleteKey');
    await notice.hover();
    await run('towpath.showLog');
    await editor.page.locator('.output-view .view-line', { hasText: 'No key or secret is saved.' }).nth(1).waitFor();
    assert.equal(await notice.count(), 1);
    await editor.screenshot('notice-log');
  });
});
