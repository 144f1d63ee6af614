import assert from 'node:assert/strict';
import type { ViewMessage } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { eventually } from '../../support/eventually.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, eventsOf, readyState, runOf } from '../conversation.ts';

const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser' };
const works: RunEventBody = { type: 'phase', phase: 'Running' };

describe('The buttons beside the message box', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const show = (bodies: RunEventBody[] = begin) =>
    test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', bodies) });
  const next = (from: number, ...bodies: RunEventBody[]) =>
    test.send({ type: 'events', events: eventsOf('run-1', bodies, from) });
  const find = (id: string) => test.page.getByTestId(id);
  const box = () => test.page.locator('[data-testid="composer"] textarea');
  const write = async (text: string) => {
    await box().fill(text);
    await test.send();
  };
  const posted = async (): Promise<ViewMessage[]> =>
    (await test.posted()).filter(({ type }) => type === 'send' || type === 'stop' || type === 'pause');
  const buttons = () =>
    test.page
      .locator('.composer-acts vscode-button:not([data-testid="attach"])')
      .evaluateAll((all) => all.map((one) => one.dataset.testid));
  const settled = () =>
    eventually('the buttons take clicks', async () => (await test.page.locator('.settling').count()) === 0);
  const menu = async () => {
    await settled();
    await find('send-menu').click();
    return (await find('send-menu-list').innerText()).split('\n').filter(Boolean);
  };

  it('are Send; at work Stop as long as there is nothing to send, then Send, with Stop beside it', async () => {
    await show([...begin, rests]);
    assert.deepEqual(await buttons(), ['send']);
    await next(begin.length + 1, works);
    assert.deepEqual(await buttons(), ['stop', 'send-menu']);
    assert.equal(await box().getAttribute('placeholder'), 'Enter: next step · Alt+Enter: when finished');
    await write('And the README.');
    assert.deepEqual(await buttons(), ['stop', 'send', 'send-menu']);
    await write('   ');
    assert.deepEqual(await buttons(), ['stop', 'send-menu'], 'blanks are nothing to send');
    await write('And the README.');
    await find('send').click();
    await test.send();
    assert.deepEqual(await buttons(), ['stop', 'send-menu']);
    await find('stop').click();
    await next(begin.length + 2, rests);
    assert.deepEqual(await buttons(), ['send']);
    assert.deepEqual(await posted(), [{ type: 'send', text: 'And the README.' }, { type: 'stop' }]);
  });

  const ways = [
    ['send-turn', 'Send at Next Step', [{ type: 'send', text: 'Also this.', when: 'turn' }]],
    ['send-done', 'Send When Finished', [{ type: 'send', text: 'Also this.', when: 'done' }]],
    ['send-now', 'Stop and Send', [{ type: 'send', text: 'Also this.', when: 'now' }]],
    ['pause', 'Pause After This Step', [{ type: 'pause' }]],
  ] as const;
  for (const [id, label, expected] of ways)
    it(`have a menu: ${label}`, async () => {
      await show();
      await write('Also this.');
      const labels = await menu();
      assert.deepEqual(labels, [
        'Send at Next Step', 'Enter', 'Send When Finished', 'Alt+Enter', 'Stop and Send', 'Pause After This Step',
      ]); // biome-ignore format: a row
      assert.match(await find(id).innerText(), new RegExp(`^${label}`));
      await find(id).click();
      assert.deepEqual(await posted(), expected);
      await find('send-menu-list').waitFor({ state: 'detached' });
      assert.equal(await box().evaluate((element) => element.matches(':focus')), true, 'the next key is a letter');
    });

  it('have a menu that the keyboard walks and closes; with nothing to send it only pauses', async () => {
    await show();
    assert.deepEqual(await menu(), ['Pause After This Step']);
    await test.page.keyboard.press('Escape');
    await find('send-menu-list').waitFor({ state: 'detached' });
    await write('Also this.');
    await settled();
    await find('send-menu').focus();
    await test.page.keyboard.press('Enter');
    const focused = () => test.page.locator('.menu-item:focus').getAttribute('data-testid');
    const walked: (string | null)[] = [await focused()];
    for (const key of ['ArrowDown', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'End', 'Home']) {
      await test.page.keyboard.press(key);
      walked.push(await focused());
    }
    assert.deepEqual(walked, [
      'send-turn', 'send-done', 'send-turn', 'pause', 'send-turn', 'pause', 'send-turn',
    ]); // biome-ignore format: a row
    await test.page.keyboard.press('Escape');
    await find('send-menu-list').waitFor({ state: 'detached' });
    assert.deepEqual(await posted(), []);
    assert.equal(await box().inputValue(), 'Also this.');
  });

  it('answer a question of the model: nothing else can be sent then, and Stop is there', async () => {
    const questions = [{ question: 'Which one?', answers: [{ label: 'SQLite' }, { label: 'Postgres' }] }];
    const call = { id: 'q', name: 'ask.person', arguments: { questions } };
    await show([
      ...begin,
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call] } },
      { type: 'tool-start', toolCallId: 'q', name: 'ask.person' },
      { type: 'ask', toolCallId: 'q', questions },
    ]);
    assert.deepEqual(await buttons(), ['stop', 'send-menu']);
    await write('Neither');
    assert.deepEqual(await buttons(), ['stop', 'send', 'send-menu']);
    assert.equal(await find('send').getAttribute('title'), 'Answer (Enter)');
    assert.deepEqual(await menu(), ['Pause After This Step']);
  });

  /** The page's clock, in milliseconds. */
  const now = () => test.page.evaluate(() => performance.now());
  /** Clicks a button at a moment of that clock, however busy the machine is. */
  const clickAt = async (id: string, at: number) => {
    await find(id).evaluate((button, timeStamp) => {
      const click = new (globalThis as unknown as { MouseEvent: typeof Event }).MouseEvent('click', { bubbles: true });
      button.dispatchEvent(Object.defineProperty(click, 'timeStamp', { value: timeStamp }) as never);
    }, at);
    await test.send();
  };

  it('ignore clicks for 300 ms after a change: none that was meant for Send stops, none for Stop sends', async () => {
    await show([...begin, rests]);
    await settled();
    let before = await now();
    await next(begin.length + 1, works); // in place of Send stands Stop
    await clickAt('stop', before + 299);
    assert.deepEqual(await posted(), []);
    await clickAt('stop', (await now()) + 300);
    assert.deepEqual(await posted(), [{ type: 'stop' }]);
    before = await now();
    await write('Words'); // in place of Stop stands Send
    await clickAt('send', before + 299);
    assert.deepEqual(await posted(), [{ type: 'stop' }]);
    await clickAt('send', (await now()) + 300);
    assert.deepEqual(await posted(), [{ type: 'stop' }, { type: 'send', text: 'Words' }]);
  });

  it('take no press that began on the button before, however long it lasts', async () => {
    await show();
    await settled();
    const { x, y, width, height } = (await find('stop').boundingBox())!;
    await test.page.mouse.move(x + width / 2, y + height / 2);
    await test.page.mouse.down();
    await write('Words');
    await settled();
    await test.page.mouse.up();
    assert.deepEqual(await posted(), []);
    assert.equal(await box().inputValue(), 'Words');
  });

  it('take a click on Send at once where nothing changed but that it can be sent', async () => {
    await show([...begin, rests]);
    await settled();
    await write('At once.');
    await find('send').dispatchEvent('click');
    assert.deepEqual(await posted(), [{ type: 'send', text: 'At once.' }]);
  });

  it('says how files are dropped while it is empty, has the keys and is wide enough', async () => {
    await test.renew({ width: 700 });
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: null });
    const hint = test.page.getByText('Hold Shift to drop files');
    await box().focus();
    assert.equal(await hint.isVisible(), true);
    await box().fill('x');
    await test.send();
    assert.equal(await hint.isVisible(), false);
    await box().fill('');
    await test.page.setViewportSize({ width: 300, height: 600 });
    await test.send();
    assert.equal(await hint.isVisible(), false);
  });
});
