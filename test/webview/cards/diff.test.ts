import assert from 'node:assert/strict';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, readyState, runOf } from '../conversation.ts';

describe('A change on a card', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const edited = (path: string, diff: string): RunEventBody[] => [
    ...begin,
    {
      type: 'message',
      message: {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'e', name: 'fs.edit', arguments: { path, edits: [] } }],
      },
    },
    { type: 'tool-start', toolCallId: 'e', name: 'fs.edit' },
    { type: 'tool-end', toolCallId: 'e', name: 'fs.edit', ok: true, ms: 1, diff },
  ];
  const show = (path: string, diff: string) =>
    test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', edited(path, diff)) });
  const lines = () => test.page.locator('.diff').getByRole('listitem');
  const signs = (name: string) => lines().getByRole('img', { name, exact: true });

  it('is read line by line, with the sign in words; the file is one name', async () => {
    await show('src/deep/money.js', '@@ -2,1 +2,2 @@\n-one\n+two\n+three');
    assert.deepEqual(await lines().locator('.diff-text').allInnerTexts(), ['one', 'two', 'three']);
    assert.deepEqual([await signs('removed').count(), await signs('added').count()], [1, 2]);
    assert.equal(await test.page.getByRole('button', { name: 'src/deep/money.js', exact: true }).count(), 1);
  });

  it('of a notebook names its cells', async () => {
    await show('a.ipynb', '@@ -2,1 +2,1 @@ cell 2\n-print(1)\n+print(2)\n@@ -1,1 +1,1 @@ cell 4\n-a\n+b');
    assert.deepEqual(
      (await lines().allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()),
      ['Cell 2', '2 − print(1)', '2 + print(2)', 'Cell 4', '1 − a', '1 + b'],
    );
  });
});
