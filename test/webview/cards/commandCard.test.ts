import assert from 'node:assert/strict';
import type { RunEventBody, StoredFileChange } from '../../../src/protocol/run/events.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, eventsOf, readyState, runOf } from '../conversation.ts';

describe('The card of a command that changed files', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const call = { id: 'format', name: 'shell.run', arguments: { command: 'npm run format' } };
  const key = { runId: 'run-1', toolCallId: call.id };
  const change = (path: string): StoredFileChange => ({ path, before: 'a', after: 'b', mode: 0o644, afterMode: 0o644 });
  const changes = [change('.env'), change('a.ts')];
  const asks: RunEventBody[] = [
    ...begin,
    { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call] } },
    { type: 'approval', toolCallId: call.id, decision: 'allow', waitedMs: 10 },
  ];
  const ran: RunEventBody[] = [
    ...asks,
    { type: 'tool-start', toolCallId: call.id, name: call.name, snapshot: 's', command: { line: 'npm run format', folder: '', marker: '' } },
    { type: 'tool-end', toolCallId: call.id, name: call.name, ok: true, ms: 4100, exitCode: 0, changes, lines: { added: 12, removed: 3 } },
    { type: 'phase', phase: 'WaitingUser' },
  ]; // biome-ignore format: one event a line
  const undo = (path: string): RunEventBody => ({
    type: 'undo',
    toolCallIds: [call.id],
    changes: [{ path, before: 'b', after: 'a' }],
    paths: [path],
    moves: [],
  });
  const card = () => test.page.locator(`[data-call="${call.id}"]`);
  const show = (bodies: RunEventBody[]) =>
    test.send(
      { type: 'state', state: readyState },
      { type: 'run', run: runOf('run-1', bodies) },
      { type: 'events', events: eventsOf('run-1', []) },
    );
  const line = async () => (await card().locator('.card-head').innerText()).replace(/\s+/g, ' ').trim();
  const buttons = () =>
    card()
      .locator('.card-beside [data-testid]')
      .evaluateAll((all) => (all as unknown as { dataset: { testid: string } }[]).map(({ dataset }) => dataset.testid));

  it('says that its files are recorded, before it starts', async () => {
    const said = message('Recording files…');
    const progress: RunEventBody = { type: 'progress', text: 'Recording files…', said, callId: call.id };
    await show([...asks, progress]);
    assert.equal(await line(), 'Run npm run format · Recording files…');
    assert.equal(await test.page.getByTestId('progress').count(), 0, 'once');
  });

  it('counts the files, undoes them, and opens their diff; it shows no content by itself', async () => {
    await show(ran);
    assert.equal(await line(), 'Ran npm run format · 2 files changed · +12 −3 4.1 s');
    await card().locator('.card-toggle').click();
    await card().getByTestId('undo').click();
    await card().getByTestId('open-diff').click();
    const posted = (await test.posted()).filter(({ type }) => type !== 'ready');
    assert.deepEqual(posted, [
      { type: 'undo', runId: 'run-1', toolCallIds: [call.id] },
      { type: 'open-diff', ...key },
    ]);
  });

  it('offers the rest when a file is undone, and Redo until a later change', async () => {
    await show([...ran, undo('a.ts')]);
    assert.match(await line(), /Ran npm run format · Partly undone/);
    assert.deepEqual(await buttons(), ['redo', 'undo']);
    await show([...ran, undo('a.ts'), undo('.env')]);
    assert.match(await line(), /Ran npm run format · Undone/);
    assert.deepEqual(await buttons(), ['redo']);
  });
});
