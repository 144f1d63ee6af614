import assert from 'node:assert/strict';
import { openBrowser, type TestBrowser, type TestPage } from './browser.ts';
import { begin, reads, readyState, runOf } from './conversation.ts';
import { showState, states } from './states.ts';

const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What lies over other content: the words below it must not be seen through it. */
describe('Surfaces over other content', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());

  const show = (name: string) => showState(test, states.find((state) => state.name === name)!);
  const surfaces: [selector: string, bring: () => Promise<unknown>][] = [
    ['.completion', () => show('mentions')],
    ['.history', () => show('runs')],
    ['.history-acts >> nth=0', () => show('runs')],
    ['.meter-popover', () => show('meter')],
    [
      '.user > .message-acts',
      async () => {
        await test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', [...begin, ...reads]) });
        await test.page.locator('[data-role="user"]').hover();
      },
    ],
    [
      '.menu',
      async () => {
        await test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', begin) });
        await test.page.getByTestId('send-menu').click();
      },
    ],
    ['.latest >> button', () => show('cards, the first')],
    [
      '.picked button',
      async () => {
        await test.send({ type: 'state', state: readyState }, { type: 'run', run: null });
        await test.page.locator('[data-testid="composer"] textarea').evaluate((element, data) => {
          const page = element.ownerDocument.defaultView!;
          const bytes = page.Uint8Array.from(page.atob(data), (letter: string) => letter.charCodeAt(0));
          const clipboardData = new page.DataTransfer();
          clipboardData.items.add(new page.File([bytes], 'one.png', { type: 'image/png' }));
          element.dispatchEvent(new page.ClipboardEvent('paste', { clipboardData, bubbles: true, composed: true }));
        }, image);
      },
    ],
  ]; // biome-ignore format: a table

  const few = ['foreground', 'editor-background', 'editor-foreground', 'font-family', 'font-size'];
  for (const theme of ['dark', 'high-contrast', 'with few colors'] as const)
    for (const [selector, bring] of surfaces)
      it(`are opaque: ${selector}, ${theme}`, async () => {
        await test.renew({ theme: theme === 'with few colors' ? 'dark' : theme, width: 300, height: 420 });
        if (theme === 'with few colors')
          await test.page.evaluate((left) => {
            const { style } = (globalThis as unknown as { document: { documentElement: { style: { length: number; item(at: number): string; removeProperty(name: string): void } } } }).document.documentElement;
            for (let at = style.length - 1; at >= 0; at--)
              if (!left.some((name) => style.item(at) === `--vscode-${name}`)) style.removeProperty(style.item(at));
          }, few); // biome-ignore format: in the page
        await bring();
        const surface = test.page.locator(selector);
        await surface.waitFor();
        const { color, image } = await surface.evaluate((element) => {
          const { backgroundColor, backgroundImage } = element.ownerDocument.defaultView!.getComputedStyle(element);
          return { color: backgroundColor, image: backgroundImage };
        });
        assert.match(color, /^rgb\(/, `its background is ${color} ${image}`);
      });
});
