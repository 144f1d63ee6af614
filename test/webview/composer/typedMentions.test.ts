import assert from 'node:assert/strict';
import type { ComposerCompletion, Mention } from '../../../src/protocol/content/mention.ts';
import { slashIntents } from '../../../src/protocol/panel/intents.ts';
import { type ViewMessage, viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import { matchingLetterPositions } from '../../../webview/composer/matched.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { readyState } from '../conversation.ts';

describe('Mentions as typed', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(async () => {
    await test.renew({ width: 420 });
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: null });
  });
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const box = () => test.page.locator('[data-testid="composer"] textarea');
  const list = () => test.page.getByTestId('completion');
  const file: Mention = { kind: 'file', path: 'src/cli.js' };
  async function posted<Type extends ViewMessage['type']>(type: Type) {
    const all = await test.posted();
    for (const message of all) viewMessageSchema.parse(message);
    return all.filter((one): one is Extract<ViewMessage, { type: Type }> => one.type === type);
  }
  const resolves = async () => (await posted('resolve-mention')).map(({ word }) => word);
  const chips = async () =>
    (await test.page.getByTestId('mentions').locator('li').allInnerTexts()).map((one) =>
      one
        .replace(/\s+/g, ' ')
        .replace(/ about \S+ tokens/, '')
        .trim(),
    );
  const paste = (text: string) =>
    test.page.evaluate(`{
      const box = document.querySelector('[data-testid="composer"]').control;
      box.focus();
      box.setRangeText(${JSON.stringify(text)}, box.selectionStart, box.selectionEnd, 'end');
      box.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertFromPaste' }));
    }`);

  it('become chips at the blank behind them, as if they had been picked, and go with the message', async () => {
    await box().pressSequentially('Why does @src/cli.js, ');
    await test.send();
    assert.deepEqual(await resolves(), ['@src/cli.js,']);
    await test.send({ type: 'mention-resolved', word: '@src/cli.js,', mention: file });
    assert.deepEqual(await posted('measure-mention'), [{ type: 'measure-mention', mention: file }]);
    await test.send({ type: 'mention-size', mention: file, tokens: 1200 });
    assert.deepEqual(await chips(), ['cli.js 1.2k']);
    await box().pressSequentially('not stop?');
    await test.page.keyboard.press('Enter');
    assert.deepEqual(await posted('send'), [
      { type: 'send', text: 'Why does @src/cli.js, not stop?', mentions: [file] },
    ]);
  });

  it('that are not resolved when the message is sent are resolved by the host: one at its end, and one without an answer', async () => {
    await box().pressSequentially('@selection and @src/cli.js');
    await test.page.keyboard.press('Enter');
    await test.send({ type: 'mention-resolved', word: '@selection', mention: { kind: 'selection' } });
    assert.deepEqual(await posted('send'), [
      { type: 'send', text: '@selection and @src/cli.js', typed: ['@selection', '@src/cli.js'] },
    ]);
    assert.equal(
      await test.page.getByTestId('mentions').count(),
      0,
      'an answer that comes late names nothing any more',
    );
  });

  it('are complete when the caret leaves them by a key, a click, or with the focus', async () => {
    await box().pressSequentially('@a.js');
    await test.page.keyboard.press('Escape');
    await test.page.keyboard.press('Home');
    await test.send();
    assert.deepEqual(await resolves(), ['@a.js']);
    await box().fill('');
    await box().pressSequentially('@b.js');
    await test.page.getByTestId('model').focus();
    await test.send();
    assert.deepEqual(await resolves(), ['@a.js', '@b.js']);
  });

  it('are marked where they name nothing, and sent as text; the mark can be dismissed', async () => {
    await box().pressSequentially('See @src/clii.js, ');
    await test.send({ type: 'mention-resolved', word: '@src/clii.js,', unknown: '@src/clii.js' });
    const chip = test.page.getByTestId('unknown-mention');
    assert.deepEqual(await chips(), ['@src/clii.js not found']);
    assert.equal(await chip.getAttribute('title'), '@src/clii.js was not found and is sent as text');
    await test.page.screenshot({ path: 'test/out/screenshots/mention-unknown.png' });
    await test.page.getByRole('button', { name: 'Dismiss “@src/clii.js”' }).click();
    await test.send();
    assert.equal(await test.page.getByTestId('mentions').count(), 0);
    assert.equal(await box().inputValue(), 'See @src/clii.js, ');
    await test.page.keyboard.press('Enter');
    assert.deepEqual(await posted('send'), [{ type: 'send', text: 'See @src/clii.js,' }]);
  });

  it('are only words that were typed: what was pasted, and addresses, ask nothing', async () => {
    const code = '@Injectable()\nexport class A {}\nimport x from "@types/node";\n@src/cli.js ';
    await paste(code);
    await test.page.keyboard.type('is it right? me@example.com ');
    await test.page.keyboard.press('Enter');
    assert.deepEqual(await resolves(), []);
    assert.deepEqual(await posted('send'), [{ type: 'send', text: `${code}is it right? me@example.com` }]);
  });

  it('a word that was picked from the list is not asked about again', async () => {
    await box().pressSequentially('@c');
    const asked = (await posted('complete')).at(-1)!.asked;
    await test.send({ type: 'completions', asked, rows: [{ mention: file, label: 'cli.js', detail: 'src' }] });
    await test.page.keyboard.press('Tab');
    await box().pressSequentially('and more ');
    assert.deepEqual(await resolves(), []);
    assert.deepEqual(await chips(), ['cli.js']);
  });

  const letters: [text: string, query: string, found: string][] = [
    ['src/cli.ts', 'cli', '    ***   '],
    ['cli/src/x.ts', 'cli', '***         '],
    ['src/cli/cli.ts', 'cli', '        ***   '],
    ['src/panel/cli.ts', 'pcl', '    *     **    '],
    ['src/panel/', 'pan', '    ***   '],
    ['README.md', 'RM', '*   *    '],
    ['README.md', 'readme', '******   '],
    ['a.ts', 'x', '    '],
    ['a.ts', '', '    '],
    ['İ.ts', 'ts', '    '],
  ];
  for (const [text, query, found] of letters)
    it(`“${query}” matches “${text}”`, () => {
      const all = new Set(matchingLetterPositions(text, query));
      assert.equal([...text].map((_, at) => (all.has(at) ? '*' : ' ')).join(''), found);
    });

  it('lists have icons, and what matches in bold, without more words for a screen reader', async () => {
    await box().pressSequentially('@pa/cl');
    const asked = (await posted('complete')).at(-1)!.asked;
    const rows: ComposerCompletion[] = [
      { mention: { kind: 'file', path: 'src/panel/cli.ts' }, label: 'cli.ts', detail: 'src/panel · open' },
      { mention: { kind: 'folder', path: 'src/panel' }, label: 'panel/', detail: 'src' },
      { mention: { kind: 'problems' }, label: 'problems', detail: '2 errors' },
    ];
    await test.send({ type: 'completions', asked, rows });
    const options = test.page.getByRole('option');
    assert.deepEqual(await options.locator('svg.icon').count(), rows.length);
    assert.deepEqual(await options.first().locator('b').allInnerTexts(), ['cl', 'pa']);
    assert.equal(
      await test.page.getByRole('option', { name: 'cli.ts src/panel · open' }).count(),
      1,
      'the name is in one piece',
    );
  });

  for (const width of [300, 420])
    it(`at ${width} px lists are as wide as the panel, and descriptions of at most 28 characters are whole`, async () => {
      await test.renew({ width });
      await test.send({ type: 'state', state: readyState }, { type: 'run', run: null });
      await box().pressSequentially('/');
      const rows: ComposerCompletion[] = [
        ...slashIntents.map(
          ({ slash: { name, description } }): ComposerCompletion => ({
            slash: { word: `/${name}`, kind: 'act' },
            label: `/${name}`,
            detail: description,
          }),
        ),
        { slash: { word: '/compact', kind: 'act' }, label: '/compact', detail: 'WwMm of twenty-eight letters' },
      ];
      await test.send({ type: 'completions', asked: (await posted('complete')).at(-1)!.asked, rows });
      const wide = (await list().boundingBox())!;
      assert.ok(wide.width >= width - 12 && wide.x >= 0 && wide.x + wide.width <= width, JSON.stringify(wide));
      assert.deepEqual(
        slashIntents.filter(({ slash }) => slash.description.length > 28),
        [],
      );
      const cut = await list()
        .locator('.completion-detail')
        .evaluateAll((all) =>
          (all as unknown as { scrollWidth: number; clientWidth: number; innerText: string }[])
            .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
            .map(({ innerText }) => innerText),
        );
      if (width >= 420) assert.deepEqual(cut, []);
      await test.page.screenshot({ path: `test/out/screenshots/completion-${width}.png` });
    });
});
