import assert from 'node:assert/strict';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { inHostWords, openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, eventsOf, readyState, runOf } from '../conversation.ts';
import { undone } from '../states.ts';

/** While the model is at it: what moves, what asks, and how soon it is seen. */
describe('The panel while a run is at work', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const show = (bodies: RunEventBody[]) =>
    test.send(
      { type: 'state', state: readyState },
      { type: 'run', run: runOf('run-1', begin) },
      { type: 'events', events: eventsOf('run-1', [...begin, ...bodies]).slice(begin.length) },
    );
  const calls = (name: string, ...paths: string[]): RunEventBody => ({
    type: 'message',
    message: {
      role: 'assistant',
      content: '',
      toolCalls: paths.map((path) => ({ id: path, name, arguments: { path } })),
    },
  });
  const moving = () => test.page.locator(':is(.ring, .thinking.now):not(.still)');

  it('one thing moves: of several that are at work the newest', async () => {
    const paths = ['a.ts', 'b.ts', 'c.ts'];
    await show([
      calls('mcp.docs.read', ...paths),
      ...paths.map((toolCallId): RunEventBody => ({ type: 'tool-start', toolCallId, name: 'mcp.docs.read' })),
    ]);
    assert.equal(await test.page.locator('.ring').count(), 3);
    assert.equal(await moving().count(), 1);
    assert.equal(await test.page.locator('[data-call="c.ts"] .ring:not(.still)').count(), 1);
  });

  it('the buttons of a card name its run: two runs can have calls with the same id', async () => {
    const toolCallId = 'functions.fs_edit:0';
    const asked: RunEventBody[] = [
      calls('fs.edit', toolCallId),
      {
        type: 'question',
        toolCallId,
        question: { id: 'q', what: 'Edit a.ts', where: '/w/a.ts', why: 'It changes a file.' },
      },
    ];
    for (const runId of ['run-1', 'run-2']) {
      await test.send({ type: 'run', run: runOf(runId, [...begin, ...asked]) });
      await test.page.getByTestId('show-question').click();
      await test.page.getByTestId('deny').click();
      assert.deepEqual((await test.posted()).slice(-2), [
        { type: 'show-question', runId, toolCallId },
        { type: 'deny', runId, toolCallId },
      ]);
    }
  });

  it('a call that needs an approval since an earlier window says so; its buttons and the first click tell the host', async () => {
    const request: RunEventBody = {
      type: 'approval-request',
      toolCallId: 'a.ts',
      name: 'fs.edit',
      question: { id: 'q', what: 'Edit a.ts', where: '/w/a.ts', why: '', diff: '-one\n+two' },
      proposed: { location: 'hash' },
    };
    const rests: RunEventBody = {
      type: 'phase',
      phase: 'WaitingUser',
      error: { code: 'ENGINE_ABORTED', message: 'Interrupted: the editor closed while this run was in progress.' },
    };
    const events = [...begin, calls('fs.edit', 'a.ts', 'b.ts'), request, rests];
    const card = test.page.locator('[data-call="a.ts"]');
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', events) });
    await card.getByText('Interrupted when the window closed · needs your approval').waitFor();
    assert.equal(await test.page.getByTestId('continue').count(), 0);
    assert.equal(await test.page.getByTestId('show-question').count(), 1);
    await card.getByTestId('show-question').click();
    await card.getByTestId('deny').click();
    const key = { runId: 'run-1', toolCallId: 'a.ts' };
    assert.deepEqual((await test.posted()).slice(-3), [
      { type: 'active', runId: 'run-1' },
      { type: 'show-question', ...key },
      { type: 'deny', ...key },
    ]);
    const locked = { ...rests, error: { code: 'STORE_LOCKED', message: 'Another window has it.' } };
    await test.send({ type: 'run', run: runOf('run-1', [...events, locked]) });
    await card.getByText('Not run').waitFor();
    assert.equal(await test.page.getByTestId('show-question').count(), 0);
  });

  it('a change that was undone has Redo, which tells the host, until the run changes its file again', async () => {
    const redo = test.page.getByTestId('redo');
    const key = { runId: 'run-1', toolCallId: 'edit+' };
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', undone) });
    await test.page.locator('[data-call="edit+"]').getByText('Undone').waitFor();
    assert.equal(await redo.count(), 1);
    await redo.click();
    assert.deepEqual((await test.posted()).at(-1), { type: 'redo', ...key });
    const changes = [{ path: 'src/cli.ts', before: 'a'.repeat(64), after: 'c'.repeat(64) }];
    const since: RunEventBody[] = [
      calls('fs.write', 'src/cli.ts'),
      { type: 'tool-start', toolCallId: 'src/cli.ts', name: 'fs.write', changes },
      { type: 'tool-end', toolCallId: 'src/cli.ts', name: 'fs.write', ok: true, ms: 1, changes },
    ];
    await test.send({ type: 'run', run: runOf('run-1', [...undone, ...since]) });
    await test.page.locator('[data-call="edit+"]').getByText('Undone').waitFor();
    assert.equal(await redo.count(), 0);
  });

  it('one question has the button that stands out: of several the first', async () => {
    const question = (id: string): RunEventBody => ({
      type: 'question',
      toolCallId: id,
      question: { id: `q-${id}`, what: `Edit ${id}`, where: `/w/${id}`, why: 'It changes a file.' },
    });
    const primary = () => test.page.locator('[data-testid="show-question"][appearance="primary"]');
    const owner = () => primary().locator('xpath=ancestor::*[@data-call]').getAttribute('data-call');
    const asked = [calls('fs.edit', 'a.ts', 'b.ts'), question('a.ts'), question('b.ts')];
    await show(asked);
    assert.equal(await test.page.getByTestId('show-question').count(), 2);
    assert.equal(await owner(), 'a.ts');
    await show([...asked, { type: 'approval', toolCallId: 'a.ts', decision: 'deny', waitedMs: 1 }]);
    assert.equal(await owner(), 'b.ts');
  });

  it('a plan that is being written is no card, and that something is at work stays in sight', async () => {
    const writes: RunEventBody = {
      type: 'chunk',
      toolCall: { index: 0, name: 'plan.update', argumentsText: '{"items":[' },
    };
    await show([writes]);
    assert.equal(await test.page.locator('.card').count(), 0);
    assert.match(await test.page.getByTestId('progress').innerText(), /Working/);
    await show([{ type: 'chunk', content: 'In three steps.' }, writes]);
    assert.equal(await test.page.locator('.card').count(), 0);
    await test.page.getByText('In three steps.').waitFor();
  });

  it('the first word of an answer is on the screen with the frame after it has come', async () => {
    await show([]);
    const [chunk] = eventsOf('run-1', [{ type: 'chunk', content: 'Hello' }], begin.length - 1);
    const isShown = await test.page.evaluate(
      (message) =>
        new Promise<boolean>((resolve) => {
          const { addEventListener, postMessage, requestAnimationFrame, document } = globalThis as unknown as {
            addEventListener(type: 'message', heard: () => void, options: { once: true }): void;
            postMessage(message: unknown, origin: string): void;
            requestAnimationFrame(drawn: () => void): void;
            document: { querySelector(what: string): { textContent: string } | null };
          };
          // Heard after the panel: what it has asked to be drawn in the next frame is drawn before what is asked here.
          addEventListener(
            'message',
            () =>
              requestAnimationFrame(() =>
                resolve(document.querySelector('.assistant .markdown')?.textContent === 'Hello'),
              ),
            { once: true },
          );
          postMessage(message, '*');
        }),
      inHostWords({ type: 'events', events: [chunk] }),
    );
    assert.ok(isShown);
  });

  it('no key is lost while an answer streams, a fold grows and a question comes', async () => {
    const words = 'and a test for it, please';
    const box = test.page.locator('[data-testid="composer"] textarea');
    await show([]);
    await box.focus();
    const happens: RunEventBody[] = [
      { type: 'chunk', content: 'I will ' },
      { type: 'chunk', content: 'look at it.\n\n```ts\nconst a = 1;\n```\n' },
      calls('fs.read', 'a.ts', 'b.ts'),
      ...['a.ts', 'b.ts'].map((toolCallId): RunEventBody => ({ type: 'tool-start', toolCallId, name: 'fs.read' })),
      { type: 'tool-end', toolCallId: 'a.ts', name: 'fs.read', ok: true, ms: 1 },
      calls('fs.edit', 'c.ts'),
      { type: 'question', toolCallId: 'c.ts', question: { id: 'q', what: 'Edit c.ts', where: '/w/c.ts', why: 'It changes a file.' } },
      { type: 'queued', text: 'And then?' },
    ]; // biome-ignore format: rows
    const events = eventsOf('run-1', [...begin, ...happens]).slice(begin.length);
    for (const [at, letter] of [...words].entries()) {
      const event = events[Math.floor(at / 2)];
      const coming = event && test.page.evaluate((one) => (globalThis as unknown as { postMessage(message: unknown, origin: string): void }).postMessage(one, '*'), inHostWords({ type: 'events', events: [event] })); // biome-ignore format: in the page
      await test.page.keyboard.type(letter);
      await coming;
    }
    await test.send();
    assert.equal(await box.inputValue(), words);
    assert.equal(await test.page.getByTestId('show-question').count(), 1);
  });
});
