import assert from 'node:assert/strict';
import { failedToolOutcome, toToolResult } from '../../../src/protocol/content/tools.ts';
import { type ViewMessage, viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { eventually } from '../../support/eventually.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, eventsOf, readyState, runOf } from '../conversation.ts';

const database = {
  question: 'Which **database** should it use?',
  answers: [
    { label: 'SQLite', why: 'One file, nothing to run.' },
    { label: '[Postgres](https://example.com)', why: 'What the others use.' },
    { label: 'None' },
  ],
};
const checks = { question: 'Which checks?', answers: [{ label: 'Lint' }, { label: 'Types' }], many: true };
const when = { question: 'When?', answers: [{ label: 'Now' }, { label: 'Later' }] };

const asks = (...questions: (typeof database | typeof checks | typeof when)[]): RunEventBody[] => [
  ...begin,
  {
    type: 'message',
    message: {
      role: 'assistant',
      content: 'There are two ways to keep the rows.',
      toolCalls: [{ id: 'q', name: 'ask.person', arguments: { questions } }],
    },
  },
  { type: 'tool-start', toolCallId: 'q', name: 'ask.person' },
  { type: 'ask', toolCallId: 'q', questions },
];

describe('A question of the model', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const show = async (bodies: RunEventBody[], snapshot = bodies.length) =>
    test.send(
      { type: 'state', state: readyState },
      { type: 'run', run: runOf('run-1', bodies.slice(0, snapshot)) },
      { type: 'events', events: eventsOf('run-1', bodies).slice(snapshot) },
    );
  const posted = async (): Promise<ViewMessage[]> => {
    await test.send();
    const all = await test.posted();
    for (const message of all) viewMessageSchema.parse(message);
    return all.filter(({ type }) => type !== 'ready');
  };
  const composer = () => test.page.locator('[data-testid="composer"] textarea');
  const card = () => test.page.locator('[data-call="q"]');
  const rows = () => card().locator('.ask-answer');
  const answered = (...choices: { chosen: number[]; words?: string }[]) => [
    { type: 'answer', chosen: { runId: 'run-1', toolCallId: 'q', choices } },
  ];
  const text = async () => (await card().innerText()).split('\n').map((line) => line.trim()).filter((line) => line !== '' && line !== ':'); // biome-ignore format: a line

  it('stands below the words that explain it, as plain text, and a click answers it', async () => {
    await show(asks(database), begin.length);
    assert.deepEqual(await text(), [
      'Which **database** should it use?',
      '1', 'SQLite', 'One file, nothing to run.',
      '2', '[Postgres](https://example.com)', 'What the others use.',
      '3', 'None',
      'Click, press 1 to 3, or write your own answer below.',
    ]); // biome-ignore format: as it is read
    assert.equal(await card().locator('a').count(), 0);
    assert.equal(
      await test.page.locator('[role="radiogroup"]').getAttribute('aria-labelledby'),
      await card().locator('.ask-text').getAttribute('id'),
    );
    assert.match(
      await test.page.locator('[role="log"]').innerText(),
      /Towpath has a question\. Which database should it use\? 1: SQLite, One file, nothing to run\.\. 2: /,
    );
    await rows().nth(1).dblclick();
    assert.deepEqual((await posted())[0], answered({ chosen: [1] })[0]);
    assert.ok(await composer().evaluate((element) => element.matches(':focus')), 'the next key lands in the message');
  });

  const keys: [says: string, keys: string[], place: number][] = [
    ['a digit', ['2'], 1],
    ['arrows and Enter', ['ArrowDown', 'ArrowDown', 'Enter'], 2],
    ['arrows around the end', ['ArrowUp', 'Enter'], 2],
    ['a blank that marks, and Enter', ['ArrowDown', ' ', 'Enter'], 1],
  ];
  for (const [says, pressed, place] of keys)
    it(`is answered by ${says}`, async () => {
      await show(asks(database));
      await rows().first().focus();
      for (const key of pressed) await test.page.keyboard.press(key);
      assert.deepEqual(await posted(), answered({ chosen: [place] }));
    });

  it('is answered by a digit that is pressed in the conversation', async () => {
    await show(asks(database));
    await test.page.locator('.scroller').focus();
    await test.page.keyboard.press('9');
    await test.page.keyboard.press('3');
    assert.deepEqual(await posted(), answered({ chosen: [2] }));
  });

  const written: [says: string, text: string, message: object][] = [
    ['a number', '2', answered({ chosen: [1] })[0]!],
    ['the words of an answer', 'sqlite', answered({ chosen: [0] })[0]!],
    ['other words', 'Ask Ada.', { type: 'send', text: 'Ask Ada.' }],
    ['a number that begins a sentence', '2 files', { type: 'send', text: '2 files' }],
    ['a number of no answer', '4', { type: 'send', text: '4' }],
    ['two numbers for one', '1, 2', { type: 'send', text: '1, 2' }],
  ];
  for (const [says, words, message] of written)
    it(`is answered by ${says} in the message box`, async () => {
      await show(asks(database));
      assert.equal(await composer().getAttribute('placeholder'), 'A number (1 to 3), or your own answer');
      await composer().fill(words);
      await composer().press('Enter');
      assert.deepEqual(await posted(), [message]);
      assert.equal(await composer().inputValue(), '');
    });

  it('takes several answers, with words of one’s own beside them', async () => {
    await show(asks(checks));
    const answer = card().getByTestId('answer');
    assert.equal(await answer.getAttribute('disabled'), '');
    await rows().first().click();
    await rows().nth(1).click();
    await rows().first().click();
    await eventually('the second one is marked', async () => {
      const marks = await rows().evaluateAll((all) => all.map((one) => one.getAttribute('aria-checked')));
      return marks.join() === 'false,true';
    });
    await composer().fill('and a build');
    await composer().press('Enter');
    const { chosen } = answered({ chosen: [1] })[0]!;
    assert.deepEqual(await posted(), [{ type: 'send', text: 'and a build', chosen }]);
  });

  it('numbers in the message box choose several', async () => {
    await show(asks(checks));
    await composer().fill('2,1');
    await composer().press('Enter');
    assert.deepEqual(await posted(), answered({ chosen: [0, 1] }));
  });

  it('several are answered one after the other by keys, and can be gone back to', async () => {
    await show(asks(database, checks, when));
    assert.deepEqual(await card().locator('.ask-count').allInnerTexts(), ['1 of 3']);
    await rows().first().focus();
    await test.page.keyboard.press('2');
    await test.send();
    assert.deepEqual(await card().locator('.ask-count').allInnerTexts(), ['2 of 3']);
    await test.page.keyboard.press(' ');
    await test.page.keyboard.press('Enter');
    await test.send();
    await test.page.keyboard.press('1');
    await test.send();
    await card().locator('.ask-folded', { hasText: 'database' }).click();
    await test.send();
    assert.equal(
      await rows()
        .nth(1)
        .evaluate((element) => element.matches(':focus')),
      true,
      'what was chosen has the keys',
    );
    await card().locator('.ask-own').fill('Both, perhaps');
    await card().locator('.ask-own').press('Enter');
    await test.send();
    assert.equal(
      await card()
        .getByTestId('answer')
        .evaluate((element) => element.matches(':focus-within')),
      true,
    );
    await test.page.keyboard.press('Enter');
    assert.deepEqual(
      await posted(),
      answered({ chosen: [1], words: 'Both, perhaps' }, { chosen: [0] }, { chosen: [0] }),
    );
  });

  it('several are answered by numbers in the message box, and all of them by words', async () => {
    await show(asks(checks, when));
    for (const number of ['1 2', '2']) {
      await composer().fill(number);
      await composer().press('Enter');
      await test.send();
    }
    assert.deepEqual(await posted(), answered({ chosen: [0, 1] }, { chosen: [1] }));
    await composer().fill('You decide.');
    await composer().press('Enter');
    assert.deepEqual((await posted()).at(-1), { type: 'send', text: 'You decide.' });
  });

  it('what is chosen and not sent yet is there when the panel comes back, and so is the question after a reload', async () => {
    const events = asks(database, checks);
    await show(events);
    await rows().nth(2).click();
    await test.page.reload();
    await test.page.waitForFunction(() => (globalThis as unknown as { ready: boolean }).ready);
    const rested: RunEventBody[] = [...events, { type: 'phase', phase: 'WaitingUser', error: { code: 'ENGINE_ABORTED', message: 'The editor closed.' } }]; // biome-ignore format: an event
    await show(rested);
    assert.match(await card().innerText(), /database[\s\S]*None[\s\S]*Which checks\?[\s\S]*2 of 2/);
    assert.equal(await test.page.getByTestId('phase').count(), 0, 'the way on is the answer');
    await rows().first().click();
    await card().getByTestId('answer').click();
    assert.deepEqual(await posted(), answered({ chosen: [2] }, { chosen: [0] }));
  });

  it('shows what was chosen, and the words, once it is answered', async () => {
    const answer: RunEventBody = {
      type: 'answer',
      toolCallId: 'q',
      choices: [{ chosen: [1] }],
      said: 'But <b>small</b>.',
    };
    await show([...asks(database), answer]);
    assert.deepEqual((await text()).slice(0, 4), [
      'Asked',
      'Which **database** should it use?',
      '· You answered',
      '[Postgres](https://example.com)',
    ]);
    assert.equal((await text()).at(-1), 'But <b>small</b>.');
    assert.equal(await card().getAttribute('data-ok'), 'true');
    assert.equal(await rows().count(), 0);
  });

  it('that was stopped says that it was not answered', async () => {
    const toolResults = [
      toToolResult('q', failedToolOutcome('TOOL_INTERRUPTED', 'Stopped before the person answered.')),
    ];
    await show([
      ...asks(database),
      { type: 'tool-end', toolCallId: 'q', name: 'ask.person', ok: false, ms: 1, code: 'TOOL_INTERRUPTED' },
      { type: 'message', message: { role: 'tool', content: '', toolResults } },
      { type: 'phase', phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: 'Stopped.' } },
    ]);
    assert.deepEqual(await text(), ['Asked', 'Which **database** should it use?', '· Not answered']);
    assert.equal(await composer().getAttribute('placeholder'), 'Ask anything. Type @ to add context, / for commands');
  });

  it('of a node stands below the workflow', async () => {
    await show([
      ...begin,
      { type: 'node', node: 'choose', status: 'start' },
      { type: 'tool-start', toolCallId: 'choose:1:0', name: 'ask.person' },
      { type: 'ask', toolCallId: 'choose:1:0', questions: [when] },
    ]);
    const node = test.page.locator('[data-call="choose:1:0"]');
    assert.match(await node.innerText(), /^Node choose asks\s+When\?/);
    assert.equal(await test.page.locator('[data-node="choose"]').getAttribute('data-status'), 'asking');
    assert.equal(await test.page.getByTestId('show-question').count(), 0);
    await node.locator('.ask-answer').nth(1).click();
    assert.deepEqual(await posted(), [
      { type: 'answer', chosen: { runId: 'run-1', toolCallId: 'choose:1:0', choices: [{ chosen: [1] }] } },
    ]);
  });
});
