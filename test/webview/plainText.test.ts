import assert from 'node:assert/strict';
import { germanWords, openBrowser, type TestBrowser } from './browser.ts';
import { showState, sideways, states } from './states.ts';

describe('The words of the panel', () => {
  let browser: TestBrowser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser.close());

  it('are those that its page brings along, under the policy of the page', async () => {
    const german = {
      'Deleted {0}.': '{0} gelöscht.',
      '{0} files': '{0} Dateien',
      '<b>Close</b>': '</script><b>Schließen</b>',
    };
    const { page, violations } = await browser.open('test/webview/page/words.ts', { german });
    const shown = await page.locator('body').innerText();
    assert.equal(shown.trim(), 'de: 1.234 Dateien gelöscht. </script><b>Schließen</b>');
    assert.deepEqual(await violations(), []);
  });

  it('are English where it brings none', async () => {
    const { page, violations } = await browser.open('test/webview/page/words.ts');
    assert.equal((await page.locator('body').innerText()).trim(), 'en: Deleted 1,234 files. <b>Close</b>');
    assert.deepEqual(await violations(), []);
  });

  it('are longer in German, and nothing sticks out of the narrowest panel', async () => {
    const test = await browser.open('webview/main.ts', { german: germanWords(), width: 230, height: 720 });
    for (const state of states) {
      await test.renew();
      await showState(test, state);
      assert.deepEqual([state.name, ...(await sideways(test))], [state.name]);
    }
    assert.deepEqual(await test.violations(), []);
  });
});
