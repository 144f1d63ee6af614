import assert from 'node:assert/strict';
import { openBrowser, type TestBrowser, type TestPage } from './browser.ts';
import { showState, states } from './states.ts';

/** What a conversation holds that is long in one piece. Each has a bound in the page, and a way to all of it. */
describe('A long thing in the panel:', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const show = (name: string) => showState(test, states.find((state) => state.name === name)!);
  const count = (selector: string) => test.page.locator(selector).count();
  const box = async (selector: string) => (await test.page.locator(selector).first().boundingBox())!;
  const isInside = async (selector: string) => {
    const inner = await box(selector);
    return inner.x >= 0 && inner.x + inner.width <= 420;
  };

  it('an answer of 1 MB has a few thousand elements, and its last words are shown at one press', async () => {
    await show('long answer');
    assert.ok((await count('.markdown *')) < 6000, `${await count('.markdown *')} elements`);
    const end = (await test.page.getByText('The very end.').boundingBox())!;
    assert.ok(end.y > 0 && end.y < 800, `its end is at ${end.y}`);
  });

  it('a change of 2,000 lines is read as a whole before it is answered, in a box of its own', async () => {
    await show('long question');
    const lines = await test.page.locator('.diff-text').allInnerTexts();
    assert.deepEqual([lines.length, lines[0], lines.at(-1)], [2000, 'old 0', 'old 1999']);
    assert.match(await test.page.locator('.diff').innerText(), /2,000 more changed lines/);
    const { height } = await box('.diff');
    assert.ok(height < 500, `${height} pixels high`);
    await test.page.locator('.diff').focus();
    await test.page.keyboard.press('End');
    await test.page.waitForFunction(() => {
      const { scrollTop, scrollHeight, clientHeight } = (globalThis as unknown as { document: { querySelector(one: string): { scrollTop: number; scrollHeight: number; clientHeight: number } } }).document.querySelector('.diff');
      return scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 2;
    }); // biome-ignore format: in the page
    await test.page.getByTestId('show-question').waitFor();
  });

  it('an output of 5,000 lines shows its end first, and leads to all of it', async () => {
    await show('long output');
    const [output, text] = [await box('.output'), await box('.output > pre')];
    const end = text.y + text.height;
    assert.ok(output.height < 400 && text.height > 50_000, `${output.height} of ${text.height} pixels`);
    assert.ok((await count('.card *')) < 200, `${await count('.card *')} elements`);
    assert.ok(end > output.y && end <= output.y + output.height, `its end is at ${end}`);
    await test.page.getByTestId('open-output').click();
    assert.equal((await test.posted()).at(-1)!.type, 'open-output');
  });

  for (const width of [230, 300, 420])
    it(`a long name of a file is whole at ${width} pixels, behind what is left of its folder`, async () => {
      await test.page.setViewportSize({ width, height: 800 });
      try {
        await show('long name');
        const [folder, name] = [
          test.page.locator('.piece-middle').first(),
          test.page.locator('.piece-middle + .piece-whole').first(),
        ];
        assert.equal(await name.innerText(), '/quarterlyReportGenerator10.js');
        assert.ok((await folder.boundingBox())!.width >= 14, 'a letter and the ellipsis');
        const { x, width: wide } = (await name.boundingBox())!;
        assert.ok(x > 0 && x + wide <= width, `${x}, ${wide} wide`);
      } finally {
        await test.page.setViewportSize({ width: 420, height: 800 });
      }
    });

  for (const width of [300, 360, 420])
    it(`a table of files has all of its cells in view at ${width} pixels`, async () => {
      await test.page.setViewportSize({ width, height: 800 });
      try {
        await show('table of files');
        const table = test.page.locator('.markdown table');
        assert.ok(await table.evaluate((one) => one.scrollWidth <= one.clientWidth));
        for (const cell of await table.locator('th, td').all()) {
          const { x, width: wide } = (await cell.boundingBox())!;
          assert.ok(x >= 0 && x + wide <= width && wide >= 80, `${await cell.innerText()}: ${x}, ${wide} wide`);
        }
      } finally {
        await test.page.setViewportSize({ width: 420, height: 800 });
      }
    });

  it('a table of 20 columns scrolls by itself, by the keyboard too', async () => {
    await show('wide table');
    const table = test.page.locator('.markdown table');
    assert.ok(await isInside('.markdown table'));
    assert.ok(await table.evaluate((one) => one.scrollWidth > one.clientWidth));
    await table.focus();
    await test.page.keyboard.press('End');
    await test.page.keyboard.press('ArrowRight');
    await test.page.waitForFunction(
      () => (globalThis as unknown as { document: { querySelector(one: string): { scrollLeft: number } } }).document.querySelector('.markdown table').scrollLeft > 0,
    ); // biome-ignore format: in the page
  });

  it('a workflow of 60 nodes is what is near the work, and all of it at two presses', async () => {
    await show('workflow');
    assert.deepEqual(await test.page.locator('.graph-node').count(), 3);
    assert.match(
      await test.page.getByTestId('graph').innerText(),
      /8 of 60 done[\s\S]*7 nodes done[\s\S]*50 more nodes/,
    );
    await test.renew();
    await show('workflow, all of it');
    assert.equal(await count('.graph-node'), 60);
    assert.ok(await isInside('.graph'));
  });
});
