import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { ComposerCompletion, Mention } from '../../../src/protocol/content/mention.ts';
import type { Attachment } from '../../../src/protocol/content/messages.ts';
import { type ViewMessage, viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { openBrowser, root, type TestBrowser, type TestPage } from '../browser.ts';
import { readyState, runOf } from '../conversation.ts';

const rows: ComposerCompletion[] = [
  { mention: { kind: 'problems' }, label: 'problems', detail: '2 errors, 1 warning' },
  { mention: { kind: 'file', path: 'src/panel/cli.ts' }, label: 'cli.ts', detail: 'src/panel · open' },
  { mention: { kind: 'folder', path: 'src/commands' }, label: 'commands/', detail: 'src' },
];

describe('Naming things in the message box', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    mkdirSync(path.join(root, 'test/out/screenshots'), { recursive: true });
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const box = () => test.page.locator('[data-testid="composer"] textarea');
  const list = () => test.page.getByTestId('completion');
  const text = () => box().inputValue();
  const show = (bodies: RunEventBody[] = []) =>
    test.send(
      { type: 'state', state: readyState },
      { type: 'run', run: bodies.length > 0 ? runOf('run-1', bodies) : null },
    );
  async function posted(): Promise<ViewMessage[]> {
    const all = await test.posted();
    for (const message of all) viewMessageSchema.parse(message);
    return all.filter(({ type }) => type !== 'ready');
  }
  /** Types, and answers the newest question about it as the host does. */
  async function type(words: string, answer = rows): Promise<void> {
    await box().pressSequentially(words);
    await test.send();
    const asked = (await posted()).flatMap((one) => (one.type === 'complete' ? [one.asked] : [])).at(-1);
    if (asked !== undefined) await test.send({ type: 'completions', asked, rows: answer });
  }
  const chosen = () => list().locator('[aria-selected="true"] .completion-label').innerText();
  const chips = async () =>
    (await test.page.getByTestId('mentions').locator('li').allInnerTexts()).map((one) =>
      one.replace(/\s+/g, ' ').trim(),
    );

  it('what is typed after an @ is asked about with each key; arrows and Enter write its word, and the host says how much it is', async () => {
    await show();
    await box().pressSequentially('Why does @cl');
    await test.send();
    const asked = (await posted()).filter((one) => one.type === 'complete');
    assert.deepEqual(
      asked.map(({ query }) => query),
      ['', 'c', 'cl'],
    );
    await test.send({ type: 'completions', asked: asked.at(-1)!.asked, rows });
    assert.equal(await chosen(), 'problems');
    await test.page.keyboard.press('ArrowDown');
    await test.send();
    assert.equal(await chosen(), 'cli.ts');
    await test.page.keyboard.press('ArrowUp');
    await test.page.keyboard.press('ArrowUp');
    await test.send();
    assert.equal(await chosen(), 'commands/', 'it goes round');
    await test.page.keyboard.press('ArrowUp');
    await test.page.keyboard.press('Enter');
    await test.send();
    assert.equal(await text(), 'Why does @src/panel/cli.ts ');
    assert.equal(await list().count(), 0);
    const mention = { kind: 'file' as const, path: 'src/panel/cli.ts' };
    const others = (await posted()).filter(({ type }) => type !== 'complete');
    assert.deepEqual(others, [{ type: 'measure-mention', mention }], 'nothing was sent');
    await test.send({
      type: 'mention-size',
      mention,
      tokens: 1234,
      note: 'lines 1-90 of 400',
      why: 'The rest is not read.',
    });
    assert.deepEqual(await chips(), ['cli.ts 1.2k about 1.2k tokens · lines 1-90 of 400']);
    await test.page.screenshot({ path: path.join(root, 'test/out/screenshots/mention-chip.png') });
    await box().pressSequentially('not stop?');
    await test.page.keyboard.press('Enter');
    await test.send();
    const sent = (await posted()).filter((one) => one.type === 'send');
    assert.deepEqual(sent, [{ type: 'send', text: 'Why does @src/panel/cli.ts not stop?', mentions: [mention] }]);
    assert.deepEqual([await text(), await test.page.getByTestId('mentions').count()], ['', 0]);
  });

  it('Tab and a click write it too; the editor’s undo takes it back, and with it what is named', async () => {
    await show();
    await type('@');
    await test.page.keyboard.press('Tab');
    await test.send();
    assert.equal(await text(), '@problems ');
    await type('and @co');
    await list().locator('[data-kind="folder"]').click();
    await test.send();
    assert.equal(await text(), '@problems and @src/commands ');
    assert.equal((await chips()).length, 2);
    await test.page.keyboard.press('Control+z');
    await test.send();
    assert.equal(await text(), '@problems and @co');
    assert.deepEqual(await chips(), ['problems']);
  });

  it('Escape closes the list first, and a row that is chosen stays chosen when more is known', async () => {
    await show();
    await type('@c');
    await test.page.keyboard.press('ArrowDown');
    const asked = 2; // one for each key of this page
    const more: ComposerCompletion = { mention: { kind: 'file', path: 'c.ts' }, label: 'c.ts' };
    await test.send({ type: 'completions', asked, rows: [more, ...rows] });
    assert.equal(await chosen(), 'cli.ts');
    await test.send({ type: 'completions', asked: asked - 1, rows: [more] });
    assert.equal(await chosen(), 'cli.ts', 'an answer to what was typed before counts for nothing');
    await test.page.keyboard.press('Escape');
    await test.send();
    assert.equal(await list().count(), 0);
    assert.equal(await text(), '@c');
    await test.page.keyboard.press('Enter');
    await test.send();
    assert.deepEqual(
      (await posted()).filter((one) => one.type === 'send'),
      [{ type: 'send', text: '@c', typed: ['@c'] }],
    );
  });

  it('what is added from the code stands behind the words, once, with its size asked for; its text goes with the message', async () => {
    await show();
    await box().fill('Why does this fail:');
    await test.send();
    const lines = { kind: 'lines' as const, path: 'src/a.ts', from: 3, to: 9 };
    const terminal = { kind: 'terminal' as const, name: 'npm run test/all', text: 'red' };
    const failed = { kind: 'test' as const, name: 'adds a/b', text: 'It is 3.', path: 'src/a.test.ts', line: 7 };
    await test.send({ type: 'mention', mentions: [lines, terminal] });
    await test.send({ type: 'mention', mentions: [lines, failed, { kind: 'problem', path: 'src/a.ts', line: 4 }] });
    const words = '@src/a.ts:3-9 @terminal:npm run test/all @test:adds a/b @problem:src/a.ts:4';
    assert.equal(await text(), `Why does this fail: ${words} `);
    assert.deepEqual(await chips(), ['terminal:npm run test/all', 'a.ts:3-9', 'test:adds a/b', 'problem a.ts:4']);
    assert.equal((await posted()).filter(({ type }) => type === 'measure-mention').length, 5);
    await box().focus();
    await test.page.keyboard.press('Enter');
    await test.send();
    const [sent] = (await posted()).filter((one) => one.type === 'send');
    assert.deepEqual(sent!.mentions, [terminal, lines, failed, { kind: 'problem', path: 'src/a.ts', line: 4 }]);
  });

  it('a file is not named by its lines alone', async () => {
    await show();
    await test.send({ type: 'mention', mentions: [{ kind: 'file', path: 'a.ts' }] });
    await box().fill('See @a.ts:3 and @a.ts#one');
    await test.send();
    assert.equal(await test.page.getByTestId('mentions').count(), 0);
    await box().fill('See @a.ts: it is long.');
    await test.send();
    assert.deepEqual(await chips(), ['a.ts']);
  });

  it('an address is no mention, and while an input method is at work no key of it is for the list', async () => {
    await show();
    await type('me@example');
    assert.equal((await posted()).length, 0);
    await box().fill('');
    await type('@');
    for (const key of ['Enter', 'Tab', 'ArrowDown'])
      await box().dispatchEvent('keydown', { key, isComposing: true, bubbles: true });
    await box().dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true });
    await test.send();
    assert.equal(await text(), '@');
    assert.equal(await chosen(), 'problems');
    assert.deepEqual(
      (await posted()).filter(({ type }) => type !== 'complete'),
      [],
    );
  });

  it('✕ takes the word out of the message; what will not be read says so', async () => {
    await show();
    await type('Look at @');
    await test.page.keyboard.press('ArrowDown');
    await test.page.keyboard.press('Enter');
    await type('and @');
    await test.page.keyboard.press('Enter');
    await type('please');
    const mention = { kind: 'file' as const, path: 'src/panel/cli.ts' };
    await test.send({ type: 'mention-size', mention, tokens: 40, note: 'not read', why: 'It may contain secrets.' });
    assert.deepEqual(await chips(), ['cli.ts not read', 'problems']);
    assert.equal(
      await test.page.locator('.mention.unread').getAttribute('title'),
      'src/panel/cli.ts, not read. It may contain secrets.',
    );
    await test.page.getByRole('button', { name: 'Leave out src/panel/cli.ts' }).click();
    await test.send();
    assert.equal(await text(), 'Look at and @problems please');
    assert.deepEqual(await chips(), ['problems']);
  });

  it('a message that was said shows what it named, which opens; what was not read does not', async () => {
    const data = Buffer.from('x'.repeat(4800)).toString('base64');
    const attachments: Attachment[] = [
      {
        mediaType: 'text/plain',
        data,
        name: 'src/a.ts:3-9',
        mention: { kind: 'selection', path: 'src/a.ts', line: 3 },
      },
      {
        mediaType: 'text/plain',
        data: '',
        name: '.env',
        mention: { kind: 'file', path: '.env', note: 'not read', why: 'It may contain secrets.' },
      },
      {
        mediaType: 'text/plain',
        data,
        name: 'b.ts',
        mention: { kind: 'file', path: 'b.ts', note: 'reworded', noteSaid: { english: 'not read' }, unread: true },
      },
    ];
    const content = 'Why is @selection so slow?';
    await show([
      { type: 'run-start', workflowId: 'chat', agentId: 'default', model: 'local/demo' },
      { type: 'message', message: { role: 'user', content, attachments } },
    ]);
    const said = test.page.locator('[data-role="user"]');
    assert.deepEqual(
      (await said.locator('.mention').allInnerTexts()).map((one) => one.replace(/\s+/g, ' ').trim()),
      ['Open a.ts:3-9 1.2k about 1.2k tokens', '.env not read', 'b.ts not read'],
    );
    await said.getByRole('button', { name: /^Open a\.ts:3-9/ }).click();
    assert.deepEqual(await posted(), [{ type: 'open-file', path: 'src/a.ts', line: 3 }]);
    assert.equal(await said.getByRole('button', { name: /^Open \.env/ }).count(), 0);
  });

  const slashes: ComposerCompletion[] = [
    { slash: { word: '/plan', kind: 'act' }, label: '/plan', detail: 'Plan first' },
    { slash: { word: '/tests', kind: 'prompt' }, label: '/tests', detail: 'Tests for a part' },
  ];

  it('a / that the message begins with is completed, too: what is done at once leaves no word, a prompt is written', async () => {
    await show();
    await type('/pl', slashes);
    await test.page.keyboard.press('Enter');
    await test.send();
    assert.equal(await text(), '');
    await type('/', slashes);
    await test.page.keyboard.press('ArrowDown');
    await test.page.keyboard.press('Tab');
    await test.send();
    assert.equal(await text(), '/tests ');
    await box().pressSequentially('of the parser');
    await test.page.keyboard.press('Enter');
    const said = (await posted()).filter(({ type }) => type !== 'complete');
    assert.deepEqual(said, [
      { type: 'slash', act: 'plan' },
      { type: 'send', text: '/tests of the parser' },
    ]);
    const asked = (await posted()).flatMap((one) => (one.type === 'complete' ? [`${one.after}${one.query}`] : []));
    assert.deepEqual(asked, ['/', '/p', '/pl', '/']);
  });

  it('a / elsewhere, or in a path, is no command', async () => {
    await show();
    await box().pressSequentially('/usr/bin and a /pl');
    const asked = (await posted()).flatMap((one) => (one.type === 'complete' ? [one.query] : []));
    assert.deepEqual(asked, ['', 'u', 'us', 'usr']);
    assert.equal(await list().count(), 0);
  });

  it('after so many letters it names nothing, wherever in a message it stands', async () => {
    await show();
    const long = 'x'.repeat(200);
    const before = 'what stood here before '.repeat(40);
    for (const text of [
      `/${long}`,
      `/${long}x`,
      `${before}@${long}`,
      `${before}@${long}x`,
      `${before}/x`,
      `${before}a@x`,
    ])
      await box().fill(text);
    const asked = (await posted()).flatMap((one) => (one.type === 'complete' ? [one.after + one.query] : []));
    assert.deepEqual(asked, [`/${long}`, `@${long}`]);
  });

  it('Tab and a letter bring up a picker, plan first, undo, begin anew, and find an old run', async () => {
    await show();
    for (const letter of ['a', 'p', 'm', 'r', 'u', 'n', 'x']) {
      await box().focus();
      await test.page.keyboard.press('Tab');
      await test.page.keyboard.press(letter);
    }
    await box().focus();
    await test.page.keyboard.press('Tab');
    const isNext = await test.page.evaluate(() => {
      const { document, KeyboardEvent } = globalThis as unknown as {
        document: { activeElement: { dispatchEvent(event: unknown): void; dataset: Record<string, string> } };
        KeyboardEvent: new (type: string, how: object) => unknown;
      };
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'h', bubbles: true, composed: true }));
      return document.activeElement.dataset.testid === 'search-runs';
    });
    assert.ok(isNext, 'the very next letter is one of a run');
    assert.deepEqual(
      (await posted()).map((one) => (one.type === 'action' ? one.action : one.type)),
      ['pick-agent', 'plan-first', 'pick-model', 'run-preset', 'undo-turn', 'new-run', 'list-runs'],
    );
  });

  const lines: Mention = { kind: 'lines', path: 'src/a.ts', from: 3, to: 9 };

  it('a chip names the folder of its file where the name alone says too little', async () => {
    const added = (...mentions: Mention[]) => test.send({ type: 'mention', mentions });
    const file = (path: string): Mention => ({ kind: 'file', path });
    const names = async () => (await test.page.locator('.mention').allTextContents()).map((text) => text.trim());
    await show();
    await added(file('docs/README.md'), file('src/a.ts'));
    assert.deepEqual(await names(), ['README.md', 'a.ts']);
    await added(file('packages/site/README.md'), { kind: 'problem', path: 'lib/a.ts', line: 3 });
    assert.deepEqual(await names(), ['docs/README.md', 'src/a.ts', 'packages/site/README.md', 'problem lib/a.ts:3']);
    await test.renew();
    await test.send(
      { type: 'state', state: { ...readyState, workspace: { ...readyState.workspace, several: true } } },
      { type: 'run', run: null },
    );
    await added(file('docs/README.md'), file('top.md'), { kind: 'folder', path: 'docs/guides' });
    assert.deepEqual(await names(), ['docs/README.md', 'top.md', 'docs/guides/']);
    await test.send({ type: 'mention-size', mention: file('top.md'), tokens: 4 });
    assert.equal(await test.page.locator('.mention').nth(1).getAttribute('title'), 'top.md, about 4 tokens');
    assert.match((await names())[1]!, /about 4 tokens$/, 'also for who hears it');
  });

  it('what is selected goes with the message once, with how much it is; ✕ leaves it out, and says so to the host', async () => {
    await show();
    await test.send({ type: 'selection', mention: lines, goes: true });
    await test.send({ type: 'mention-size', mention: lines, tokens: 1200 });
    assert.deepEqual(await chips(), ['a.ts:3-9 1.2k about 1.2k tokens']);
    await box().fill('Why?');
    await box().press('Enter');
    assert.deepEqual(await posted(), [
      { type: 'measure-mention', mention: lines },
      { type: 'send', text: 'Why?', mentions: [lines] },
    ]);
    assert.equal(await test.page.getByTestId('mentions').count(), 0);
    await test.send({ type: 'selection', mention: lines, goes: true });
    await test.page.getByTestId('selection').getByRole('button').click();
    await test.send({ type: 'selection', mention: lines, goes: false });
    await box().fill('And?');
    await box().press('Enter');
    assert.deepEqual((await posted()).slice(-2), [
      { type: 'selection-goes', goes: false },
      { type: 'send', text: 'And?' },
    ]);
  });

  it('what is selected is no chip where the words name it', async () => {
    await show();
    await test.send({ type: 'mention', mentions: [lines] });
    await test.send({ type: 'selection', mention: lines, goes: true });
    assert.deepEqual(await chips(), ['a.ts:3-9']);
  });

  /** What the editor's Explorer gives, or what was copied. */
  const gives = (how: 'drop' | 'paste', type: string, text: string) =>
    test.page.evaluate(`{
      const data = new DataTransfer();
      data.setData(${JSON.stringify(type)}, ${JSON.stringify(text)});
      const init = { bubbles: true, cancelable: true, composed: true, dataTransfer: data, clipboardData: data };
      const box = document.querySelector('[data-testid="composer"]').control;
      box.dispatchEvent(new ${how === 'drop' ? 'DragEvent' : 'ClipboardEvent'}('${how}', init));
    }`);

  it('files that are dropped or pasted are for the host to name; other words are pasted', async () => {
    await show();
    await gives('drop', 'application/vnd.code.uri-list', 'file:///w/src/a.ts\r\nfile:///w/src');
    await gives('paste', 'text/plain', '/w/src/a.ts\n/w/b c.ts');
    await gives('paste', 'text/plain', 'no path');
    await gives('paste', 'text/plain', 'http://example.com/a');
    assert.deepEqual(await posted(), [
      { type: 'dropped', places: ['file:///w/src/a.ts', 'file:///w/src'] },
      { type: 'dropped', places: ['/w/src/a.ts', '/w/b c.ts'], pasted: '/w/src/a.ts\n/w/b c.ts' },
    ]);
    await box().fill('see ');
    await test.send({ type: 'pasted', text: '/etc/hosts' });
    assert.equal(await text(), 'see /etc/hosts');
  });

  it('an empty conversation offers what is worth doing; a click says it', async () => {
    await show();
    await test.send({
      type: 'offers',
      offers: [{ label: 'Review my changes', text: 'Review my changes (@changes).', mentions: [{ kind: 'changes' }] }],
    });
    await test.page.getByRole('button', { name: 'Review my changes' }).click();
    assert.deepEqual(await posted(), [
      { type: 'send', text: 'Review my changes (@changes).', mentions: [{ kind: 'changes' }] },
    ]);
  });

  it('Tab and D show what the run has changed', async () => {
    await show([
      { type: 'run-start', workflowId: 'chat', agentId: 'plan', model: 'x' },
      { type: 'message', message: { role: 'user', content: 'Make b' } },
    ]);
    await box().focus();
    await test.page.keyboard.press('Tab');
    await test.page.keyboard.press('d');
    assert.deepEqual(await posted(), [{ type: 'review-files', runId: 'run-1' }]);
  });

  it('a plan that waits is done by Ctrl+Enter, with what stands in the message box', async () => {
    const plans: RunEventBody[] = [
      { type: 'run-start', workflowId: 'chat', agentId: 'plan', model: 'x' },
      { type: 'message', message: { role: 'user', content: 'Make b' } },
      { type: 'phase', phase: 'Running' },
      { type: 'message', message: { role: 'assistant', content: 'The plan.' } },
      { type: 'phase', phase: 'WaitingUser' },
    ];
    await show(plans);
    assert.equal(await test.page.getByTestId('agent').innerText(), 'Plan');
    await test.page.getByTestId('do-plan-apart').click();
    await box().fill('but quickly');
    await box().press('Control+Enter');
    assert.deepEqual(await posted(), [
      { type: 'do-plan', apart: true },
      { type: 'do-plan', text: 'but quickly' },
    ]);
    assert.equal(await text(), '');
  });
});
