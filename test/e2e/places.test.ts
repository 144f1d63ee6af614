import assert from 'node:assert/strict';
import { type Backend, backends } from '../support/backends.ts';
import { panelOf } from '../support/editor/panel.ts';
import { openTowpath, type Towpath, type Window } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { said } from '../support/scripted.ts';

/** In a browser the editor writes down what is open every few seconds, and when the page ends only what it has the time for. */
const hasTabWritten = `(async () => {
  const done = (asked) => new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  for (const { name } of await indexedDB.databases()) {
    if (!name.startsWith('vscode-web-state-db')) continue;
    const database = await done(indexedDB.open(name));
    try {
      const items = database.transaction('ItemTable').objectStore('ItemTable');
      if (String(await done(items.get('memento/workbench.parts.editor'))).includes('chatTab')) return true;
    } finally {
      database.close();
    }
  }
  return false;
})()`;

describe('the chat has its place where the person wants it:', () => {
  let backend: Backend;
  before(async () => {
    backend = await backends.endpoint();
  });
  after(() => backend.close());

  const ask = async ({ panel }: Pick<Window, 'panel'>, text: string, answer: string) => {
    await panel.send(text);
    await panel.shows(answer);
    await panel.waitForPhase('WaitingUser');
  };
  const pick = async ({ page }: Window, label: string) => {
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first();
    await row.waitFor();
    await row.click();
  };

  describe('in one window,', () => {
    let editor: Towpath;
    before(async () => {
      editor = await openTowpath({ settings: backend.settings });
    });
    after(() => editor?.stop());

    it('the second side bar, with what is written and said, also after a reload; and back', async () => {
      await ask(editor, 'Where are you?', said.hello);
      await editor.panel.write('half a sentence');
      const moveTo = async (where: string) => {
        await editor.command('View: Move View');
        await pick(editor, 'Chat');
        await pick(editor, where);
      };
      await moveTo('New Secondary Side Bar Entry');
      const second = editor.page.locator('.part.auxiliarybar');
      await second.getByText('Towpath').first().waitFor();
      await editor.panel.shows(said.hello);
      await eventually(
        'the draft is there',
        async () => (await editor.panel.composer.inputValue()) === 'half a sentence',
      );
      const bar = (await second.boundingBox())!;
      const box = (await editor.panel.frame.locator('body').boundingBox())!;
      assert.ok(box.x >= bar.x && box.x + box.width <= bar.x + bar.width + 1, 'it is in the second side bar');

      await editor.panel.send('[[edit]] Make the greeting warmer.');
      await editor.dialog.text();
      await editor.screenshot('second-side-bar-question');
      await editor.dialog.click('Allow');
      await editor.panel.hasTheKeys();
      await editor.panel.shows(said.edited);
      await editor.panel.waitForPhase('WaitingUser');
      await editor.screenshot('second-side-bar');

      await editor.reload();
      await editor.showPanel();
      await editor.panel.shows(said.edited);
      await moveTo('New Side Bar Entry');
      await eventually('it is in the first side bar again', async () => {
        const first = await editor.page.locator('.part.sidebar').boundingBox();
        const now = await editor.panel.frame
          .locator('body')
          .boundingBox()
          .catch(() => null);
        return first !== null && now !== null && now.x < first.x + first.width;
      });
      await editor.panel.shows(said.edited);
    });

    it('a tab, beside the view: one run in both, and the keys where the person is', async () => {
      await editor.begin(backend.settings);
      const tab = panelOf(editor.page, 'tab');
      await ask(editor, 'Before the tab.', said.hello);
      await editor.command('Towpath: Open Chat in an Editor');
      await tab.shows('Before the tab.');
      await tab.hasTheKeys();

      await tab.send('[[edit]] Make the greeting warmer.');
      assert.match(await editor.dialog.text(), /Edit src\/greet\.js/);
      await editor.panel.shows('Waiting for approval');
      await editor.dialog.click('Allow');
      await tab.hasTheKeys();
      for (const panel of [tab, editor.panel]) {
        await panel.shows(said.edited);
        await panel.waitForPhase('WaitingUser');
      }
      assert.deepEqual(await tab.transcript(), await editor.panel.transcript());
      await editor.screenshot('tab');

      await ask(editor, 'And from the side.', said.hello);
      await tab.shows('And from the side.');
      await editor.panel.hasTheKeys();

      await editor.host.evaluate(async (vscode) => {
        await vscode.commands.executeCommand('workbench.action.closeSidebar');
      });
      await tab.send('[[long]] Count.');
      await tab.shows('tick tock');
      await tab.stop();
      await tab.waitForPhase('Failed');
      await editor.command('Towpath: New Run');
      await eventually('the conversation is empty', async () => (await tab.transcript()).length === 0);
      await tab.hasTheKeys();
      assert.equal(await editor.page.locator('.part.sidebar').isVisible(), false, 'what is in view is enough');

      await ask({ panel: tab }, 'To be kept.', said.hello);
      await eventually('the editor has written down the tab', () => editor.page.evaluate<boolean>(hasTabWritten));
      await editor.reload();
      await tab.shows('To be kept.');
      await ask({ panel: tab }, 'And it goes on.', said.hello);
      await editor.showPanel();
      await editor.panel.shows('And it goes on.');
      await editor.host.evaluate(async (vscode) => {
        for (const { tabs } of vscode.window.tabGroups.all) await vscode.window.tabGroups.close(tabs);
      });
      await ask(editor, 'Without the tab.', said.hello);
    });
  });

  it('two windows with the same run open: each sees what the other did, and only one works at it', async () => {
    const editor = await openTowpath({ folder: null, settings: backend.settings });
    try {
      await ask(editor, 'In the first window.', said.hello);
      const other = await editor.another();
      await other.command('Towpath: Open Run…');
      await pick(other, 'In the first window.');
      await other.panel.shows(said.hello);

      await editor.panel.send('[[long]] Count.');
      await editor.panel.shows('tick tock');
      await other.panel.send('Meanwhile.');
      await other.panel.shows('This run is in progress in another window.');
      await other.page.screenshot({ path: 'test/out/screenshots/two-windows.png' });
      await editor.panel.stop();
      await editor.panel.waitForPhase('Failed');
      await editor.panel.send('Rest.');
      await editor.panel.shows(/Rest\.[\s\S]*Hello/);

      await other.panel.shows('Rest.');
      await other.panel.send('In the second window.');
      await other.panel.shows(/Count\.[\s\S]*Rest\.[\s\S]*In the second window\.[\s\S]*Hello/);
      await editor.panel.shows(/Rest\.[\s\S]*In the second window\.[\s\S]*Hello/);
      await editor.panel.send('In the first again.');
      await editor.panel.shows(/In the second window\.[\s\S]*Hello[\s\S]*In the first again\.[\s\S]*Hello/);
      await other.panel.shows('In the first again.');

      await other.panel.frame.getByTestId('new-run').click();
      await ask(other, 'Only in the second.', said.hello);
      await editor.panel.frame.getByTestId('new-run').click();
      await ask(editor, 'Only in the first.', said.hello);
      await other.page.reload();
      await other.panel.shows('Only in the second.');
      await editor.reload();
      await editor.panel.shows('Only in the first.');
    } finally {
      await editor.stop();
    }
  });
});
