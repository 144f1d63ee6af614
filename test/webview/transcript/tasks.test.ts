import assert from 'node:assert/strict';
import { type ViewMessage, viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { germanWords, openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { eventsOf, readyState, runOf } from '../conversation.ts';
import {
  givesTasks,
  parserCall,
  taskAsks,
  taskBegins,
  taskHasRead,
  taskReads,
  taskReplies,
  taskResult,
  taskSays,
} from '../tasks.ts';

describe('A task of a run', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const one: RunEventBody[] = givesTasks(['t1', 'Review the parser']);
  const two: RunEventBody[] = givesTasks(['t1', 'Review the parser'], ['t2', 'Review the printer']);
  /** Shows a run of these events; `live`: as many of the last come one by one. */
  const show = async (bodies: RunEventBody[], { live = 0, page = test } = {}) => {
    const events = eventsOf('run-1', bodies);
    await page.send(
      { type: 'state', state: readyState },
      { type: 'run', run: runOf('run-1', bodies.slice(0, bodies.length - live)) },
    );
    if (live > 0) await page.send({ type: 'events', events: events.slice(-live) });
  };
  const card = (task = 't1') => test.page.locator(`.card[data-call="${task}"]`);
  const line = async (task = 't1') =>
    (await card(task).locator('.card-line').first().innerText()).replace(/\s+/g, ' ').trim();
  const status = (task = 't1') => card(task).getByTestId('task-status').innerText();
  const plain = (text: string) => text.replace(/\s+/g, ' ').trim();
  const buttons = async (task = 't1') => card(task).locator('.task-acts vscode-button').allInnerTexts();
  const posted = async () => (await test.posted()).filter(({ type }) => type !== 'ready' && type !== 'here');
  const open = async () => {
    await card().getByTestId('open-task').click();
    await test.send();
  };
  const end = (status: 'done' | 'failed' | 'stopped', more: object = {}): RunEventBody =>
    ({ type: 'task-end', task: 't1', status, ...more }) as RunEventBody; // biome-ignore format: short

  describe('on its card', () => {
    it('says what it does, its step, its tokens and its cost', async () => {
      await show([...one, ...taskBegins('t1'), ...taskHasRead('t1'), ...taskReads('t1', 'again')]);
      assert.equal(await line(), 'reviewer: Review the parser');
      assert.equal(plain(await status()), 'Reading src/parse.ts · step 2 of 20 · 12.0k tokens · $0.02');
      assert.deepEqual(await buttons(), ['Stop', 'Open']);
      assert.equal(
        await card().getByTestId('stop-task').getAttribute('aria-label'),
        'Stop reviewer: Review the parser',
      );
    });

    it('follows the events of the task', async () => {
      const all = [...one, ...taskBegins('t1'), ...taskHasRead('t1')];
      await show(all, { live: 2 });
      assert.equal(plain(await status()), 'Read src/parse.ts · step 1 of 20 · 6.0k tokens · $0.01');
    });

    it('names no cost that is unknown', async () => {
      const [usage, reply] = taskReplies('t1', 'Hm.', [parserCall]);
      await show([...one, ...taskBegins('t1'), { ...usage!, usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } } as RunEventBody, reply!]); // biome-ignore format: short
      assert.equal(plain(await status()), 'Working · step 1 of 20 · 2 tokens');
    });

    it('is queued behind the running tasks', async () => {
      await show([...two, ...taskBegins('t1')]);
      assert.equal(await status('t2'), 'Queued: 1 task is running');
      assert.deepEqual(await buttons('t2'), ['Stop']);
      await show([...givesTasks(...(['t1', 't2', 't3', 't4', 't5'] as const).map((id): [string, string] => [id, 'Review'])),
        ...['t1', 't2', 't3', 't4'].flatMap(taskBegins)]); // biome-ignore format: short
      assert.equal(await status('t5'), 'Queued: 4 tasks are running');
    });

    it('waits for an approval, which is shown and answered there', async () => {
      await show([...one, ...taskBegins('t1'), ...taskAsks('t1')]);
      assert.equal(await status(), 'Waiting for approval');
      const asking = card('t1:test');
      assert.match(plain(await asking.innerText()), /Run npm test -- parser.*It runs this project’s code\./);
      await asking.getByTestId('show-question').click();
      await asking.getByTestId('deny').click();
      const key = { runId: 'run-1', toolCallId: 't1:test' };
      assert.deepEqual(await posted(), [
        { type: 'show-question', ...key },
        { type: 'deny', ...key },
      ]);
      assert.equal(await test.page.locator('.card[data-call="t1:test"]').count(), 1, 'once');
    });

    it('asks what a server wants to know, and nowhere else', async () => {
      const questions = [{ question: 'Which branch?', answers: [{ label: 'main' }, { label: 'next' }] }];
      const asks: RunEventBody = { type: 'ask', toolCallId: 't1:read', questions, by: 'tickets' };
      await show([...one, ...taskBegins('t1'), ...taskReads('t1'), asks]);
      assert.equal(await status(), 'Waiting for your answer');
      assert.equal(await test.page.locator('.ask').count(), 1);
    });

    for (const [what, event, says] of [
      ['done', end('done'), /^Done · 1 step · \$0\.01 · \d/],
      ['failed', end('failed', { error: { code: 'LLM_RATE_LIMITED', message: 'Rate limit of OpenAI' } }), /^Failed: Rate limit of OpenAI$/],
      ['stopped by the user', end('stopped'), /^Stopped by you$/],
      ['at its limit of steps', end('stopped', { limit: 'steps' }), /^Stopped: 20 steps$/],
      ['at its limit of time', end('stopped', { limit: 'time' }), /^Stopped: time limit$/],
    ] as const) // biome-ignore format: a table
      it(`says how it ended: ${what}`, async () => {
        await show([...one, ...taskBegins('t1'), ...taskHasRead('t1'), event]);
        assert.match(plain(await status()), says);
        assert.deepEqual(await buttons(), ['Open']);
      });

    it('is paused while its run rests', async () => {
      await show([...one, ...taskBegins('t1'), { type: 'phase', phase: 'WaitingUser' }]);
      assert.equal(await status(), 'Paused');
      assert.equal(plain(await test.page.getByTestId('phase').innerText()), 'Paused. Continue');
      assert.deepEqual(await buttons(), ['Open']);
    });

    it('continues the run that rests after a limit of the task', async () => {
      const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser' };
      await show([...one, ...taskBegins('t1'), end('stopped', { limit: 'steps' }), ...taskResult('t1', 'Nothing yet.'), rests]); // biome-ignore format: short
      assert.deepEqual(await buttons(), ['Continue', 'Open']);
      await card().getByTestId('continue-after-limit').click();
      assert.deepEqual(await posted(), [{ type: 'continue' }]);
    });

    it('undoes its changes with those of the reply', async () => {
      const write = (id: string): RunEventBody[] => [
        { type: 'tool-start', toolCallId: `t1:${id}`, name: 'fs.write' },
        { type: 'tool-end', toolCallId: `t1:${id}`, name: 'fs.write', ok: true, ms: 1, changes: [{ path: `${id}.ts`, before: null, after: 'a' }] },
      ]; // biome-ignore format: short
      const calls = ['a', 'b'].map((id) => ({ id, name: 'fs.write', arguments: { path: `${id}.ts` } }));
      await show([
        ...one,
        ...taskBegins('t1'),
        ...taskReplies('t1', '', calls),
        ...write('a'),
        ...write('b'),
        end('done'),
      ]);
      await test.page.getByTestId('undo-turn').click();
      assert.deepEqual(await posted(), [{ type: 'undo', runId: 'run-1', toolCallIds: ['t1:a', 't1:b'] }]);
    });
  });

  it('is counted while the run waits, and all are stopped at once', async () => {
    await show([...two, ...taskBegins('t1')]);
    const waiting = test.page.getByTestId('waiting-for-tasks');
    assert.equal(plain(await waiting.innerText()), 'Waiting for 2 tasks Stop All');
    await card().getByTestId('stop-task').click();
    await test.page.getByTestId('stop-tasks').click();
    const all = await posted();
    assert.deepEqual(all, [
      { type: 'stop-task', runId: 'run-1', task: 't1' },
      { type: 'stop-task', runId: 'run-1' },
    ]);
    for (const message of all) viewMessageSchema.parse(message);
    await show(one);
    assert.equal(plain(await waiting.innerText()), 'Waiting for 1 task');
  });

  describe('opened', () => {
    const working = [...one, ...taskBegins('t1'), ...taskHasRead('t1')];
    const page = () => test.page;
    const focused = () => page().evaluate<string>('document.activeElement.dataset.testid');

    it('shows its conversation in the place of that of the run, with what streams', async () => {
      await show([...working, { type: 'chunk', content: 'I found **one', task: 't1' }, { type: 'chunk', content: '** mistake', task: 't1' }], { live: 2 }); // biome-ignore format: short
      await open();
      assert.equal(await page().getByTestId('task-back').innerText(), 'Back to “Add a --json flag”');
      assert.equal(await page().locator('h1').innerText(), 'reviewer: Review the parser');
      const texts = await page().locator('.transcript article').allInnerTexts();
      assert.match(
        plain(texts.join(' | ')),
        /Review the parser: look for mistakes\..*I read the parser\..*Read src \/parse\.ts.*I found one mistake/,
      );
      assert.ok(!texts.join().includes('I give this to others'), 'the conversation of the run');
      assert.equal(await page().getByTestId('composer').isVisible(), false);
      assert.deepEqual(
        await page().locator('.transcript [data-act]:not([data-act="copy"])').count(),
        0,
        'no act on messages of the run',
      );
    });

    it('goes back by the button and by Escape, to the button that opened it', async () => {
      await show(working);
      for (const leave of [() => page().getByTestId('task-back').click(), () => page().keyboard.press('Escape')]) {
        await open();
        assert.equal(await page().getByTestId('task-back').count(), 1);
        await leave();
        await test.send();
        assert.match(await page().locator('.transcript').innerText(), /I give this to others/);
        assert.equal(await focused(), 'open-task');
        assert.equal(await page().getByTestId('composer').isVisible(), true);
      }
    });

    it('takes messages, and shows those that it has not received', async () => {
      await show(working);
      await page().locator('[data-testid="composer"] textarea').fill('For the run');
      await open();
      await page().keyboard.type('Look at the tests, too');
      await page().keyboard.press('Enter');
      const said: ViewMessage = { type: 'say-to-task', runId: 'run-1', task: 't1', text: 'Look at the tests, too' };
      assert.deepEqual(await posted(), [said]);
      viewMessageSchema.parse(said);
      const queued: RunEventBody = { type: 'queued', text: said.text, task: 't1' };
      const all = eventsOf('run-1', [...working, queued]);
      await test.send({ type: 'events', events: all.slice(-1) });
      const waiting = page().locator('[data-role="queued"]');
      assert.equal(plain(await waiting.innerText()), 'Look at the tests, too Sent at the next step');
      const delivery: RunEventBody = {
        type: 'task-message',
        task: 't1',
        message: { role: 'user', content: said.text },
        queued: all.length,
      };
      await test.send({ type: 'events', events: eventsOf('run-1', [...working, queued, delivery]).slice(-1) }); // biome-ignore format: short
      assert.equal(await waiting.count(), 0);
      assert.match(await page().locator('[data-role="user"]').last().innerText(), /Look at the tests, too/);
      await page().keyboard.press('Escape');
      assert.equal(await page().locator('[data-testid="composer"] textarea').inputValue(), 'For the run');
    });

    it('takes none after its end or while the run rests, and says why', async () => {
      await show([...working, end('done')]);
      await open();
      assert.match(await page().getByTestId('task-closed').innerText(), /^This task has ended\./);
      assert.equal(await page().locator('.task-box textarea').isDisabled(), true);
      await show([...working, { type: 'phase', phase: 'WaitingUser' }]);
      assert.match(await page().getByTestId('task-closed').innerText(), /^Continue the run to send messages/);
    });

    it('loses its box when it ends, and Escape still leads back', async () => {
      await show(working);
      await open();
      await test.send({ type: 'events', events: eventsOf('run-1', [...working, end('done')]).slice(-1) });
      assert.equal(await page().getByTestId('task-box').count(), 0);
      assert.equal(await focused(), 'task-back');
      await page().keyboard.press('Escape');
      await test.send();
      assert.equal(await focused(), 'open-task');
    });

    it('shows its approvals on their cards, and stops', async () => {
      await show([...one, ...taskBegins('t1'), ...taskAsks('t1')]);
      await open();
      await page().locator('.card[data-call="t1:test"]').getByTestId('deny').click();
      await page().getByTestId('stop-task').click();
      assert.deepEqual(await posted(), [
        { type: 'deny', runId: 'run-1', toolCallId: 't1:test' },
        { type: 'stop-task', runId: 'run-1', task: 't1' },
      ]);
    });

    it('opens its cards apart from those of the run at the same positions', async () => {
      await show(working);
      await card().locator('.card-toggle').first().click();
      await test.send();
      assert.equal(await page().locator('.card-details').count(), 1);
      await open();
      assert.equal(await page().locator('.card-details').count(), 0);
      await page().keyboard.press('Escape');
      await test.send();
      assert.equal(await page().locator('.card-details').count(), 1);
    });

    it('keeps the reading position of the run', async () => {
      const talk = (from: string) => Array.from({ length: 60 }, (_, at): RunEventBody => ({ type: 'message', message: { role: 'assistant', content: `${from} ${at}\n\nand more` } })); // biome-ignore format: short
      await show([...one, ...taskBegins('t1'), end('done'), ...taskResult('t1', 'x'), ...talk('After')]); // biome-ignore format: short
      const scroller = page().locator('.scroller');
      await scroller.evaluate((element) => element.scrollTo(0, 0));
      await test.send();
      await scroller.evaluate((element) => element.scrollTo(0, 20));
      await test.send();
      const top = () => card().evaluate((element) => Math.round(element.getBoundingClientRect().top));
      const before = await top();
      await open();
      await page().keyboard.press('Escape');
      await test.send();
      assert.ok(Math.abs((await top()) - before) <= 2, `${before} → ${await top()}`);
    });

    it('is searched alone, and Escape closes the search before the task', async () => {
      await show(working);
      await open();
      await page().keyboard.press('Control+f');
      await page().keyboard.type('parser');
      await test.send();
      assert.equal(await page().locator('.find-count').innerText(), '2 of 2');
      await page().getByTestId('find').fill('give this to others');
      await test.send();
      assert.equal(await page().locator('.find-count').innerText(), 'None');
      await page().keyboard.press('Escape');
      await test.send();
      assert.equal(await page().getByTestId('find').count(), 0);
      assert.equal(await focused(), 'task-box');
    });

    it('is left when another run is shown', async () => {
      await show(working);
      await open();
      await test.send({ type: 'run', run: runOf('run-2', one) });
      assert.equal(await page().getByTestId('task-back').count(), 0);
    });

    it('is read out when it answers and ends', async () => {
      await show(working);
      await open();
      await test.send({ type: 'events', events: eventsOf('run-1', [...working, taskSays('t1', { role: 'assistant', content: 'No **mistakes**.' }), end('done')]).slice(-2) }); // biome-ignore format: short
      assert.match(
        await page().locator('[role="log"]').innerText(),
        /No mistakes\.\s+reviewer: Review the parser · Done/,
      );
    });
  });

  it('is named when its approval is read out', async () => {
    const all = [...one, ...taskBegins('t1'), ...taskAsks('t1')];
    await show(all, { live: 1 });
    assert.equal(
      plain(await test.page.locator('[role="log"]').innerText()),
      'Waiting for approval: reviewer: Review the parser · Run npm test -- parser',
    );
  });

  it('shows hostile texts as texts', async () => {
    const hostile = '<img src=x onerror="violations.push(1)">\u202e<script>violations.push(2)</script>';
    const bodies: RunEventBody[] = [
      ...givesTasks(['t1', hostile]),
      taskSays('t1', { role: 'user', content: hostile }),
      ...taskReplies('t1', hostile, [{ id: 'x', name: hostile, arguments: { [hostile]: hostile } }]),
      { type: 'tool-start', toolCallId: 't1:x', name: hostile },
      { type: 'progress', text: hostile, task: 't1' },
    ];
    await show(bodies);
    assert.match(await line(), /^reviewer: <img src=x/);
    assert.match(await status(), /^<img src=x/);
    assert.equal(await test.page.locator('img, .transcript script').count(), 0);
    assert.ok(!(await test.page.locator('.transcript').innerText()).includes('\u202e'));
    await open();
    assert.equal(await test.page.locator('img, .transcript script').count(), 0);
    await test.page.keyboard.press('Escape');
    await show([
      ...bodies,
      end('failed', { error: { code: 'UNKNOWN', message: hostile } }),
      ...taskResult('t1', hostile),
    ]);
    await card().locator('.card-toggle').first().click();
    assert.equal(await test.page.locator('img, .transcript script').count(), 0);
    assert.match(await status(), /^Failed: <img/);
  });

  for (const width of [230, 300])
    it(`fits into ${width} pixels, also in German`, async () => {
      const german = await browser.open('webview/main.ts', { german: germanWords(), width });
      try {
        const all = [...two, ...taskBegins('t1'), ...taskAsks('t1')];
        await show(all, { page: german });
        assert.equal(await german.page.getByTestId('task-status').first().innerText(), 'Wartet auf Genehmigung');
        const wide = () =>
          german.page
            .locator('body, .scroller, .transcript, .card, .task-header, .task-footer')
            .evaluateAll((elements) => elements.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)); // biome-ignore format: short
        assert.deepEqual(await wide(), []);
        await german.page.getByTestId('open-task').click();
        await german.send();
        assert.match(await german.page.getByTestId('task-back').innerText(), /^Zurück zu „/);
        assert.deepEqual(await wide(), []);
        assert.deepEqual(await german.violations(), []);
      } finally {
        await german.close();
      }
    });
});
