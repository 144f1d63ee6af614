import assert from 'node:assert/strict';
import { toToolResult } from '../../src/protocol/content/tools.ts';
import type { PanelState } from '../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import { answers, unseen } from '../support/answers.ts';
import { germanWords, openBrowser, type TestBrowser, type TestPage } from './browser.ts';
import { begin, concludes, readyState, runOf } from './conversation.ts';

const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser' };
const says = (content: string): RunEventBody => ({ type: 'message', message: { role: 'assistant', content } });

/** Reads of files whose paths are longer than a narrow panel is wide. */
const paths = [
  'src/reports/deep/folder0/quarterlyReportGenerator10.js',
  'a/b/quarterlyReportGenerator10.js',
  'src\\reports\\deep\\folder0\\quarterlyReportGenerator10.js',
  'packages/website/src/components/navigation/breadcrumbs/BreadcrumbOverflowMenu.module.css',
  'quarterlyReportGeneratorWithANameThatIsLongerThanTheWholeOfTheSideBar.test.ts',
];
const read = (path: string): RunEventBody[] => [
  {
    type: 'message',
    message: { role: 'assistant', content: 'Next.', toolCalls: [{ id: path, name: 'fs.edit', arguments: { path } }] },
  },
  { type: 'tool-start', toolCallId: path, name: 'fs.edit' },
  { type: 'tool-end', toolCallId: path, name: 'fs.edit', ok: true, ms: 1 },
  {
    type: 'message',
    message: { role: 'tool', content: '', toolResults: [toToolResult(path, { ok: true, data: { path, added: 1, removed: 1 } })] },
  },
]; // biome-ignore format: rows

