import assert from 'node:assert/strict';
import { toToolResult } from '../../src/protocol/content/tools.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import { splitRunSnapshot } from '../../src/protocol/panel/runParts.ts';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import { eventually } from '../support/eventually.ts';
import { openBrowser, type TestBrowser, type TestPage } from './browser.ts';
import { eventsOf, readyState, runOf } from './conversation.ts';

/** Questions numbered from 0, each with a read and an answer of some lines. */
function conversation(questions: number): RunEventBody[] {
  const bodies: RunEventBody[] = [{ type: 'run-start', workflowId: 'chat', agentId: 'default', model: 'qwen3-coder' }];
  for (let at = 0; at < questions; at++) {
    const call = { id: `read-${at}`, name: 'fs.read', arguments: { path: `src/part-${at}.ts` } };
    const data = {
      path: `src/part-${at}.ts`,
      lines: 1,
      content: at === 3 ? 'a heron stands here\n' : 'const a = 1;\n',
    };
    bodies.push(
      { type: 'message', message: { role: 'user', content: `Question ${at}` } },
      { type: 'message', message: { role: 'assistant', content: '', thinking: `Thought ${at}`, toolCalls: [call] } },
      { type: 'tool-start', toolCallId: call.id, name: call.name },
      { type: 'tool-end', toolCallId: call.id, name: call.name, ok: true, ms: 12 },
      {
        type: 'message',
        message: { role: 'tool', content: '', toolResults: [toToolResult(call.id, { ok: true, data })] },
      },
      {
        type: 'message',
        message: { role: 'assistant', content: `Answer ${at}\n\n${'- a line of it\n'.repeat(at % 7)}` },
      },
    );
  }
  return [...bodies, { type: 'phase', phase: 'WaitingUser' }];
}
const messagesOf = (question: number) => question * 4;

