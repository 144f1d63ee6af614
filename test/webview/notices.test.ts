import assert from 'node:assert/strict';
import type { HostMessage, Notice } from '../../src/protocol/panel/panelMessages.ts';
import { openBrowser, type TestBrowser, type TestPage } from './browser.ts';
import { begin, concludes, eventsOf, readyState, runOf } from './conversation.ts';

/** Milliseconds that the panel shows a notice which only informs. */
const shownMs = 6000;

describe('A notice', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew({ width: 420, theme: 'dark' }));
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const notice = () => test.page.getByTestId('notice');
  const says = (level: Notice['level'], text: string, more: Partial<Notice> = {}): HostMessage => ({
    type: 'notice',
    notice: { level, text, ...more },
  });
  const show = () =>
    test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', [...begin, ...concludes]) });
  /** The times that the page measures for notices end when the test says so. */
  const holdTime = () =>
    test.page.evaluate(`{
      const [begins, ends] = [setTimeout, clearTimeout];
      globalThis.held = new Map();
      globalThis.setTimeout = (act, ms, ...rest) => {
        const timer = begins(ms === ${shownMs} ? () => {} : act, ms === ${shownMs} ? 0 : ms, ...rest);
        if (ms === ${shownMs}) held.set(timer, act);
        return timer;
      };
      globalThis.clearTimeout = (timer) => {
        held.delete(timer);
        ends(timer);
      };
    }`);
  /** Ends the times that run; returns how many did. */
  const endTime = async () => {
    const ended = await test.page.evaluate(`{
      const acts = [...held.values()];
      held.clear();
      for (const act of acts) act();
      acts.length;
    }`);
    await test.send();
    return ended;
  };

  it('that only informs leaves after its time; one that warns, or has a button, stays', async () => {
    await show();
    await holdTime();
    await test.send(says('info', 'There is nothing to undo.'));
    assert.equal(await notice().count(), 1);
    assert.equal(await endTime(), 1);
    assert.equal(await notice().count(), 0);
    const staying = [
      says('warning', 'It was cut.'),
      says('error', 'It failed.'),
      says('info', '“Old” was deleted.', { offer: { id: 1, buttons: ['Undo'] } }),
      says('info', 'It is ready.', { action: { label: 'Open Settings', action: 'open-settings' } }),
    ];
    for (const one of staying) {
      await test.send(one);
      assert.equal(await endTime(), 0);
      assert.equal(await notice().count(), 1);
    }
  });

  it('stays as long as the pointer or the focus is on it, and has its whole time afterwards', async () => {
    await show();
    await holdTime();
    await test.send(says('info', 'Exported.'));
    await notice().hover();
    assert.equal(await endTime(), 0);
    await test.page.getByRole('button', { name: 'Dismiss' }).focus();
    await test.page.mouse.move(5, 5);
    assert.equal(await endTime(), 0, 'the focus is on it');
    await test.page.locator('[data-testid="composer"] textarea').focus();
    assert.equal(await notice().count(), 1);
    assert.equal(await endTime(), 1);
    assert.equal(await notice().count(), 0);
  });

  it('has its own time: that of the one before it does not end it', async () => {
    await show();
    await holdTime();
    await test.send(says('info', 'One.'));
    await test.send(says('info', 'Two.'));
    assert.equal(await endTime(), 1);
    await test.send(says('info', 'Three.'));
    await test.send(says('warning', 'Four.'));
    assert.equal(await endTime(), 0);
    assert.equal(await notice().innerText(), 'Four.');
  });

  it('is announced by a region that is there before it', async () => {
    await show();
    const regions = test.page.locator('footer > [role="status"], footer > [role="alert"]');
    assert.deepEqual(await regions.allInnerTexts(), ['', '']);
    await test.send(says('info', 'Run *Towpath: Doctor* to see more.'));
    assert.deepEqual(await regions.allInnerTexts(), ['Run Towpath: Doctor to see more.', '']);
    await test.send(says('error', 'It failed.'));
    assert.deepEqual(await regions.allInnerTexts(), ['', 'It failed.']);
  });

  for (const theme of ['dark', 'light', 'high-contrast', 'high-contrast-light'] as const)
    it(`has a border and an icon, and no fill (${theme})`, async () => {
      await test.renew({ theme, width: 300 });
      await show();
      for (const level of ['info', 'warning', 'error'] as const) {
        await test.send(says(level, 'The file could not be read. Check its permissions.'));
        const style = await notice().evaluate((element: unknown) => {
          const { getComputedStyle } = globalThis as unknown as {
            getComputedStyle(element: unknown): Record<string, string>;
          };
          const { backgroundColor, borderTopColor, borderTopStyle } = getComputedStyle(element);
          return { backgroundColor, borderTopColor, borderTopStyle };
        });
        assert.equal(style.backgroundColor, 'rgba(0, 0, 0, 0)');
        assert.equal(style.borderTopStyle, 'solid');
        assert.notEqual(style.borderTopColor, 'rgba(0, 0, 0, 0)');
        assert.equal(await notice().locator('> svg.icon').count(), 1);
        await test.page.screenshot({ path: `test/out/screenshots/notice-${theme}-${level}.png` });
      }
    });

  it('has its buttons beside a short sentence and below a long one', async () => {
    const rows: [text: string, width: number, below: boolean][] = [
      ['Deleted.', 420, false],
      ['registry.ollama.ai/library/scripted answers: first word after 0.1 s, done after 0.2 s, 17 tokens.', 420, true],
      ['The key of this provider was rejected.', 900, false],
      ['The key of this provider was rejected.', 300, true],
    ];
    for (const [text, width, below] of rows) {
      await test.renew({ width });
      await show();
      await test.send(says('warning', text, { offer: { id: 1, buttons: ['Set API Key…', 'Set Secret…'] } }));
      const words = (await notice().locator('.notice-text').boundingBox())!;
      const buttons = (await notice().locator('.notice-ways').boundingBox())!;
      assert.equal(buttons.y >= words.y + words.height, below, `“${text}” at ${width}`);
      if (below) {
        const whole = (await notice().boundingBox())!;
        assert.ok(words.width >= whole.width - 70, `${words.width} of ${whole.width}`);
      }
    }
  });

  it('the end of a run has its buttons below a long sentence, and the system’s own text in its details', async () => {
    await test.renew({ width: 420 });
    const error = {
      code: 'LLM_HTTP_ERROR',
      reason: 'unreachable' as const,
      message: 'Somewhere (models.example) cannot be reached: the host name was not found. Check the address.',
      details: { reason: 'ENOTFOUND', text: 'getaddrinfo ENOTFOUND models.example' },
    };
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', begin) });
    await test.send({
      type: 'events',
      events: eventsOf('run-1', [{ type: 'phase', phase: 'Failed', error }], begin.length),
    });
    const phase = test.page.getByTestId('phase');
    const words = (await phase.locator('.phase-text').boundingBox())!;
    const buttons = (await phase.locator('.phase-ways').boundingBox())!;
    assert.ok(buttons.y >= words.y + words.height);
    assert.doesNotMatch(await phase.locator('.phase-text').innerText(), /ENOTFOUND/);
    await phase.locator('summary').click();
    assert.match(await phase.innerText(), /Details\s+getaddrinfo ENOTFOUND models\.example/);
    await test.page.screenshot({ path: 'test/out/screenshots/phase-details.png' });
  });
});