describe('In a narrow panel', () => {
  let browser: TestBrowser;
  const pages = new Map<string, TestPage>();
  before(async () => {
    browser = await openBrowser();
    pages.set('English', await browser.open('webview/main.ts'));
    pages.set('German', await browser.open('webview/main.ts', { german: germanWords() }));
  });
  after(() => browser.close());

  const usage = { promptTokens: 999_000, completionTokens: 0, totalTokens: 999_000 };
  const used: RunEventBody = { type: 'usage', usage, attempts: 1, model: 'm', ms: 1 };
  const models = [{ id: 'a/b', label: 'anthropic/claude-sonnet-4.5-20250929', detail: '' }];
  const show = (test: TestPage, bodies: RunEventBody[], state: Partial<PanelState> = {}) =>
    test.send(
      { type: 'state', state: { ...readyState, models, modelId: 'a/b', ...state } },
      { type: 'run', run: runOf('run-1', bodies) },
    );

  for (const width of [230, 300, 420])
    it(`answers of models and names of files can be read at ${width} pixels`, async () => {
      const test = pages.get('English')!;
      await test.renew({ width, height: 2000 });
      assert.equal(answers.length, 20);
      await show(test, [...begin, ...answers.map(says), ...paths.flatMap(read), rests], { details: 'all' });
      assert.equal(await test.page.locator('.markdown table').count(), 10);
      assert.equal(
        await test.page
          .locator('.piece-whole')
          .filter({ hasText: /Generator|Breadcrumb/ })
          .count(),
        5,
      );
      assert.deepEqual(await unseen(test.page.locator('.transcript')), []);
    });

  it('a table that scrolls fades at the edge that hides more of it, and nowhere else', async () => {
    const test = pages.get('English')!;
    await test.renew({ width: 300, height: 800 });
    await show(test, [...begin, says(answers[4]!), rests]);
    const table = test.page.locator('.markdown table');
    const fades = (left: number) =>
      table.evaluate(async (element, to) => {
        element.scrollLeft = to;
        const { requestAnimationFrame, getComputedStyle } = element.ownerDocument.defaultView!;
        for (let frame = 0; frame < 3; frame++) await new Promise((drawn) => requestAnimationFrame(drawn));
        const style = getComputedStyle(element);
        return ['--fade-start', '--fade-end'].map((name) => Number.parseFloat(style.getPropertyValue(name)) > 0);
      }, left);
    assert.ok(await table.evaluate((element) => element.scrollWidth > element.clientWidth));
    assert.deepEqual(
      [await fades(0), await fades(60), await fades(10_000)],
      [
        [false, true],
        [true, true],
        [true, false],
      ],
    );
    await test.renew({ width: 900, height: 800 });
    await show(test, [...begin, says(answers[4]!), rests]);
    assert.deepEqual(await fades(0), [false, false]);
  });

  it('a fold of reads stands where cards stand, with the mark of what happened', async () => {
    const test = pages.get('English')!;
    await test.renew({ width: 300, height: 800 });
    const reads = ['a.ts', 'b.ts'].map((path) => ({ id: path, name: 'fs.read', arguments: { path } }));
    const failed: RunEventBody[] = [
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: reads } },
      ...reads.map(({ id, name }): RunEventBody => ({ type: 'tool-end', toolCallId: id, name, ok: id === 'a.ts', ms: 1 })),
      { type: 'message', message: { role: 'tool', content: '', toolResults: reads.map(({ id }) => toToolResult(id, { ok: true, data: {} })) } },
    ]; // biome-ignore format: rows
    await show(test, [...begin, ...read('x.ts'), ...failed, says('On.'), rests]);
    const left = async (selector: string) => (await test.page.locator(selector).first().boundingBox())!.x;
    const places = async (of: string, words: string) =>
      Promise.all([`${of} .twistie svg`, `${of} .card-icon`, words].map(left));
    const [chevron, icon] = await places('.card-toggle', '.card-verb');
    const [foldChevron, foldIcon] = await places('.fold-head', '.fold-words');
    assert.deepEqual([foldChevron, foldIcon], [chevron, icon]);
    const text = await test.page.locator('.fold-words').evaluate((element) => {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().left;
    });
    assert.equal(text, await left('.card-verb'));
    assert.equal(await test.page.locator('.fold').getAttribute('data-mark'), 'dot');
  });

  for (const language of ['English', 'German'])
    for (const width of [230, 300, 380, 420, 900])
      it(`the message box is one line and one row, at rest and at work, at ${width} pixels in ${language}`, async () => {
        const test = pages.get(language)!;
        await test.renew({ width, height: 700 });
        const text = test.page.locator('[data-testid="composer"] textarea');
        const heights: Record<string, number> = {};
        const measure = async (name: string) => {
          await test.send();
          heights[name] = (await test.page.locator('.composer').boundingBox())!.height;
          const outside = await test.page
            .locator('.composer vscode-button, .preset-name, .meter, .meter-ring, .composer > .composer-acts')
            .evaluateAll((all) =>
              (all as unknown as { className: string; closest(of: string): typeof all[0]; getBoundingClientRect(): { left: number; right: number }; scrollWidth: number; clientWidth: number }[])
                .filter((one) => {
                  const [{ left, right }, box] = [one.getBoundingClientRect(), one.closest('.composer')!.getBoundingClientRect()];
                  return left < box.left || right > box.right || one.scrollWidth > one.clientWidth + 1;
                })
                .map(({ className }) => className),
            ); // biome-ignore format: in the page
          assert.deepEqual(outside, [], name);
        };
        for (const preset of ['ask-everything', 'reads-free', 'edits-free', 'sandbox', 'autopilot'] as const) {
          const state = { preset, presetOfRun: true };
          await show(test, [...begin, used, ...concludes], state);
          await measure(`${preset}, at rest`);
          if (width === 300) assert.ok((await lettersOf(test)) >= 8, `${await lettersOf(test)} letters of the model`);
          await show(test, [...begin, used], state);
          await measure(`${preset}, at work`);
          await text.fill('Go on');
          await measure(`${preset}, at work, with text`);
          if (width === 300) assert.ok((await lettersOf(test)) >= 8, `${await lettersOf(test)} letters of the model`);
          await text.fill('');
        }
        assert.equal(new Set(Object.values(heights)).size, 1, JSON.stringify(heights));
        assert.ok(Object.values(heights)[0]! <= 62, JSON.stringify(heights));
      });
});

/** Letters of the model's name in view, without the ellipsis. */
const lettersOf = ({ page }: TestPage): Promise<number> =>
  page.locator('.model-label').evaluate((element) => {
    const { createRange } = element.ownerDocument;
    const range = createRange.call(element.ownerDocument);
    const [text, { right }] = [element.firstChild!.nextSibling ?? element.firstChild!, element.getBoundingClientRect()];
    const { length } = text.textContent ?? '';
    for (let letters = length; letters > 0; letters--) {
      range.setStart(text, 0);
      range.setEnd(text, letters);
      if (range.getBoundingClientRect().right <= right - (letters < length ? 11 : 0)) return letters;
    }
    return 0;
  });
