import assert from 'node:assert/strict';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';

describe('a person opens a folder', () => {
  let editor: Towpath;
  before(async () => {
    editor = await openTowpath({ panelClosed: true });
  });
  after(() => editor?.stop());

  it('sees its files, and the icon of Towpath', async () => {
    await editor.page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'README.md' }).waitFor();
    await editor.page.locator('.activitybar a.action-label[aria-label^="Towpath"]').waitFor();
  });

  it('clicks the icon and can type', async () => {
    await editor.page.locator('.activitybar a.action-label[aria-label^="Towpath"]').click();
    await editor.panel.ready();
    await editor.panel.write('Hello');
    assert.equal(await editor.panel.composer.inputValue(), 'Hello');
    assert.equal(await editor.panel.phase(), '');
  });
});
