import assert from 'node:assert/strict';
import { insightsIn } from '../pictures/insights.ts';
import { violationsIn } from './axe.ts';
import { openBrowser, type TestBrowser, type TestPage } from './browser.ts';
import { ended, showState, states } from './states.ts';

describe('Everyone can use the panel:', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  for (const state of [...states, ...ended.slice(0, 3)])
    it(`axe finds nothing wrong with “${state.name}”, also where colours are forced`, async () => {
      await showState(test, state);
      assert.deepEqual(await violationsIn(test), []);
      const main = test.page.locator('vscode-button:not([appearance="secondary"], [appearance="icon"], .send):visible');
      assert.ok((await main.count()) <= 1, `one thing asks at a time: ${await main.allInnerTexts()}`);
      const moving = test.page.locator(':is(.ring, .thinking.now):not(.still)');
      assert.ok((await moving.count()) <= 1, 'one thing moves at a time');
      await test.page.emulateMedia({ forcedColors: 'active' });
      try {
        assert.deepEqual(await violationsIn(test), []);
      } finally {
        await test.page.emulateMedia({ forcedColors: null });
      }
    });

  it('axe finds nothing wrong with Insights, also where colours are forced', async () => {
    const alone = await browser.open('webview/main.ts');
    try {
      await alone.page.goto('about:blank'); // where the panel's policy does not hold
      await alone.page.setContent(insightsIn('dark'));
      for (const forcedColors of [null, 'active'] as const) {
        await alone.page.emulateMedia({ forcedColors });
        assert.deepEqual(await violationsIn(alone), []);
      }
    } finally {
      await alone.close();
    }
  });
});