// Holds panel-draws-the-visible.
describe('A long conversation', () => {
  let browser: TestBrowser;
  let test: TestPage;
  const bodies = conversation(800);
  const run = runOf('run-1', bodies);

  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(async () => {
    await test.renew();
    await show();
  });
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const show = () => test.send({ type: 'state', state: readyState }, { type: 'run', run });
  const scroller = () => test.page.locator('.scroller');
  const message = (place: number) => test.page.locator(`[data-message="${place}"]`);
  const drawn = () => test.page.locator('article').count();
  const scrollTo = (part: number) =>
    scroller().evaluate((element, share) => {
      const box = element as unknown as { scrollTop: number; scrollHeight: number };
      box.scrollTop = box.scrollHeight * share;
    }, part);

  /** The first message in sight, and how far below the top of the view it begins. */
  const reading = () =>
    scroller().evaluate((element) => {
      type Box = {
        getBoundingClientRect(): { top: number; bottom: number };
        dataset: { message?: string };
        querySelectorAll(all: string): Box[];
      };
      const box = element as unknown as Box;
      const { top } = box.getBoundingClientRect();
      const first = [...box.querySelectorAll('article')].find((one) => one.getBoundingClientRect().bottom > top);
      return (
        first && { message: Number(first.dataset.message), below: Math.round(first.getBoundingClientRect().top - top) }
      );
    });

  const isRemembered = (place: number) =>
    eventually(`message ${place} is remembered`, () =>
      test.page.evaluate(
        (saved) =>
          (globalThis as unknown as { sessionStorage: { getItem(key: string): string } }).sessionStorage
            .getItem('state')
            .includes(saved),
        `"place":${place},`,
      ),
    );

  /** When everything near the view is drawn. */
  async function still() {
    let before: unknown;
    await eventually('the page is still', async () => {
      await test.send();
      const now = await reading();
      const same = now !== undefined && JSON.stringify(now) === JSON.stringify(before);
      before = now;
      return same;
    });
    return (await reading())!;
  }

  const parted = (): HostMessage[] => {
    const { parts, rest } = splitRunSnapshot(run);
    const sent = parts.map((part): HostMessage => ({ type: 'run-part', ...part }));
    return [...sent, { type: 'run', run: rest, before: run.messages.length }];
  };
  const end = (): HostMessage => {
    const last = runOf('run-1', bodies.slice(-241)); // 40 questions
    return { type: 'run', run: { ...last, seq: run.seq }, part: 'end' };
  };

  it('shows its last messages first, and then all of it without a move', async () => {
    await test.renew();
    await test.send({ type: 'state', state: readyState }, end());
    await test.page.getByText('Answer 799').waitFor();
    await test.page.getByText('Loading earlier messages…').waitFor({ state: 'attached' });
    assert.equal(await test.page.locator('[data-act]').count(), 0, 'what has another place in the whole run');
    await scroller().hover();
    await test.page.mouse.wheel(0, -700);
    const before = await still();
    const [first, ...others] = parted();
    await test.send(first!);
    assert.deepEqual(await still(), before, 'nothing of it changes what is shown');
    await test.send({
      type: 'events',
      events: eventsOf('run-1', [{ type: 'message', message: { role: 'user', content: 'Meanwhile' } }], run.seq),
    });
    await test.send(...others);
    const after = await still();
    assert.equal(after.message, before.message + run.messages.length - 160);
    assert.ok(Math.abs(after.below - before.below) <= 2, `${after.below} for ${before.below}`);
    await scrollTo(1);
    await test.page.getByText('Meanwhile').waitFor();
    assert.ok((await test.page.locator('[data-act]').count()) > 0);
    assert.equal(await test.page.getByText('Loading earlier messages…').count(), 0);
    await scrollTo(0);
    await message(0).waitFor();
  });

  it('that is here already stays whole when its end is told, and when a part of it is missing', async () => {
    const [first, , ...others] = parted();
    await test.send(end(), first!, ...others);
    await scrollTo(0);
    await message(0).waitFor();
  });

  it('draws what is near the eyes alone, from its end', async () => {
    await test.page.getByText('Answer 799').waitFor();
    assert.ok((await drawn()) < 200, `${await drawn()} drawn`);
    await scrollTo(0);
    await message(0).waitFor();
    assert.ok((await drawn()) < 200, `${await drawn()} drawn`);
  });

  it('holds the reading position while more comes, and over a reload', async () => {
    await scrollTo(0.4);
    const at = await still();
    assert.ok(at.message > 500 && at.message < 2500, `${at.message}`);
    await test.send({
      type: 'events',
      events: eventsOf('run-1', [{ type: 'chunk', content: 'more of it\n\n'.repeat(50) }], run.seq - 1),
    });
    assert.deepEqual(await still(), at);

    await isRemembered(at.message);
    await test.page.reload();
    await test.page.waitForFunction(() => (globalThis as unknown as { ready: boolean }).ready);
    await show();
    const again = await still();
    assert.equal(again.message, at.message);
    assert.ok(Math.abs(again.below - at.below) <= 2, `${again.below} for ${at.below}`);
  });

  /** A high one, that comes with each question. */
  const picture = {
    mediaType: 'image/svg+xml',
    data: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="150"/>').toString('base64'),
  };
  const withPictures = bodies.map((body) =>
    body.type === 'message' && body.message.role === 'user'
      ? { ...body, message: { ...body.message, attachments: [picture] } }
      : body,
  );
  const pictures = () => test.page.locator('.user img');
  const areLoaded = () =>
    eventually('all pictures have come', async () => {
      const heights = await pictures().evaluateAll((all) =>
        all.map((one) => (one as unknown as { height: number }).height),
      );
      return heights.length > 0 && heights.every((height) => height > 100);
    });

  it('holds the reading position while pictures in messages above finish loading', async () => {
    const shown = runOf('run-1', withPictures);
    await test.send({ type: 'run', run: shown });
    await scrollTo(0.5);
    await areLoaded();
    const at = await still();
    await isRemembered(at.message);
    await test.page.reload();
    await test.page.waitForFunction(() => (globalThis as unknown as { ready: boolean }).ready);
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: shown });
    await areLoaded();
    const again = await still();
    assert.equal(again.message, at.message);
    assert.ok(Math.abs(again.below - at.below) <= 2, `${again.below} for ${at.below}`);
  });

  it('stays at the end when the picture of the last message has come', async () => {
    await test.send({ type: 'run', run: runOf('pictures', withPictures.slice(0, 62)) });
    await areLoaded();
    await eventually('the end is in sight', () =>
      scroller().evaluate((element) => {
        const { scrollHeight, scrollTop, clientHeight } = element as unknown as Record<string, number>;
        return scrollHeight! - scrollTop! - clientHeight! < 2;
      }),
    );
  });

  it('holds the reading position through pages of other heights', async () => {
    await scrollTo(0.5);
    const { message: first } = await still();
    await scroller().hover();
    for (let turn = 0; turn < 8; turn++) {
      const before = await still();
      await test.page.mouse.wheel(0, -100);
      const after = await still();
      assert.ok(
        after.message <= before.message && before.message - after.message < 8,
        `${before.message} → ${after.message}`,
      );
    }
    assert.ok(first - (await reading())!.message < 40);
  });

  it('keeps what is unfolded, opened and selected', async () => {
    await scrollTo(0.9);
    const question = Math.ceil((await still()).message / 4) + 1;
    const thought = message(messagesOf(question) + 1);
    await thought.locator('summary').click();
    await thought.getByText(`Thought ${question}`).waitFor();
    await test.page.locator('[data-testid="composer"] textarea').focus(); // a page with the focus stays drawn
    await scrollTo(0.2);
    await eventually('it is no more drawn', async () => (await thought.count()) === 0);
    await scrollTo(0.9);
    await thought.getByText(`Thought ${question}`).waitFor();

    const answer = message(messagesOf(question) + 3);
    await answer.getByText(`Answer ${question}`).selectText();
    await scrollTo(0.2);
    await still();
    const selected = await test.page.evaluate(() =>
      String((globalThis as unknown as { getSelection(): unknown }).getSelection()),
    );
    assert.match(selected, new RegExp(`Answer ${question}`));
  });

  it('finds words anywhere in it, and shows where', async () => {
    await test.page.keyboard.press('Control+f');
    const words = test.page.getByTestId('find');
    await words.fill('question 12');
    await test.page.getByText('11 of 11').waitFor(); // 12, 120 to 129
    await message(messagesOf(129)).waitFor();
    await words.press('Enter');
    await message(messagesOf(12)).waitFor();
    assert.equal((await still()).message, messagesOf(12) - 1); // the end of what was before is in sight, too

    await words.fill('HERON');
    await test.page.getByText('1 of 1').waitFor();
    await test.page.getByText('a heron stands here').waitFor(); // in what a tool told: its card is open
    const marked = await test.page.evaluate(() => {
      const { highlights } = (globalThis as unknown as { CSS: { highlights: Map<string, Iterable<unknown>> } }).CSS;
      return [...highlights.get('found')!].map(String);
    });
    assert.deepEqual(marked, ['heron']);

    await words.fill('no such words');
    await test.page.getByText('None').waitFor();
    await words.press('Escape');
    await words.waitFor({ state: 'detached' });
    await test.page.keyboard.type('on');
    assert.equal(await test.page.locator('[data-testid="composer"] textarea').inputValue(), 'on');
  });

  it('looks on in what comes meanwhile', async () => {
    await test.page.keyboard.press('Control+f');
    await test.page.getByTestId('find').fill('Answer 799');
    await test.page.getByText('1 of 1').waitFor();
    const said: RunEventBody = { type: 'message', message: { role: 'user', content: 'Once more: answer 799' } };
    await test.send({ type: 'events', events: eventsOf('run-1', [said], run.seq) });
    await test.page.getByText('1 of 2').waitFor();
  });

  it('follows the end again when what was looked for is there', async () => {
    await test.page.getByText('Answer 799').waitFor();
    await test.page.keyboard.press('Control+f');
    await test.page.getByTestId('find').fill('Answer 799');
    await test.page.getByText('1 of 1').waitFor();
    await still();
    assert.equal(await test.page.getByTestId('latest').count(), 0);
    const more: RunEventBody = { type: 'chunk', content: `${'more of it\n\n'.repeat(50)}The very end.` };
    await test.send({ type: 'events', events: eventsOf('run-1', [more], run.seq - 1) });
    await still();
    const box = (await test.page.getByText('The very end.').boundingBox())!;
    assert.ok(box.y < 800, `the end is at ${box.y}`);
  });

  it('is walked by Alt and an arrow message by message, also where nothing is drawn yet', async () => {
    await test.page.getByText('Answer 799').waitFor();
    await test.page.locator('[data-testid="composer"] textarea').focus();
    const here = () =>
      test.page.locator('article:focus').evaluate((one) => {
        const { dataset } = one as unknown as { dataset: { message: string } };
        return Number(dataset.message);
      });
    const walked: number[] = [];
    for (let step = 0; step < 90; step++) {
      await test.page.keyboard.press('Alt+ArrowUp');
      await eventually('it is at another message', async () => (await here()) !== walked.at(-1));
      walked.push(await here());
    }
    const all = Array.from({ length: 800 }, (_, at) => [0, 1, 3].map((part) => messagesOf(at) + part)).flat();
    assert.deepEqual(walked, all.reverse().slice(0, 90));
    await test.page.keyboard.press('Alt+ArrowDown');
    assert.equal(await here(), walked.at(-2));
  });

  it('is walked with Shift from change or failure to the next, however far that is', async () => {
    const call = (id: string) => ({ id, name: 'fs.edit', arguments: { path: `${id}.ts` } });
    const changes = [{ path: 'a.ts', before: 'a'.repeat(64), after: 'b'.repeat(64) }];
    const early: RunEventBody[] = [
      { type: 'message', message: { role: 'assistant', content: 'Mine.', toolCalls: [call('one'), call('two')] } },
      { type: 'tool-end', toolCallId: 'one', name: 'fs.edit', ok: false, ms: 1, code: 'TOOL_EXEC_FAILED' },
      { type: 'tool-end', toolCallId: 'two', name: 'fs.edit', ok: true, ms: 1, changes },
    ];
    const long = [...bodies.slice(0, 60), ...early, ...bodies.slice(60)];
    await test.send({ type: 'run', run: runOf('run-2', long) });
    await test.page.getByText('Answer 799').waitFor();
    const head = (id: string) => test.page.locator(`[data-call="${id}"] :focus`);
    await test.page.locator('[data-testid="composer"] textarea').focus();
    await test.page.keyboard.press('Alt+Shift+ArrowUp');
    await head('two').waitFor();
    await test.page.keyboard.press('Alt+Shift+ArrowUp');
    await head('one').waitFor();
    await test.page.keyboard.press('Alt+Shift+ArrowUp');
    await test.page.keyboard.press('Alt+Shift+ArrowDown');
    await head('two').waitFor();
  });

  it('keeps the arrow where it is, and the keys on it, while one goes from branch to branch, however much longer one is', async () => {
    const at = messagesOf(400);
    const ways = ['run-1', 'run-2', 'run-3'];
    const branch = (nth: number) => ({
      type: 'branches' as const,
      runId: ways[nth]!,
      points: [
        { at, nth: nth + 1, of: 3, ...(nth && { previous: ways[nth - 1]! }), ...(nth < 2 && { next: ways[nth + 1]! }) },
      ],
    });
    const group = (nth: number) => test.page.getByRole('group', { name: `Branch ${nth + 1} of 3` });
    const arrow = (nth: number, name: string) => group(nth).getByRole('button', { name });
    const shown = (nth: number) => ({
      type: 'run' as const,
      run: runOf(ways[nth]!, bodies.slice(0, 1 + 6 * [700, 450, 600][nth]!)),
    });
    await test.send(branch(0));
    await scrollTo(0.5);
    await still();
    await group(0).scrollIntoViewIfNeeded();
    await still();
    await test.posted();
    const { y } = (await arrow(0, 'Show the next branch').boundingBox())!;
    const isThere = async (nth: number, name: string) => {
      await eventually(`the keys are on “${name}” of branch ${nth + 1}`, () =>
        arrow(nth, name).evaluate((one) => one.matches(':focus-within, :focus')),
      );
      const now = (await arrow(nth, name).boundingBox())!.y;
      assert.ok(Math.abs(now - y) <= 1, `${now} for ${y}`);
    };

    await arrow(0, 'Show the next branch').click();
    await test.send(branch(1), shown(1));
    await isThere(1, 'Show the next branch');
    await test.page.keyboard.press('Enter');
    await test.send(shown(2));
    await test.send(branch(2));
    await isThere(2, 'Show the previous branch'); // there is none after it
    await test.page.keyboard.press('Enter');
    await test.send(shown(1), branch(1));
    await isThere(1, 'Show the previous branch');
    const more = { type: 'message' as const, message: { role: 'user' as const, content: 'Go on.' } };
    await test.send({ type: 'events', events: eventsOf('run-2', [more], shown(1).run.seq) });
    await scrollTo(0);
    await test.send(branch(1));
    assert.equal((await still()).message, 0); // what happens in it has taken the hold of the arrow away
    const opened = (await test.posted()).flatMap((one) => (one.type === 'open-run' ? [one.runId] : []));
    assert.deepEqual(opened, ['run-2', 'run-3', 'run-2']);

    await arrow(1, 'Show the previous branch').click();
    await test.send(shown(2), branch(2)); // somebody chose another one meanwhile: it is shown from its end
    await test.page.getByText(/^Answer 599/).waitFor();
    assert.equal((await reading())!.message > at, true);
  });
});
