import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { failedToolOutcome, toToolResult } from '../../src/protocol/content/tools.ts';
import type { HostMessage, PanelState, RunListRow, ViewMessage } from '../../src/protocol/panel/panelMessages.ts';
import { viewMessageSchema } from '../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import type { RunSummary } from '../../src/protocol/run/summary.ts';
import { message } from '../../src/protocol/text/l10n.ts';
import { formatFileChange, formatShortFileChange } from '../../src/tools/edit/diff.ts';
import { runEndActions } from '../../webview/transcript/runEnd.ts';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listening.ts';
import { inHostWords, openBrowser, root, type TestBrowser, type TestPage } from './browser.ts';
import {
  allowsEdit,
  asks,
  begin,
  concludes,
  editCall,
  eventsOf,
  readCall,
  reads,
  readyState,
  runOf,
  runsTests,
  testCall,
  testsFail,
} from './conversation.ts';
import { themes } from './themes.ts';

/** Of the page. */
interface Styles {
  getComputedStyle(element: unknown): { whiteSpace: string };
}

describe('The panel', () => {
  let browser: TestBrowser;
  let test: TestPage;

  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => {
    const broken = await test.violations();
    assert.deepEqual({ broken, strays: browser.strays }, { broken: [], strays: [] });
  });

  const find = (testId: string) => test.page.getByTestId(testId);
  const composer = () => test.page.locator('[data-testid="composer"] textarea');
  const card = (id: string) => test.page.locator(`[data-call="${id}"]`);

  /** Shows a run as the host does: the state, a snapshot of the beginning, and the rest as events. */
  async function show(
    bodies: RunEventBody[],
    state: Partial<PanelState> = {},
    snapshot = bodies.length,
  ): Promise<void> {
    const run = runOf('run-1', bodies.slice(0, snapshot));
    const events = eventsOf('run-1', bodies).slice(snapshot);
    await test.send(
      { type: 'state', state: { ...readyState, ...state } },
      { type: 'run', run },
      { type: 'events', events },
    );
  }

  /** What the host answers whoever opens the list. */
  const list = (runs: (RunSummary & Partial<RunListRow>)[], query = '', more = 0) => {
    const rows = runs.map((run) => ({ depth: 0, newest: run.updatedAt, ...run }));
    return test.send({ type: 'runs', query, rows, more });
  };
  const done = async () => (await posted()).filter((message) => (message as { type: string }).type !== 'list-runs');

  /** What a person reads, line by line, without the passing of time. */
  async function reading(): Promise<string> {
    const text = await test.page.locator('.transcript').evaluate((element) => {
      const sheet = element.ownerDocument.styleSheets[0]!;
      sheet.insertRule('.card-line, .card-line * { display: inline !important }', 0); // a line is one line
      sheet.insertRule('.for-screen-readers { display: none }', 0);
      const { innerText } = element as unknown as { innerText: string };
      sheet.deleteRule(0);
      sheet.deleteRule(0);
      return innerText;
    });
    const lines = text.split('\n').map((line) => line.trim());
    return lines
      .filter(Boolean)
      .join('\n')
      .replace(/(Running .*) [\d.]+ (ms|s)/, '$1');
  }

  /** What was posted since the last time, without what only says that the panel is there. */
  async function posted(): Promise<ViewMessage[]> {
    const all = await test.posted();
    for (const message of all) viewMessageSchema.parse(message);
    return all.filter(({ type }) => type !== 'ready');
  }

  it('offers the ways to begin until a model was chosen', async () => {
    const workspace = { open: false, trusted: false, name: '' };
    await test.send(
      { type: 'state', state: { ...readyState, modelId: '', modelChosen: false, workspace } },
      { type: 'run', run: null },
    );
    assert.equal(
      await reading(),
      `No folder is open, so there are no files to work on.
Open Folder
This workspace is not trusted. Tools that change or run anything are off.
Manage Trust
What do you want to do?
Towpath reads your workspace, proposes changes and runs commands. You decide what runs without approval, and you can stop it at any moment.
Select a model to start.
Download a model…
Models on this machine…
Connect to a provider
Try the demo model
A downloaded model runs on this machine: no account, and nothing you write leaves it. The demo model follows a script. It shows how Towpath works and is not an assistant.
Get started`,
    );
    const actions = ['open-folder', 'manage-trust', 'download-model', 'manage-models', 'use-endpoint', 'use-demo'];
    for (const action of actions) await test.page.locator(`[data-action="${action}"]`).click();
    assert.deepEqual(
      await posted(),
      actions.map((action) => ({ type: 'action', action })),
    );
    assert.equal(await test.page.locator('body').getAttribute('data-phase'), '');
  });

  it('shows the preset always, autopilot loudly, and whether it was chosen for this run only', async () => {
    const chip = test.page.getByTestId('preset');
    const shown: (string | null)[] = [];
    for (const [preset, presetOfRun] of [
      ['ask-everything', false],
      ['reads-free', false],
      ['edits-free', true],
      ['sandbox', false],
      ['autopilot', false],
    ] as const) {
      await test.send({ type: 'state', state: { ...readyState, preset, presetOfRun } }, { type: 'run', run: null });
      await reading();
      const [name, words] = [(await chip.getAttribute('aria-label'))!, await chip.innerText()];
      assert.ok(name.endsWith((await chip.getAttribute('title'))!));
      assert.ok(name.toLowerCase().includes(words.toLowerCase()), 'the shown words call it, too');
      shown.push(await chip.innerText(), await chip.getAttribute('title'));
    }
    assert.deepEqual(shown, [
      'Ask all',
      'Ask for everything. Click (Tab, R) to change it for this run.',
      'Reads',
      'Auto-approve reads. Click (Tab, R) to change it for this run.',
      'Edits',
      'Auto-approve edits · this run only. Click (Tab, R) to change it for this run.',
      'Sandbox',
      'Auto-approve edits and sandboxed commands. Click (Tab, R) to change it for this run.',
      'Autopilot',
      'Autopilot: runs without approval. Click (Tab, R) to change it for this run.',
    ]);
    await posted();
    await chip.focus();
    await test.page.keyboard.press('Enter');
    assert.deepEqual(
      await posted(),
      [{ type: 'action', action: 'run-preset' }],
      'it asks to be asked, and decides nothing',
    );
  });

  it('tells the main job from the first question to the last sentence', async () => {
    const story = [...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail, ...concludes];
    const until = async (bodies: RunEventBody[]) => {
      await show(story.slice(0, bodies.length), {}, begin.length);
      return reading();
    };
    const first = `Add a \`--json\` flag to the CLI and a test for it.
Thought
I will look at the command line first.
Read src/cli.ts`;
    const second = `The rows are printed in one place, so the flag is one line:
ts
Copy
Insert
More
print(json ? encode(rows) : rows);`;
    assert.equal(
      await until([...begin, ...reads, ...asks]),
      `${first}
${second}
Edit src/cli.ts · Waiting for approval
It changes a file of the workspace.
Answer…
Deny
In the review: Shift+Alt+Enter allows, Shift+Alt+Delete denies
Run npm test -- --grep json · Queued`,
    );
    assert.equal(
      await until([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests]),
      `${first}
${second}
Edited src/cli.ts
Diff
Running npm test -- --grep json
> sample@1.0.0 test
> mocha --grep json
✔ prints rows as JSON`,
    );
    assert.equal(
      await until(story),
      `${first}
${second}
Edited src/cli.ts
Diff
Could not run npm test -- --grep json: The command ended with code 1 3.4 s
Thought
Done
The flag works; one test fails, see the test.`,
    );
    assert.equal(await test.page.locator('body').getAttribute('data-phase'), 'WaitingUser');
    assert.equal(await test.page.locator('.title').innerText(), 'Add a --json flag');
    assert.equal(await test.page.locator('.meter-label').textContent(), '12.3k/?');
  });

  it('marks every card with its call, tool and status', async () => {
    await show([...begin, ...reads, ...asks]);
    const marks = await test.page
      .locator('.card')
      .evaluateAll((cards) =>
        (cards as unknown as { dataset: Record<string, string> }[]).map(({ dataset }) => ({ ...dataset })),
      );
    assert.deepEqual(marks, [
      { call: readCall.id, tool: 'fs.read', status: 'done', ok: 'true', mark: 'check' },
      { call: editCall.id, tool: 'fs.edit', status: 'asking', mark: 'asks' },
      { call: testCall.id, tool: 'shell.run', status: 'waiting', mark: 'waits' },
    ]);
  });

  it('folds arguments and outcome into the card, and says why nobody was asked', async () => {
    await show([...begin, ...reads]);
    await card(readCall.id).locator('.card-toggle').click();
    await test.send();
    const lines = (await card(readCall.id).locator('.card-details').innerText()).trim().split(/\n+/);
    assert.deepEqual(
      lines.map((line) => line.trim()),
      [
        'Not asked: Reads are free.',
        'fs.read',
        'Arguments',
        ...['{', '"path": "src/cli.ts"', '}'],
        'Outcome',
        ...['{', '"path": "src/cli.ts",', '"lines": 2', '}'],
        'Outcome: content',
        'const rows = load();',
        'print(rows);',
      ],
    );
  });

  it('shows a call while it is being written', async () => {
    await show([
      ...begin,
      { type: 'chunk', content: 'I will write it.' },
      { type: 'chunk', toolCall: { index: 0, name: 'fs.write', argumentsText: '{"path":"src/a.ts","content":"' } },
    ]);
    const draft = test.page.locator('[data-status="writing"]');
    assert.equal(await draft.getAttribute('aria-label'), 'Writing src/a.ts · 0 lines');
  });

  it('says that a call did not run when the run is not running', async () => {
    await show([
      ...begin,
      ...reads,
      ...asks,
      { type: 'phase', phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: 'Stopped.' } },
    ]);
    assert.equal(await card(editCall.id).locator('.card-words').innerText(), ' · Not run: stopped');
    assert.equal(await find('show-question').count(), 0);
    assert.match(await reading(), /Stopped\.\nContinue$/);
  });

  it('says denied, and how an unfinished reply ended', async () => {
    await show([
      ...begin,
      ...reads,
      ...asks,
      { type: 'approval', toolCallId: editCall.id, decision: 'deny', waitedMs: 100 },
      { type: 'message', message: { role: 'assistant', content: 'Then I will', incomplete: true } },
      { type: 'phase', phase: 'Failed', error: { code: 'LLM_INCOMPLETE', message: 'The stream ended early.' } },
    ]);
    assert.equal(await card(editCall.id).locator('.card-words').innerText(), ' · Denied');
    assert.equal(await card(editCall.id).getAttribute('data-ok'), 'false');
    assert.match(await reading(), /Then I will\nCut off here\nThe stream ended early\.\nRetry\nRetry With…$/);
  });

  for (const [code, message, buttons] of [
    ['ENGINE_MAX_TURNS_EXCEEDED', 'The limit is reached.', ['Continue']],
    ['ENGINE_ABORTED', 'Stopped.', ['Continue']],
    ['LLM_TIMEOUT', 'It was silent for 2 min.', ['Retry', 'Retry With…']],
    ['LLM_AUTH_FAILED', 'No key. Run Towpath: Set API Key.', ['Set API Key', 'Retry', 'Retry With…']],
    ['LLM_CONTEXT_OVERFLOW', 'It is too long.', ['New Run with Summary', 'Pick Model']],
    ['STORE_FULL', 'The disk is full.', ['Manage Storage…', 'Retry']],
    ['STORE_LOCKED', 'Another window has it.', ['Take Over']],
  ] as const) {
    it(`${code} is said with its way out: ${buttons.join(', ')}`, async () => {
      const error = { code, message: message.replace(/Towpath: Set API Key/, '*$&*') };
      await show([...begin, { type: 'phase', phase: 'Failed', error }]);
      assert.equal((await find('phase').innerText()).replace(/\s+/g, ' ').trim(), [message, ...buttons].join(' '));
      for (const label of buttons) await find('phase').getByText(label, { exact: true }).click();
      assert.deepEqual(
        await posted(),
        buttons.map((label) => runEndActions[label]),
      );
    });
  }

  it('a limit of money can be raised by a dialog of the host alone, and says by how much', async () => {
    const message = "$2 of this run's $2 are spent, and the next answer costs at least $0.03.";
    const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser', error: { code: 'LIMIT_RUN_REACHED', message } };
    await show([...begin, rests], { limits: { run: 2, day: 5 } });
    assert.equal(
      (await find('phase').innerText()).replace(/\s+/g, ' ').trim(),
      `${message} Raise Limit by $2 Pick Model`,
    );
    await find('phase').getByText('Raise Limit by $2', { exact: true }).click();
    await find('phase').getByText('Pick Model', { exact: true }).click();
    assert.deepEqual(await posted(), [
      { type: 'action', action: 'raise-limit' },
      { type: 'action', action: 'try-another-model' },
    ]);
    await test.send({ type: 'state', state: readyState }); // the setting is gone
    assert.equal((await find('phase').innerText()).replace(/\s+/g, ' ').trim(), `${message} Continue Pick Model`);
  });

  it('offers to try a run again that the full disk could not record, as soon as there is room', async () => {
    const error = { code: 'STORE_FULL', message: 'The disk is full: this run cannot be recorded.' };
    const bodies: RunEventBody[] = [...begin, { type: 'phase', phase: 'Failed', error }];
    await show(bodies, { diskFull: true });
    assert.equal((await find('phase').innerText()).replace(/\s+/g, ' '), `${error.message} Manage Storage…`);
    await test.send({ type: 'state', state: readyState });
    await find('continue').click();
    assert.deepEqual(await posted(), [{ type: 'continue' }]);
  });

  it('says that it is loading before the host has told anything: pickers, and the list of runs', async () => {
    await test.send();
    assert.equal(await test.page.locator('.loading').innerText(), 'Loading…');
    await find('history').click();
    await test.send();
    assert.equal(await test.page.locator('.history p').first().innerText(), 'Loading…');
    await test.send({ type: 'state', state: readyState }, { type: 'runs', query: '', rows: [], more: 0 });
    assert.equal(await test.page.locator('.loading').count(), 0);
    assert.equal(await test.page.locator('.history p').first().innerText(), 'No runs yet.');
  });

  it('joins what goes wrong and the next try by a dot, also when that has begun and for waits of another kind', async () => {
    const progresses: [RunEventBody, RegExp][] = [
      [{ type: 'progress', text: 'Example answered 500: Internal Server Error', until: Date.now() + 16_000, attempt: 2 }, /^Example answered 500: Internal Server Error · retrying in 1[56] s/],
      [{ type: 'progress', text: 'Busy', until: Date.now() - 1, attempt: 3 }, /^Busy · retrying$/],
      [{ type: 'progress', text: 'Waiting for the rate limit', until: Date.now() + 9000 }, /^Waiting for the rate limit \([89](\.\d)? s\)/],
    ]; // biome-ignore format: a table
    for (const [progress, words] of progresses) {
      await show([...begin, progress]);
      assert.match((await find('progress').locator('.phase-text').innerText()).replace(/\s+/g, ' '), words);
    }
  });

  it('counts down to the next try, which the person can have at once, also while words wait', async () => {
    const retries: RunEventBody[] = [{ type: 'progress', text: 'Busy', until: Date.now() + 50_000, attempt: 2 }];
    await show([...begin, ...retries, { type: 'queued', text: 'And a test.' }]);
    assert.match(
      (await find('progress').innerText()).replace(/\s+/g, ' '),
      /^Busy · retrying in \d+ s Retry Now Retry With…$/,
    );
    await find('retry-now').click();
    await find('try-another-model').click();
    assert.deepEqual(await posted(), [{ type: 'retry-now' }, { type: 'action', action: 'try-another-model' }]);
  });

  it('*New run* gives the keys to the message, and a summary comes before what stands there', async () => {
    await show([...begin, ...reads, ...concludes]);
    await find('new-run').click();
    await test.page.keyboard.type('xyz');
    assert.equal(await composer().inputValue(), 'xyz');
    await test.send({ type: 'draft', text: 'Go on.' });
    assert.equal(await composer().inputValue(), 'Go on.\n\nxyz');
  });

  describe('a message', () => {
    const said = () => test.page.locator('[data-role="user"]').first();
    const act = (name: string) => test.page.locator(`[data-act="${name}"]:visible`);

    it('is copied, forked from, restored to, opened as text; its acts come with the pointer', async () => {
      await show([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail, ...concludes]);
      assert.equal(await act('copy').count(), 0);
      assert.match((await said().getAttribute('title')) ?? '', /\d:\d\d/, 'when it was said');
      await said().hover();
      await act('copy').click();
      await act('more').click();
      await test.send();
      assert.deepEqual(await said().locator('[data-act]').allInnerTexts(), [
        ...['Copy', 'Edit', 'Fork from Here', 'Restore Files to Here (1)', 'Open as Text', ''],
      ]);
      for (const name of ['fork', 'restore', 'open-text']) {
        await said().hover();
        if (name !== 'fork') await act('more').click();
        await act(name).click();
        await test.send();
      }
      const place = { runId: 'run-1', at: 0 };
      assert.deepEqual(await posted(), [
        { type: 'copy', text: 'Add a `--json` flag to the CLI and a test for it.' },
        { type: 'fork', ...place },
        { type: 'restore-files', ...place },
        { type: 'open-text', ...place },
      ]);
    });

    it('that is a picture alone can be gone back to, too', async () => {
      const attachments = [{ mediaType: 'image/png', data: 'aGk=', name: 'shot.png' }];
      await show([
        begin[0]!,
        { type: 'message', message: { role: 'user', content: '', attachments } },
        ...begin.slice(3),
        ...concludes,
      ]);
      await said().hover();
      await act('more').click();
      await test.send();
      assert.deepEqual(await said().locator('[data-act]').allInnerTexts(), ['Edit', 'Fork from Here', '']);
    });

    it('has a heading that says whose it is, above those in it', async () => {
      await show([...begin, ...reads, ...concludes]);
      const headings = await test.page
        .getByRole('heading')
        .evaluateAll((all) => all.map((one) => `${one.tagName} ${one.textContent}`));
      assert.deepEqual(headings, ['H1 Add a --json flag', ...['H2 You', 'H2 Towpath', 'H2 Towpath', 'H3 Done']]);
      assert.equal(await test.page.getByRole('article', { name: 'Towpath' }).count(), 2);
    });

    it('is said otherwise in the message box, which asks once what becomes of the files', async () => {
      await show([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail, ...concludes]);
      await composer().fill('meanwhile');
      await said().hover();
      await act('edit').click();
      assert.match((await find('saying').innerText()).replace(/\s+/g, ' '), /Files: Keep restore \(1\)/);
      await find('saying').getByText('restore (1)').click();
      await composer().fill('Add a `--yaml` flag.');
      await test.page.keyboard.press('Enter');
      await test.send();
      assert.deepEqual(await posted(), [
        { type: 'edit-said', runId: 'run-1', at: 0, text: 'Add a `--yaml` flag.', restore: true },
      ]);
      await test.send();
      assert.equal(await composer().inputValue(), 'meanwhile', 'what stood there comes back');
      assert.equal(await find('saying').count(), 0);
    });

    it('of the model is answered again, or by another model, once the run rests', async () => {
      const answers = [...begin, ...reads, ...concludes];
      await show(answers, {}, answers.length - 1);
      const reply = test.page.locator('[data-role="assistant"]').last();
      await reply.hover();
      for (const name of ['retry', 'retry-with']) await act(name).click();
      const at = 3;
      assert.deepEqual(await posted(), [
        { type: 'retry-reply', runId: 'run-1', at },
        { type: 'retry-reply', runId: 'run-1', at, other: true },
      ]);
    });

    it('is gone to by Alt and an arrow, from the message box on, and its acts by Tab', async () => {
      await show([...begin, ...reads, ...concludes]);
      await composer().focus();
      const here = () => test.page.locator('article:focus').getAttribute('data-role');
      await test.page.keyboard.press('Alt+ArrowUp');
      assert.equal(await here(), 'assistant');
      for (let step = 0; step < 2; step++) await test.page.keyboard.press('Alt+ArrowUp');
      assert.equal(await here(), 'user');
      await test.page.keyboard.press('Tab');
      await test.page.keyboard.press('Enter');
      assert.deepEqual((await posted()).at(-1)?.type, 'copy');
    });
  });

  for (const [took, words] of [
    [
      { turns: 50, ms: 754_000, tokens: 340_000, cost: 0.8, files: 6 },
      'Stopped at the limit of 50 steps · $0.80 · 6 files',
    ],
    [{ turns: 1, ms: 900, tokens: 0, files: 1 }, 'Stopped at the limit of 1 step · 1 file'],
    [
      { turns: 50, ms: 60_000, tokens: 1_200_000, cost: 0.0034, files: 0 },
      'Stopped at the limit of 50 steps · $0.0034 · 1.2M tokens',
    ],
    [undefined, 'The limit is reached.'],
  ] as const) {
    it(`says what the turns took that there is a limit for: ${words}`, async () => {
      const error = { code: 'ENGINE_MAX_TURNS_EXCEEDED', message: 'The limit is reached.' };
      await show([...begin, ...reads, { type: 'phase', phase: 'Failed', error, took }]);
      assert.equal((await find('phase').innerText()).replace(/\s+/g, ' ').trim(), `${words} Continue`);
    });
  }

  it('what was done is reviewed from its receipt, all in one editor', async () => {
    await show([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail, ...concludes]);
    assert.match((await find('phase').innerText()).replace(/\s+/g, ' '), /^Done · 1 file .* Review$/);
    await find('review-run').click();
    assert.deepEqual(await posted(), [{ type: 'review-files', runId: 'run-1' }]);
  });

  it('puts the keys into the message when it is to be said what to do instead', async () => {
    const error = { code: 'ENGINE_LOOP_DETECTED', message: 'The same call failed 3 times: fs.read {}.' };
    await show([...begin, { type: 'phase', phase: 'WaitingUser', error }]);
    await find('say-instead').click();
    await test.page.keyboard.type('Look at b.');
    assert.equal(await composer().inputValue(), 'Look at b.');
  });

  it('posts what a person asks for, and nothing else', async () => {
    await show([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests.slice(0, 0), ...concludes.slice(2, 4)]);
    await card(editCall.id).getByTestId('open-diff').click();
    await card(editCall.id).getByTestId('undo').click();
    await test.page.getByRole('button', { name: 'the test' }).click();
    await test.page.getByTitle('Copy this code').click();
    await find('stop').click();
    await find('model').click();
    await find('new-run').click();
    await test.send();
    assert.deepEqual(await posted(), [
      { type: 'open-diff', runId: 'run-1', toolCallId: editCall.id },
      { type: 'undo', runId: 'run-1', toolCallIds: [editCall.id] },
      { type: 'open-file', path: 'test/cli.test.ts', line: 12 },
      { type: 'copy', text: 'print(json ? encode(rows) : rows);' },
      { type: 'stop' },
      { type: 'action', action: 'pick-model' },
      { type: 'new-run' },
    ]);
  });

  it('code is inserted, applied by the model, opened and typed; nothing of it decides anything', async () => {
    await show([...begin, ...reads, ...asks]);
    const code = test.page.locator('pre').first();
    await code.getByText('Insert').click();
    await code.getByText('More').click();
    for (const label of ['Apply', 'New File', 'Insert into Terminal']) await code.getByText(label).click();
    const used = { type: 'use-code', text: 'print(json ? encode(rows) : rows);', language: 'ts' };
    assert.deepEqual(
      await posted(),
      ['insert', 'apply', 'new-file', 'terminal'].map((how) => ({ ...used, how })),
    );
    const lines = () =>
      code
        .locator('code')
        .evaluate((element) => (globalThis as unknown as Styles).getComputedStyle(element).whiteSpace);
    assert.equal(await lines(), 'pre');
    await code.getByText('Wrap').click();
    assert.equal(await lines(), 'pre-wrap');
  });

  it('text and commands wrap where there is little room, and can be unwrapped; other code does not', async () => {
    const content = 'So:\n\n```sh\nnpm test\n```\n\n```ts\nlet a;\n```\n';
    await show([...begin, { type: 'message', message: { role: 'assistant', content } }]);
    const wraps = () =>
      test.page
        .locator('pre > code')
        .evaluateAll((all) => all.map((one) => (globalThis as unknown as Styles).getComputedStyle(one).whiteSpace));
    await test.page.setViewportSize({ width: 420, height: 800 });
    assert.deepEqual(await wraps(), ['pre', 'pre']);
    await test.page.setViewportSize({ width: 240, height: 800 });
    assert.deepEqual(await wraps(), ['pre-wrap', 'pre']);
    const first = test.page.locator('pre').first();
    await first.getByText('More').click();
    await first.getByText('Wrap').click();
    assert.deepEqual(await wraps(), ['pre', 'pre']);
  });

  it('thinking says its last line while it runs, and how long it took', async () => {
    const thinks: RunEventBody[] = [{ type: 'chunk', thinking: 'First the `flag`.\nThen **the test**' }];
    await show([...begin, ...thinks], {}, begin.length);
    assert.equal(
      (await test.page.locator('.thinking summary').innerText()).replace(/\s+/g, ' '),
      'Thinking Then the test',
    );
    const message = { role: 'assistant', thinking: 'First.', thoughtMs: 12_300, content: 'Done.' } as const;
    await show([...begin, { type: 'message', message }]);
    assert.equal(await test.page.locator('.thinking summary').innerText(), 'Thought for 12\u00a0s');
  });

  it('says from where on another model answers, once something was answered', async () => {
    const said = (content: string): RunEventBody => ({ type: 'message', message: { role: 'assistant', content } });
    await show([
      ...begin,
      { type: 'model', model: 'vllm/first' },
      said('I cannot.'),
      { type: 'model', model: 'vllm/lost' },
      { type: 'model', model: 'openai-compatible/qwen3-coder' },
      said('I can.'),
    ]);
    assert.match(await reading(), /I cannot\.\nFrom here on: Qwen3 Coder\nI can\./);
    assert.doesNotMatch(await reading(), /vllm/);
  });

  it('says where a full window was emptied, and shows the summary', async () => {
    const words = 'They want a `--json` flag. '.repeat(20).trim();
    const said = (content: string): RunEventBody => ({ type: 'message', message: { role: 'assistant', content } });
    await show([
      ...begin,
      ...reads,
      { type: 'compaction', upTo: 2 },
      { type: 'compaction', upTo: 3, most: 1200 },
      said('It is one line.'),
      { type: 'compaction', upTo: 3, most: 300 },
      said('Still one.'),
      { type: 'compaction', upTo: 3, summary: words, kept: 'Changed files:\n- cli.ts' },
    ]);
    const lines = (await reading()).split('\n');
    const from = lines.findIndex((line) => line.startsWith('Compacted'));
    assert.deepEqual(lines.slice(from, from + 5), [
      'Compacted: the model sees older tool output shortened from here on. Nothing is lost here.',
      'It is one line.',
      'Compacted: the model sees older tool output, and long answers of its own, shortened from here on. Nothing is lost here.',
      'Still one.',
      'Compacted: the model sees a summary of the oldest steps from here on. Nothing is lost here.',
    ]);
    assert.match(lines[from + 5]!, /^They want a `--json` flag\./);
    await test.page.locator('[data-role="compaction"] .more').click();
    await test.send();
    assert.deepEqual((await reading()).split('\n').slice(from + 5, from + 8), [words, 'Changed files:', '- cli.ts']);
  });

  it('pauses after the turn, says so meanwhile, and offers to go on', async () => {
    await show([...begin, ...reads]);
    await find('send-menu').click();
    await find('pause').click();
    const later = (from: number, ...bodies: RunEventBody[]) =>
      test.send({ type: 'events', events: eventsOf('run-1', bodies, from) });
    const from = begin.length + reads.length;
    await later(from, { type: 'pausing' });
    assert.equal(await find('progress').innerText(), 'Working; pausing after this step');
    await find('send-menu').click();
    assert.equal(await find('pause').innerText(), 'Pausing After This Step');
    await find('pause').dispatchEvent('click');
    await later(from + 1, { type: 'phase', phase: 'WaitingUser' });
    assert.match(await find('phase').innerText(), /^Paused\./);
    assert.equal(await find('send-menu').count(), 0);
    await find('continue').click();
    assert.deepEqual(await posted(), [{ type: 'pause' }, { type: 'continue' }]);
  });

  it('offers to undo what still stands, one change or all of a reply', async () => {
    const calls = ['one', 'two'].map((id) => ({ id, name: 'fs.write', arguments: { path: id, content: '' } }));
    const changes = (path: string) => [{ path, before: null, after: 'a'.repeat(64) }];
    await show([
      ...begin,
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: calls } },
      ...calls.map(({ id, name }) => ({
        type: 'tool-end' as const,
        toolCallId: id,
        name,
        ok: true,
        ms: 1,
        changes: changes(id),
      })),
      { type: 'phase', phase: 'WaitingUser' },
    ]);
    await find('undo-turn').click();
    assert.deepEqual(await posted(), [{ type: 'undo', runId: 'run-1', toolCallIds: ['one', 'two'] }]);
    await test.send({
      type: 'events',
      events: eventsOf('run-1', [{ type: 'undo', toolCallIds: ['one'], changes: changes('one') }], 8),
    });
    assert.match(await card('one').innerText(), /Undone/);
    assert.deepEqual([await card('one').getByTestId('undo').count(), await find('undo-turn').count()], [0, 0]);
    await card('two').getByTestId('undo').click();
    assert.deepEqual((await posted()).at(-1), { type: 'undo', runId: 'run-1', toolCallIds: ['two'] });
  });

  it('shows the plan as a checklist, until all of it is done and the run rests', async () => {
    const plan = (id: string, statuses: string[]): RunEventBody[] => {
      const texts = ['Read the CLI', 'Add the \u202eflag', 'Test it'];
      const items = texts.map((text, index) => ({ text, status: statuses[index]! }));
      const call = { id, name: 'plan.update', arguments: { items } };
      return [
        { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call] } },
        { type: 'tool-start', toolCallId: id, name: call.name },
        { type: 'tool-end', toolCallId: id, name: call.name, ok: true, ms: 1 },
        {
          type: 'message',
          message: { role: 'tool', content: '', toolResults: [toToolResult(id, { ok: true, data: null })] },
        },
      ];
    };
    const first = [...begin, ...plan('p1', ['pending', 'pending', 'pending'])];
    const second = [...first, ...plan('p2', ['done', 'active', 'pending'])];
    await show(second, {}, first.length);
    assert.equal(await find('strip-plan').innerText(), 'Plan\n1/3');
    await find('strip-plan').click();
    assert.equal(
      await find('plan').ariaSnapshot(),
      `
- region "Plan, 1 of 3 done":
  - list:
    - listitem:
      - img "done"
      - text: Read the CLI
    - listitem:
      - img "in progress"
      - text: Add the ⟨U+202E⟩flag
    - listitem:
      - img "to do"
      - text: Test it
`.trim(),
    );
    assert.equal(await find('plan-close').count(), 1, 'what is not done can be put away');
    await show([...second, ...plan('p3', ['done', 'done', 'done']), ...concludes]);
    assert.equal(await find('strip-plan').count(), 0);

    await show([...second, ...concludes]);
    await find('plan-close').click();
    await test.send();
    assert.equal(await find('strip-plan').count(), 0);
    await show([...second, ...plan('p3', ['done', 'done', 'pending']), ...concludes]);
    assert.equal(await find('strip-plan').innerText(), 'Plan\n2/3', 'another plan is there again');
  });

  it('at 200 % zoom half of the height is the conversation’s, also while the list of a long plan is open', async () => {
    await test.page.setViewportSize({ width: 720, height: 450 });
    const items = Array.from({ length: 30 }, (_, at) => ({ text: `Step ${at}`, status: 'pending' }));
    const call = { id: 'p1', name: 'plan.update', arguments: { items } };
    await show([
      ...begin,
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call] } },
      { type: 'tool-end', toolCallId: 'p1', name: call.name, ok: true, ms: 1 },
    ]);
    const height = async () => (await test.page.locator('main').boundingBox())!.height;
    assert.ok((await height()) >= 225, `${await height()} of 450`);
    await find('strip-plan').click();
    await find('plan').waitFor();
    assert.ok((await height()) >= 225, `opened: ${await height()} of 450`);
  });

  it('says in words for a person what they undid, and folds what else is told to the model', async () => {
    const note = (content: string): RunEventBody => ({ type: 'message', message: { role: 'system', content } });
    await show([
      ...begin,
      note('The person has undone your changes of: src/cli.ts. Read again before you edit.'),
      note(
        'The command "npm run dev" (b1) in the background exited with code 1.\nWhat it wrote: output.read with the id b1.',
      ),
    ]);
    assert.match(
      await reading(),
      /\nYou undid the changes in src\/cli\.ts\nThe model is informed: the background command “npm run dev” exited with code 1\nWorking$/,
    );
    for (const [told, words] of [
      ['The command "echo \\"a\\"" (b1) in the background was stopped by the person. What it wrote: output.read with the id b1.', 'The model is informed: the background command “echo "a"” was stopped by you'],
      ['The command "npm run dev" (b1) in the background continued without its window. Still running: node (7).', 'The model is informed: the background command “npm run dev” continued without its window. Still running: node (7)'],
      ['The command "npm run dev" (b1) in the background went on without its window. Still at work of it: node (7).', 'The model is informed: the background command “npm run dev” went on without its window. Still running: node (7)'],
      ['The person has taken back 1 of your 2 changes of a.ts. Of yours, this is gone:\nx\nRead again before you edit.', 'The model is informed: you have undone 1 of its 2 changes to a.ts'],
      ['The person (or a command) has changed a.ts since you did.\nRead again before you edit.', 'The model is informed: you (or a command) have changed a.ts since then'],
      ['The person has deleted a.ts, which you changed.', 'The model is informed: you have deleted a.ts, which it had changed'],
      ['Of files that you have come to, files of this workspace say to agents:\n<x>', 'Instructions of this workspace for the files that the model has opened'],
      ['NODE_REMINDER\n- nodeId: judge\n- missing: write a.md\n- how: x', 'The model is reminded of what node judge still needs'],
    ] as const) {
      await show([...begin, note(told)]);
      assert.equal((await test.page.locator('.brief-title').innerText()).trim(), words);
    } // biome-ignore format: rows
  });

  it('says what is told to the model by the note beside the text, whatever the text says', async () => {
    const note = { line: message('You undid the changes in {0}', 'a\u202e.ts'), whole: true as const };
    await show([...begin, { type: 'message', message: { role: 'system', content: 'Reworded.', note } }]);
    assert.match(await reading(), /\nYou undid the changes in a⟨U\+202E⟩\.ts\nWorking$/);
    const title = {
      line: message('The model is informed: you {0}', message('have deleted {0}, which it had changed', 'a')),
    };
    await show([...begin, { type: 'message', message: { role: 'system', content: 'Reworded.', note: title } }]);
    assert.equal(
      (await test.page.locator('.brief-title').innerText()).trim(),
      'The model is informed: you have deleted a, which it had changed',
    );
  });

  it('cuts what is told to the model at the panel’s edge, where it is long', async () => {
    const content = `What AGENTS.md says has changed: ${'one more rule, '.repeat(20)}`;
    await show([...begin, { type: 'message', message: { role: 'system', content } }]);
    const { x, width } = (await test.page.locator('.brief-title').boundingBox())!;
    assert.ok(x + width <= test.page.viewportSize()!.width, `it ends at ${x + width}`);
  });

  it('folds what a package’s workflow tells the model, under the name of its node', async () => {
    const brief = 'RUN_DIRECTIVE\n- currentNodeId: judge\n- effectiveAgentId: jim\n\nNODE_BRIEF\n- title: \u202eevil';
    await show([...begin, { type: 'message', message: { role: 'system', content: brief } }]);
    const told = test.page.locator('[data-role="brief"]');
    assert.equal((await told.innerText()).trim(), 'Node judge, as jim');
    await told.locator('summary').click();
    assert.match(await told.innerText(), /^Node judge, as jim\s+RUN_DIRECTIVE\n[\s\S]*- title: ⟨U\+202E⟩evil$/);
  });

  it('opens the whole output of a command that gave more than is told', async () => {
    const told = testsFail.map((event) => (event.type === 'tool-end' ? { ...event, outputId: 'c'.repeat(64) } : event));
    await show([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...told]);
    await card(testCall.id).getByTestId('open-output').click();
    assert.deepEqual(await posted(), [{ type: 'open-output', runId: 'run-1', toolCallId: testCall.id }]);
    assert.equal(await card(editCall.id).getByTestId('open-output').count(), 0);
  });

  it('brings a question to the front, but cannot answer it', async () => {
    await show([...begin, ...reads, ...asks]);
    await find('show-question').click();
    assert.deepEqual(await posted(), [{ type: 'show-question', runId: 'run-1', toolCallId: editCall.id }]);
  });

  it('opens a link through the host only', async () => {
    await show([...begin, { type: 'chunk', content: 'See [it](https://example.test/a).' }]);
    await test.page.getByTitle('Open https://example.test/a').click();
    assert.deepEqual(await posted(), [{ type: 'open-link', url: 'https://example.test/a' }]);
  });

  it('a link is part of its sentence, and opens by keyboard too', async () => {
    const content = 'See [this page of ours](https://example.test/a), then [a file](src/a.ts:3).';
    await test.page.setViewportSize({ width: 200, height: 700 });
    await show([...begin, { type: 'chunk', content }]);
    const [link, words] = await test.page
      .locator('[data-role="assistant"] .link')
      .first()
      .evaluate((one) => [one.getClientRects().length, one.textContent]);
    assert.deepEqual([link! > 1, words], [true, 'this page of ours (example.test)'], 'it goes on in the next line');
    await test.page.getByRole('button', { name: 'this page' }).press('Enter');
    await test.page.getByRole('button', { name: 'a file' }).press(' ');
    assert.deepEqual(await posted(), [
      { type: 'open-link', url: 'https://example.test/a' },
      { type: 'open-file', path: 'src/a.ts', line: 3 },
    ]);
  });

  it('lets every paragraph and list run the way of its script', async () => {
    await show([...begin, { type: 'chunk', content: 'Left.\n\nمرحبا\n\n- البند\n\n> اقتباس\n\n- left' }]);
    const sides = await test.page.locator('[data-role="assistant"] .markdown').evaluate((markdown) =>
      [...markdown.querySelectorAll('p, li')].map((one) => {
        const range = one.ownerDocument.createRange();
        range.selectNodeContents(one);
        const [words, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
        return words.left - box.left < box.right - words.right ? 'left' : 'right';
      }),
    );
    assert.deepEqual(sides, ['left', 'right', 'right', 'right', 'left']);
  });

  it('Enter sends, Shift+Enter makes a line', async () => {
    await show(begin);
    await composer().pressSequentially('one');
    await composer().press('Shift+Enter');
    await composer().pressSequentially('two');
    await composer().press('Enter');
    assert.deepEqual(await posted(), [{ type: 'send', text: 'one\ntwo' }]);
    await test.send();
    assert.equal(await composer().inputValue(), '');
  });

  it('is the same with the keys as without them: a button above it stays under the pointer that presses it', async () => {
    const look = async () => {
      await test.send(); // drawn anew
      return [(await composer().boundingBox())!.height, await composer().getAttribute('placeholder')];
    };
    for (const width of [230, 300, 480]) {
      await test.page.setViewportSize({ width, height: 700 });
      await composer().focus();
      const focused = await look();
      await composer().blur();
      assert.deepEqual(await look(), focused);
    }
  });

  it('↑ in an empty message box brings back what was said last, and not over what is being written', async () => {
    await show(begin);
    const said = begin.flatMap((event) =>
      event.type === 'message' && event.message.role === 'user' ? [event.message.content] : [],
    );
    const holds = async (text?: string) => {
      await test.send(); // the box shows what was put into it a frame later
      assert.equal(await composer().inputValue(), text);
    };
    await composer().press('ArrowUp');
    await holds(said.at(-1));
    await composer().fill('Other');
    await composer().press('ArrowUp');
    await holds('Other');
    await composer().fill('');
    await composer().dispatchEvent('keydown', { key: 'ArrowUp', isComposing: true, bubbles: true });
    await holds('');
  });

  it('Escape twice in an empty message box stops what is at work, and nothing else does by chance', async () => {
    const stops = async () => (await posted()).filter(({ type }) => type === 'stop').length;
    const hint = async () => composer().getAttribute('placeholder');
    await show(begin);
    await composer().fill('words');
    await composer().press('Escape');
    await composer().press('Escape');
    assert.deepEqual([await stops(), await hint()], [0, 'Enter: next step · Alt+Enter: when finished']);
    await composer().fill('');
    await composer().dispatchEvent('keydown', { key: 'Escape', bubbles: true });
    await composer().dispatchEvent('keydown', { key: 'Escape', bubbles: true, repeat: true });
    await composer().dispatchEvent('keydown', { key: 'Escape', bubbles: true, isComposing: true });
    await eventually('it says what a second one does', async () => (await hint()) === 'Press Esc again to stop');
    assert.equal(await stops(), 0, 'a key that is held down is one press');
    await eventually('that does not last', async () => (await hint()) !== 'Press Esc again to stop');
    await eventually('it is stopped', async () => {
      await test.page.keyboard.press('Escape'); // on a busy machine two may be too far from each other
      return (await stops()) === 1;
    });
    await eventually('nothing more is said of it', async () => (await hint()) !== 'Press Esc again to stop');
  });

  it('an Enter that ends a composition does not send', async () => {
    await show(begin);
    await composer().fill('か');
    await composer().dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, composed: true });
    assert.deepEqual(
      (await posted()).filter(({ type }) => type === 'send'),
      [],
    );
    await find('send').click();
    assert.deepEqual(
      (await posted()).filter(({ type }) => type === 'send'),
      [{ type: 'send', text: 'か' }],
    );
  });

  /** What the panel answers to the host's look. */
  const here = async (look: number) => {
    await test.send({ type: 'look', look });
    const answers = () => posted().then((all) => all.filter((one) => one.type === 'here' && one.look === look));
    await eventually('it answers', async () => (await answers()).length === 1);
    return (await answers())[0] as ViewMessage & { type: 'here' };
  };
  /** What a test that is held up for a while cannot take for a pause of somebody who types: an hour in the page. */
  const never = 1e8;

  it('says that nothing was done, and whether keys land in it', async () => {
    await show(begin);
    await test.renew();
    const answer = await here(7);
    assert.ok(answer.idleMs > never, JSON.stringify(answer));
    await composer().focus();
    assert.equal((await here(8)).focused, true);
  });

  const doings: [what: string, act: () => Promise<unknown>][] = [
    ['a key in the message', () => composer().press('x')],
    ['a key that scrolls', () => test.page.locator('.scroller').press('PageUp')],
    ['the wheel', () => test.page.mouse.wheel(0, -50)],
    ['a click into the text', () => test.page.locator('.transcript').click({ position: { x: 5, y: 5 } })],
  ];
  for (const [what, act] of doings)
    it(`says how long ago ${what} was`, async () => {
      await show([...begin, ...reads]);
      await test.page.mouse.move(100, 200);
      await act();
      await eventually('it was noticed', async () => (await here(Math.random())).idleMs < never);
    });

  it('a pointer that is held selects, however still; one that passes by does nothing', async () => {
    await show([...begin, ...reads]);
    await test.page.mouse.move(100, 100);
    await test.page.mouse.move(120, 120);
    assert.ok((await here(1)).idleMs > never);
    await test.page.mouse.down();
    await test.page.mouse.move(150, 150);
    await test.page.evaluate('new Promise((resolve) => setTimeout(resolve, 30))');
    assert.equal((await here(2)).idleMs, 0);
    await test.page.mouse.up();
  });

  it('a key counts from when it was pressed, not from when a busy page came to it', async () => {
    await show(begin);
    await test.page.evaluate(`{
      const late = new KeyboardEvent('keydown', { key: 'x' });
      Object.defineProperty(late, 'timeStamp', { value: performance.now() - 5000 });
      window.dispatchEvent(late);
    }`);
    const { idleMs } = await here(3);
    assert.ok(idleMs >= 5000 && idleMs < never, String(idleMs));
  });

  it('what is said to a run at work is seen to wait, however it was said', async () => {
    const said: RunEventBody = { type: 'queued', text: 'And the README.' };
    await show([...begin, said], {}, begin.length);
    await find('waiting').getByText('And the README.').waitFor();
    await find('strip-waiting').click();
    await find('waiting').waitFor({ state: 'detached' });
    await test.send({ type: 'events', events: eventsOf('run-2', [...begin, said, said, said]).slice(-1) });
    assert.equal(await find('waiting').count(), 0, 'what is said to another run is seen there');
  });

  it('what no run has heard is in the message box again, with its picture, and is said once it can be', async () => {
    const picture = { mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'shot.png' };
    const rested = [...begin, ...concludes];
    await show(rested);
    await test.page.evaluate(
      (images) => {
        const page = globalThis as unknown as {
          sessionStorage: { getItem(key: string): string; setItem(key: string, value: string): void };
        };
        page.sessionStorage.setItem(
          'state',
          JSON.stringify({ ...JSON.parse(page.sessionStorage.getItem('state')), images }),
        );
      },
      [picture],
    );
    const said = { type: 'send', text: 'Go on here.', attachments: [picture] };
    await composer().fill('Go on here.');
    await composer().press('Enter');
    await composer().fill('And quickly.');
    await test.send({ type: 'unheard', text: 'Go on here.' });
    assert.equal(await composer().inputValue(), 'Go on here.\n\nAnd quickly.');
    assert.equal(await find('pictures').locator('img').count(), 1);
    await composer().fill('Go on here.');
    await test.send({ type: 'say-unheard' });
    assert.deepEqual(await posted(), [said], 'what was changed since is not sent by itself');
    await composer().press('Enter');
    await test.send({ type: 'unheard', text: 'Go on here.' }, { type: 'say-unheard' });
    assert.deepEqual(await posted(), [said, said, said]);
    assert.equal(await composer().inputValue(), '');
  });

  it('a message said while the run goes on says when it is given, and can be changed, moved and taken back', async () => {
    await show([...begin, { type: 'queued', text: 'And the README.' }]);
    await find('strip-waiting').click();
    assert.match(await find('waiting').innerText(), /And the README\.\s+Sent at the next step/);
    await posted();
    const where = { runId: 'run-1', queued: begin.length + 1 };
    const press = (id: string) => test.page.getByTestId(`waiting-${id}`).click();
    const composer = test.page.getByTestId('composer').getByRole('textbox');
    await composer.fill('A draft');
    const holds = (text: string) =>
      eventually(`the message box holds "${text}"`, async () => (await composer.inputValue()) === text);
    await press('edit');
    await holds('And the README.');
    await composer.fill('And the CHANGELOG.');
    await composer.press('Enter');
    await holds('A draft');
    for (const id of ['when', 'now', 'remove']) await press(id);
    await composer.press('Alt+Enter');
    assert.deepEqual(await posted(), [
      { type: 'change-waiting', ...where, text: 'And the CHANGELOG.', when: 'turn' },
      { type: 'change-waiting', ...where, when: 'done' },
      { type: 'change-waiting', ...where, when: 'now' },
      { type: 'take-back', ...where },
      { type: 'send', text: 'A draft', when: 'done' },
    ]);
  });

  describe('pictures', () => {
    /** A picture of the panel itself, as a file in base64. */
    const drawn = async (width: number, height: number) => {
      await test.page.setViewportSize({ width: Math.max(420, width), height: Math.max(800, height) });
      const clip = { x: 0, y: 0, width, height };
      return (await test.page.screenshot({ clip })).toString('base64');
    };
    const choose = async (name: string, mimeType: string, base64: string) => {
      const chooser = test.page.waitForEvent('filechooser');
      await find('attach').click();
      await (await chooser).setFiles({ name, mimeType, buffer: Buffer.from(base64, 'base64') });
    };
    const sent = async () => (await posted()).filter((message) => message.type === 'send');
    const picked = () => find('pictures').locator('img');

    it('go with the message they were added to, as they are when they are small', async () => {
      const data = await drawn(40, 30);
      await show(begin);
      await choose('shot.png', 'image/png', data);
      await picked().waitFor();
      await composer().fill('What is wrong here?');
      await find('send').click();
      const attachments = [{ mediaType: 'image/png', data, name: 'shot.png' }];
      assert.deepEqual(await sent(), [{ type: 'send', text: 'What is wrong here?', attachments }]);
      await picked().waitFor({ state: 'detached' });
      await test.send({
        type: 'events',
        events: eventsOf('run-1', [{ type: 'queued', text: 'What is wrong here?', attachments }] as RunEventBody[], 4),
      });
      assert.equal(await find('waiting').getByAltText('shot.png').count(), 1, 'what was said is seen where it waits');
    });

    it('of a result are shown in its card, when it is opened', async () => {
      const attachments = [{ mediaType: 'image/png', data: await drawn(40, 30), name: 'shot.png' }];
      const result = toToolResult(readCall.id, { ok: true, data: { path: 'shot.png' }, attachments });
      const message = { role: 'tool' as const, content: '' as const, toolResults: [result] };
      await show([...begin, ...reads.slice(0, -1), { type: 'message', message }]);
      const image = card(readCall.id).getByAltText('shot.png');
      assert.equal(await image.count(), 0);
      await card(readCall.id).locator('.card-toggle').click();
      await test.send();
      assert.equal(await image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth), 40);
    });

    it('are made smaller when they are larger than a model looks at', async () => {
      await show(begin);
      await choose('wall.png', 'image/png', await drawn(4000, 2000));
      await picked().waitFor();
      const [width, height] = await picked().evaluate((image) => {
        const { naturalWidth, naturalHeight } = image as unknown as { naturalWidth: number; naturalHeight: number };
        return [naturalWidth, naturalHeight];
      });
      assert.deepEqual([width, height], [1568, 784]);
      await find('send').click();
      const [message] = await sent();
      assert.deepEqual([message?.text, message?.attachments?.[0]?.mediaType], ['', 'image/jpeg']);
    });

    it('come by paste, survive a hidden view, and can be taken away', async () => {
      const data = await drawn(40, 30);
      await show(begin);
      await composer().focus();
      await test.page.evaluate(`{
        const bytes = Uint8Array.from(atob('${data}'), (letter) => letter.charCodeAt(0));
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
        const how = { clipboardData, bubbles: true, composed: true, cancelable: true };
        document.activeElement.dispatchEvent(new ClipboardEvent('paste', how));
      }`);
      await picked().waitFor();
      await test.page.reload();
      await show(begin);
      assert.equal(await picked().count(), 1);
      await test.page.getByLabel('Remove pasted.png').click();
      await picked().waitFor({ state: 'detached' });
      await composer().fill('Never mind.');
      await find('send').click();
      assert.deepEqual(await sent(), [{ type: 'send', text: 'Never mind.' }]);
    });

    it('that are none, or that the model cannot see, are refused in words', async () => {
      await show(begin);
      await choose('broken.png', 'image/png', Buffer.from('not a picture').toString('base64'));
      await find('notice').waitFor();
      assert.match(await find('notice').innerText(), /broken\.png cannot be read as a picture/);
      const models = readyState.models.map((model) => ({ ...model, images: false }));
      await show(begin, { models });
      assert.equal(await find('attach').count(), 0);
    });
  });

  it('tells what the run took, and what it cost where the price is known', async () => {
    const usage = { promptTokens: 12_000, completionTokens: 300, totalTokens: 12_300 };
    const used = (cost: object): RunEventBody => ({
      type: 'usage',
      usage: { ...usage, ...cost },
      attempts: 1,
      model: 'm',
      ms: 1,
    });
    const costs: [total: string, cost: string, ...used: RunEventBody[]][] = [
      ['12.3k', 'no price', used({})],
      ['24.6k', 'about $0.03', used({ cost: 0.0125 }), used({ cost: 0.02 })],
      ['12.3k', 'free', used({ cost: 0 })],
      ['12.3k', 'under $0.0001', used({ cost: 0.00002 })],
      ['24.6k', 'about $0.01, and 12.3k tokens without a price', used({ cost: 0.0125 }), used({})],
    ];
    for (const [total, cost, ...events] of costs) {
      await show([...begin, ...events]);
      await find('meter').click();
      assert.equal(
        (await find('meter-popover').innerText()).replace(/\s+/g, ' '),
        `12.3k, window unknown · Set… This run in total ${total} Cost ${cost} Compact Now`,
      );
      await test.page.keyboard.press('Escape');
    }
    await show([...begin, used({ cost: 1 })], { limits: { run: 2 } });
    await find('meter').click();
    assert.match(await find('meter-popover').innerText(), /about \$1, of \$2\s/);
  });

  describe('the meter', () => {
    const filling = {
      ...{ total: 31_800, size: 32_768, roomAt: 27_853 },
      ...{ instructions: 2000, tools: 3000, words: 500, output: 20_000, answers: 4000, summary: 0, leftOut: 8000 },
    };
    const usage = { promptTokens: 31_000, completionTokens: 800, totalTokens: 31_800, cachedTokens: 28_000 };
    const used = (more: object): RunEventBody => ({
      type: 'usage',
      usage,
      attempts: 1,
      model: 'm',
      ms: 1,
      filling: { ...filling, ...more },
    });

    it('says how full the window is, warns from 90 % on, and marks where room is made by itself', async () => {
      await show([...begin, used({})]);
      assert.equal(await test.page.locator('.meter-label').textContent(), '97%');
      assert.match((await find('meter').getAttribute('class')) ?? '', /full/);
      assert.match((await test.page.locator('.meter-mark').getAttribute('transform'))!, /^rotate\(306/);
      await show([...begin, used({ size: 100_000 })]);
      assert.equal(await test.page.locator('.meter-label').textContent(), '32%');
      assert.doesNotMatch((await find('meter').getAttribute('class')) ?? '', /full/);
    });

    it('tells by click and by key what fills it, and closes at Escape, with the keys where they were', async () => {
      await show([...begin, used({})]);
      const told = async () => (await find('meter-popover').innerText()).replace(/\s+/g, ' ');
      await find('meter').focus();
      await test.page.keyboard.press('Enter');
      assert.equal(
        await told(),
        '97% · 31.8k of 32.8k Instructions about 2.1k Tools about 3.1k Your messages about 525 Files and output about 21.0k ' +
          'Answers about 5.0k Left out about 8.4k Read from cache 28.0k This run in total 31.8k Cost no price Compact Now',
      );
      await test.page.keyboard.press('Escape');
      await find('meter-popover').waitFor({ state: 'detached' });
      assert.equal(await test.page.locator('[data-testid="meter"]:focus').count(), 1);
      for (const [ms, pace] of [
        [9000, '100 tokens per second'],
        [200_000, '4.0 tokens per second'],
      ]) {
        await show([...begin, { ...used({}), ms, delayMs: ms === 9000 ? 1000 : 0 } as RunEventBody]);
        await find('meter').click();
        assert.ok((await told()).includes(`Newest answer ${pace} This run`), await told());
        await test.page.keyboard.press('Escape');
      }
      await find('meter').click();
      await find('meter-popover').waitFor();
      await composer().click();
      await find('meter-popover').waitFor({ state: 'detached' });
    });

    it('names the files whose instructions are sent, and says which are cut', async () => {
      const files = [
        { path: 'AGENTS.md', tokens: 1000 },
        { path: 'docs/\u202eCLAUDE.md', tokens: 300, cut: true as const },
        { path: 'skills', tokens: 0, cut: true as const },
      ];
      await show([...begin, used({ files })]);
      await find('meter').click();
      assert.match(
        (await find('meter-popover').innerText()).replace(/\s+/g, ' '),
        /Instructions about 2.1k AGENTS.md about 1.1k docs \/⟨U\+202E⟩CLAUDE.md about 315, cut skills no space Tools/,
      );
    });

    it('knows the size that the host knows, and where to set it when nobody does', async () => {
      await show([...begin, used({ size: undefined, roomAt: undefined })]);
      assert.equal(await test.page.locator('.meter-label').textContent(), '31.8k/?');
      await find('meter').click();
      await find('set-window').click();
      assert.deepEqual(await posted(), [{ type: 'measure-room' }, { type: 'action', action: 'set-window' }]);
      await test.send({ type: 'state', state: { ...readyState, modelId: 'qwen3-coder', window: 64_000 } });
      assert.equal(await test.page.locator('.meter-label').textContent(), '50%');
    });

    it('makes room at a press, and says before what that frees', async () => {
      await show([...begin, used({})]);
      await find('meter').click();
      const acts = async () => (await test.page.locator('.meter-acts').innerText()).replace(/\s+/g, ' ').trim();
      assert.equal(await acts(), 'Compact Now');
      await test.send({ type: 'room', runId: 'run-1', frees: 12_300 });
      assert.equal(await acts(), 'Compact Now frees about 12.3k');
      await test.send({ type: 'room', runId: 'run-1', frees: 0 });
      assert.equal(await acts(), 'Compact Now nothing to compact');
      await test.send({ type: 'room', runId: 'run-1', frees: 5 });
      await find('compact').click();
      await find('meter-popover').waitFor({ state: 'detached' });
      assert.deepEqual(await posted(), [{ type: 'measure-room' }, { type: 'action', action: 'compact' }]);
    });

    it('draws nothing out of its place for numbers that a file has made up', async () => {
      await show([...begin, used({ total: -5, size: 0, roomAt: 1e12, instructions: -1e9 })]);
      await show([...begin, used({ size: 10, roomAt: 1e12 })]);
      assert.equal(await test.page.locator('.meter-filled').getAttribute('stroke-dasharray'), '100 100');
    });
  });

  it('deletes a run at one press, however quick, and one at work only at the second', async () => {
    const place = { createdAt: 1, updatedAt: Date.now() - 3 * 3_600_000, live: false };
    const runs = [
      { ...place, id: 'run-1', title: 'One', phase: 'WaitingUser' as const },
      { ...place, id: 'run-2', title: 'Two', phase: 'Failed' as const, error: { code: 'ENGINE_ABORTED', message: '' } },
      { ...place, id: 'run-3', title: 'Three', phase: 'Running' as const, live: true },
    ];
    await show(begin);
    await list(runs);
    await find('history').click();
    const second = test.page.locator('[data-run="run-2"]');
    assert.equal((await second.innerText()).replace(/\s+/g, ' ').trim(), 'Two Stopped · 3 h');
    await second.getByTestId('delete-run').dblclick();
    const third = test.page.locator('[data-run="run-3"]');
    await third.getByTestId('delete-run').dblclick();
    await third.getByText('Stop and delete?').waitFor();
    assert.deepEqual(await done(), [{ type: 'delete-run', runId: 'run-2' }]);
    await third.getByTestId('delete-run').click();
    await find('deleted-runs').click();
    await second.locator('.history-open').click();
    assert.deepEqual(await done(), [
      { type: 'delete-run', runId: 'run-2' },
      { type: 'delete-run', runId: 'run-3' },
      { type: 'action', action: 'deleted-runs' },
      { type: 'open-run', runId: 'run-2' },
    ]);
    await test.send();
    assert.equal(await test.page.locator('.history').count(), 0);
  });

  it('a place where others went on otherwise says which way this is, and shows those beside it', async () => {
    await show(begin);
    const points = [{ at: 0, nth: 2, of: 2, previous: 'run-0' }];
    await test.send({ type: 'branches', runId: 'run-9', points }, { type: 'branches', runId: 'run-1', points });
    await posted();
    const group = test.page.getByRole('group', { name: 'Branch 2 of 2' });
    assert.match((await reading()).split('\n')[0]!, /2 of 2/);
    assert.equal(await group.getByRole('button', { name: 'Show the next branch' }).isDisabled(), true);
    await group.getByRole('button', { name: 'Show the previous branch' }).click();
    await test.send();
    assert.deepEqual(await posted(), [{ type: 'open-run', runId: 'run-0' }]);
    await test.send({ type: 'branches', runId: 'run-2', points });
    assert.equal(await group.count(), 0);
  });

  it('the list of runs shows each with its day, model, price and end, branches under their run, and what is found', async () => {
    const now = Date.now();
    const place = { phase: 'WaitingUser' as const, live: false, createdAt: 1, updatedAt: now };
    await show(begin);
    await find('history').click();
    await list([
      { ...place, id: 'p', title: 'Kept', pinned: true, model: 'openai/gpt-5', cost: 0.5, updatedAt: now - 90_000 },
      { ...place, id: 'q', title: 'Kept branch', depth: 1, state: 'working', elsewhere: true },
      { ...place, id: 'a', title: 'Asks', live: true, state: 'asking', phase: 'Running' },
      { ...place, id: 'w', title: 'Waits', state: 'asking', awaitsApproval: true },
      { ...place, id: 'e', title: 'Far', state: 'asking', awaitsApproval: true, elsewhere: true },
      {
        ...place,
        id: 'f',
        title: 'Broken',
        state: 'failed',
        phase: 'Failed',
        error: { code: 'LLM_X', message: 'No key.' },
      },
      { ...place, id: 'd', title: 'Late', state: 'ended' },
      { ...place, id: 'k', title: 'Killed', phase: 'Running', updatedAt: now - 20 * 86_400_000 },
    ]);
    const rows = () =>
      test.page
        .locator('.history li')
        .evaluateAll((all) => all.map((row) => (row.textContent ?? '').replace(/\s+/g, ' ').trim()));
    const date = new Date(now - 20 * 86_400_000);
    const long = date.toLocaleDateString(undefined, { day: 'numeric', month: 'long', year: 'numeric' });
    const short = date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
    assert.deepEqual(await rows(), [
      'Pinned',
      'Kept gpt-5 · $0.50 · 1 min',
      'Kept branch Branch · Running in another window · now',
      'Today',
      'Asks Needs approval · now',
      'Waits Waiting for approval · now',
      'Far Waiting for approval in another window · now',
      'Broken Failed, not viewed yet · now',
      'Late Done, not viewed yet · now',
      long,
      `Killed Interrupted · ${short}`,
    ]);
    assert.equal(await test.page.locator('[data-run="q"]').getAttribute('data-depth'), '1');
    assert.equal(await test.page.locator('[data-run="f"] .history-open').getAttribute('title'), 'No key.');
    await find('search-runs').fill('json');
    await list([{ ...place, id: 'x', title: 'Flag', excerpt: '…the json flag…' }], 'json', 3);
    assert.deepEqual(await rows(), ['Today', 'Flag now …the json flag…']);
    await test.page.getByText('3 more').waitFor();
    await test.page.locator('[data-run="x"]').hover();
    await find('pin-run').click();
    await find('rename-run').click();
    await find('search-runs').press('Escape');
    assert.deepEqual(await posted(), [
      { type: 'list-runs', query: '' },
      { type: 'list-runs', query: 'json' },
      { type: 'pin-run', runId: 'x', pinned: true },
      { type: 'rename-run', runId: 'x' },
      { type: 'list-runs' },
    ]);
    await list([], 'late');
    await find('history').click();
    await list([], '');
    await test.page.getByText('No runs yet.').waitFor();
  });

  it('the list of runs says which came from a file, and which are in a worktree, whose window opens', async () => {
    const now = Date.now();
    const place = { phase: 'WaitingUser' as const, live: false, createdAt: 1, updatedAt: now };
    const worktree = { folder: '/beside/canal-gate', branch: 'towpath/gate', begun: true };
    await show(begin);
    await find('history').click();
    await list([
      { ...place, id: 'w', title: 'Open the gate', state: 'working', elsewhere: true, model: 'p/m', worktree },
      { ...place, id: '/beside/x', title: 'Mend it', worktree: { ...worktree, begun: false } },
      { ...place, id: 'i', title: 'Theirs', imported: true },
    ]);
    const row = (id: string) => test.page.locator(`[data-run="${id}"]`);
    const words = async (id: string) => (await row(id).innerText()).replace(/\s+/g, ' ').trim();
    assert.equal(await words('w'), 'Open the gate Running in another window · towpath/gate · m · now');
    assert.equal(await words('/beside/x'), 'Mend it Not started · towpath/gate · now');
    assert.equal(await words('i'), 'Theirs Imported · now');
    assert.equal(await row('w').getByRole('button').count(), 1, 'its own window renames, pins and deletes it');
    await row('w').getByRole('button').click();
    assert.deepEqual(await done(), [{ type: 'open-worktree', folder: '/beside/canal-gate' }]);
    await test.send();
    assert.equal(await test.page.locator('.history').count(), 0);
  });

  it('the list of runs closes with Escape and gives the focus back', async () => {
    await show(begin);
    await list([{ id: 'a', title: 'A', phase: 'Failed', createdAt: 1, updatedAt: 1, live: false }]);
    await find('history').click();
    await test.page.locator('.history-open').press('Escape');
    await test.send();
    assert.equal(await test.page.locator('.history').count(), 0);
    await test.page.keyboard.press('Enter');
    await test.send();
    assert.equal(await test.page.locator('.history').count(), 1);
  });

  it('the list of runs is walked by arrow keys, from its button on, and closes when the focus leaves it', async () => {
    const place = { phase: 'Failed' as const, createdAt: 1, live: false };
    const runs = ['A', 'B'].map((title, at) => ({ ...place, id: title, title, updatedAt: 9 - at }));
    await show(begin);
    await list(runs);
    const press = async (key: string) => {
      await test.page.keyboard.press(key);
      await test.send();
      return test.page.locator('.history-open:focus .history-title').allInnerTexts();
    };
    await find('history').locator('button').focus();
    assert.deepEqual(
      [await press('Enter'), await press('ArrowDown'), await press('ArrowDown'), await press('ArrowDown')],
      [[], ['A'], ['B'], ['A']],
    );
    await find('history').locator('button').focus();
    await press('Escape');
    assert.equal(await test.page.locator('.history').count(), 0);
    await press('Enter');
    assert.equal(await test.page.locator('.history').count(), 1);
    await composer().focus();
    await test.send();
    assert.equal(await test.page.locator('.history').count(), 0);
  });

  it('the keys stay in the list: on a pin that moves its row, after a native box, and beside a row that is deleted', async () => {
    const place = { phase: 'Failed' as const, createdAt: 1, live: false };
    const runs = ['A', 'B', 'C'].map((title, at) => ({ ...place, id: title, title, updatedAt: 9 - at }));
    await show(begin);
    await list(runs);
    await find('history').click();
    await test.send();
    const now = () =>
      test.page.evaluate('document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.innerText');
    const keys = async (...names: string[]) => {
      for (const name of names) await test.page.keyboard.press(name);
    };
    await keys('ArrowDown', 'ArrowDown', 'ArrowDown', 'Tab');
    assert.equal(await now(), 'Pin C');
    await keys('Enter');
    await list([{ ...runs[2]!, pinned: true }, runs[0]!, runs[1]!]);
    assert.equal(await now(), 'Pin C');
    await keys('Tab', 'Enter');
    await test.page.evaluate('document.activeElement.blur(); window.dispatchEvent(new Event("focus"))');
    await eventually('it has the keys', async () => (await now()) === 'Rename C');
    await keys('Tab', 'Enter');
    await list([runs[0]!, runs[1]!]);
    assert.match(String(await now()), /^A\b/);
    await keys('ArrowDown', 'Tab', 'Tab', 'Tab', 'Enter');
    await list([runs[0]!]);
    assert.match(String(await now()), /^A\b/);
    assert.deepEqual(await done(), [
      { type: 'pin-run', runId: 'C', pinned: true },
      { type: 'rename-run', runId: 'C' },
      { type: 'delete-run', runId: 'C' },
      { type: 'delete-run', runId: 'B' },
    ]);
    assert.equal(await test.page.locator('.history').count(), 1);
  });

  it('the list of runs closes when another run is shown, by whatever command, and stays when the shown one goes on', async () => {
    const runs = [{ id: 'a', title: 'A', phase: 'Failed' as const, createdAt: 1, updatedAt: 1, live: false }];
    await show(begin);
    await list(runs);
    await find('history').click();
    await test.send({ type: 'run', run: runOf('run-1', begin) }, { type: 'run', run: null }); // gone on with; deleted
    assert.equal(await test.page.locator('.history').count(), 1);
    await test.send({ type: 'run', run: runOf('run-2', begin) });
    assert.equal(await test.page.locator('.history').count(), 0);
  });

  it('the list of runs has the keys again after a dialog about one of them', async () => {
    await show(begin);
    await find('history').click();
    await list([{ id: 'run-1', title: 'One', phase: 'WaitingUser', createdAt: 0, updatedAt: 0, live: false }]);
    await find('delete-run').click();
    await test.page.evaluate('document.activeElement.blur()'); // as when the dialog takes the focus
    await test.send({ type: 'focus' });
    assert.equal(await test.page.evaluate('document.activeElement.closest(".history") !== null'), true);
    assert.equal(await test.page.locator('.history-row').count(), 1);
  });

  it('the list of runs closes with *New Run* of the editor, wherever the focus was', async () => {
    await show(begin);
    await list([{ id: 'a', title: 'A', phase: 'Failed', createdAt: 1, updatedAt: 1, live: false }]);
    await find('history').click();
    await test.page.evaluate('document.activeElement.blur()'); // as when the list of commands takes the focus
    await test.send({ type: 'run', run: null }, { type: 'focus' });
    await test.page.locator('.history').waitFor({ state: 'detached' });
    await test.page.keyboard.type('Hello');
    assert.equal(await composer().inputValue(), 'Hello');
  });

  it('the focus goes to the message when the button that had it is gone', async () => {
    await show([...begin, ...reads]);
    await find('stop').locator('button').focus();
    const [phase, error] = ['Failed' as const, { code: 'ENGINE_ABORTED', message: 'Stopped.' }];
    const from = begin.length + reads.length;
    await test.send({ type: 'events', events: eventsOf('run-1', [{ type: 'phase', phase, error }], from) });
    await test.page.keyboard.type('Go on');
    assert.equal(await composer().inputValue(), 'Go on');
  });

  it('Deny on a card says which call is denied', async () => {
    await show([...begin, ...reads, ...asks]);
    await find('deny').click();
    assert.deepEqual(await posted(), [{ type: 'deny', runId: 'run-1', toolCallId: editCall.id }]);
  });

  it('the focus goes there, too, when a dialog gives it back to the page alone', async () => {
    await show([...begin, ...reads, ...asks]);
    await find('show-question').locator('button').focus();
    await test.page.evaluate('document.activeElement.blur()'); // what the browser does when a dialog takes the focus
    await test.page.keyboard.type('lost');
    await test.page.evaluate('window.dispatchEvent(new Event("focus"))');
    await test.send();
    await test.page.keyboard.type('Go on');
    assert.equal(await composer().inputValue(), 'Go on');
  });

  it('a long answer is scrolled by keyboard', async () => {
    await show([...begin, { type: 'message', message: { role: 'assistant', content: 'A line.\n\n'.repeat(200) } }]);
    await find('new-run').locator('button').focus();
    await test.page.keyboard.press('Tab');
    await test.page.keyboard.press('PageUp');
    await find('latest').waitFor();
  });

  it('tells an error once, and names the command that helps', async () => {
    await show([...begin, ...reads]);
    const error = {
      code: 'LLM_AUTH_FAILED',
      message: 'No API key for OpenAI. Run *Towpath: Set API Key*, not *this*.',
    };
    const failed: RunEventBody = { type: 'phase', phase: 'Failed', error };
    await test.send({ type: 'events', events: eventsOf('run-1', [failed], begin.length + reads.length) });
    const words = 'No API key for OpenAI. Run Towpath: Set API Key, not *this*.';
    assert.equal(await find('phase').locator('.phase-text').innerText(), words);
    assert.equal(await test.page.getByRole('log').locator('p').last().innerText(), words);
    assert.equal(await test.page.locator('[role="alert"]:not([aria-hidden="true"], :empty)').count(), 0);
  });

  it('shows a notice with its button, and the problem of a model', async () => {
    const problem = 'No API key for OpenAI. Run Towpath: Set API Key.';
    await show(begin, { models: [{ id: 'a/b', label: 'GPT', detail: '', problem }], modelId: 'a/b' });
    await test.send({
      type: 'notice',
      notice: { level: 'warning', text: problem, action: { label: 'Set API Key', action: 'set-key' } },
    });
    await find('notice-action').click();
    assert.equal(await find('notice').locator('.notice-text').innerText(), problem);
    assert.equal(await find('model').getAttribute('title'), problem);
    assert.deepEqual(await posted(), [{ type: 'action', action: 'set-key' }]);
    await test.send({ type: 'notice', notice: null });
    assert.equal(await find('notice').count(), 0);
  });

  it('a notice offers what can be done, hears which of it, and goes when that is over', async () => {
    await show(begin);
    const offered = (id: number): Extract<HostMessage, { type: 'notice' }> => ({
      type: 'notice',
      notice: { level: 'info', text: '“Old” was deleted.', offer: { id, buttons: ['Undo', 'Show'] } },
    });
    await test.send(offered(1));
    assert.deepEqual(await find('notice-offer').allInnerTexts(), ['Undo', 'Show']);
    await find('notice-offer').last().click();
    await find('notice').waitFor({ state: 'detached' });
    await test.page.keyboard.type('next');
    assert.equal(await composer().inputValue(), 'next', 'the next key lands in the message box');
    await test.send(offered(2));
    await test.page.getByRole('button', { name: 'Dismiss' }).click();
    assert.deepEqual(await posted(), [
      { type: 'notice-pressed', id: 1, button: 1 },
      { type: 'notice-pressed', id: 2 },
    ]);
    const failed = offered(4).notice!;
    await test.send({ type: 'notice', notice: { ...failed, level: 'warning' } }, { type: 'notice', notice: null });
    assert.equal(await find('notice').count(), 1, 'what failed elsewhere outlives the next message');
    await test.send(offered(5), { type: 'notice', notice: null });
    assert.equal(await find('notice').count(), 0);
    await test.send(offered(3), { type: 'notice-over', id: 2 });
    await find('notice').waitFor();
    await test.send({ type: 'notice-over', id: 3 });
    assert.equal(await find('notice').count(), 0);
  });

  it('takes the focus when the host says so', async () => {
    await show(begin);
    await composer().fill('see');
    await composer().blur();
    await test.send({ type: 'focus' });
    await test.page.keyboard.type('!');
    assert.equal(await composer().inputValue(), 'see!');
  });

  describe('the find box', () => {
    const query = () => find('find').inputValue();

    it('keeps what is typed when the host gives the keys to the message box late', async () => {
      await show([...begin, ...reads]);
      await composer().focus();
      await test.page.keyboard.press('Control+f');
      await test.page.keyboard.type('fl'); // the very next keys
      await test.send({ type: 'focus' });
      await test.page.keyboard.type('ag');
      assert.deepEqual([await query(), await composer().inputValue()], ['flag', '']);
      await test.send({ type: 'focus', gently: true });
      await test.page.keyboard.type('s');
      assert.deepEqual([await query(), await composer().inputValue()], ['flags', '']);
    });

    const elsewhere: [how: string, go: () => Promise<unknown>][] = [
      ['a shortcut', () => test.page.keyboard.press("Control+'")],
      ['the command palette', () => test.page.keyboard.press('F1')],
      ['a click', () => test.page.locator('.title').click()],
    ];
    for (const [how, go] of elsewhere)
      it(`gives the keys to the message box that ${how} asks for afterwards`, async () => {
        await show([...begin, ...reads]);
        await test.page.keyboard.press('Control+f');
        await test.page.keyboard.type('flag');
        await go();
        await test.send({ type: 'focus' });
        await test.page.keyboard.type('!');
        assert.deepEqual([await query(), await composer().inputValue()], ['flag', '!']);
      });

    it('lets the editor move the keys to and fro at first; later another part of the window had them', async () => {
      await show([...begin, ...reads]);
      await test.page.keyboard.press('Control+f');
      const focus = async () => {
        await test.page
          .locator('body')
          .evaluate((body) => body.ownerDocument.defaultView!.dispatchEvent(new Event('blur')));
        await test.send({ type: 'focus' });
      };
      await focus();
      await test.page.keyboard.type('flag');
      assert.equal(await query(), 'flag');
      await eventually('the message box gets the keys', async () => {
        await focus();
        return composer().evaluate((element) => element.matches(':focus'));
      });
    });

    it('closes when a new run begins, and stays when another one is shown', async () => {
      await show([...begin, ...reads]);
      await test.page.keyboard.press('Control+f');
      await find('find').fill('flag');
      await test.send({ type: 'run', run: runOf('run-2', [...begin, ...reads]) });
      assert.equal(await query(), 'flag');
      await test.send({ type: 'run', run: null });
      assert.equal(await find('find').count(), 0);
      await show([...begin, ...reads]);
      assert.equal(await find('find').count(), 0, 'it does not come back by itself');
    });
  });

  it('keeps a draft across a reload', async () => {
    await composer().fill('half a thought');
    await test.page.reload();
    await composer().waitFor();
    assert.equal(await composer().inputValue(), 'half a thought');
  });

  it('ignores what is not a message of the host, and events of other runs', async () => {
    await show(begin);
    const before = await reading();
    const other = eventsOf('run-2', [{ type: 'chunk', content: 'not here' }], 90);
    const strange = [null, 'run', { run: null }, { type: 7 }, { type: 'toString' }, { type: 'evil', html: '<b>' }];
    await test.send(...(strange as never[]), { type: 'events', events: other });
    assert.equal(await reading(), before);
    assert.deepEqual(await test.violations(), []);
  });

  it('hears the host alone, whatever other page of the window says the same', async () => {
    const around = await listen(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<iframe src="${test.page.url()}"></iframe>`);
    });
    const stranger = await test.page.context().newPage();
    try {
      await stranger.goto(`http://127.0.0.1:${around.port}/`);
      const panel = stranger.frames()[1]!;
      await panel.getByTestId('composer').waitFor();
      const said = (text: string) => inHostWords({ type: 'draft', text });
      await stranger.evaluate((message) => {
        const { frames } = globalThis as unknown as { frames: { postMessage(message: unknown, to: string): void }[] };
        frames[0]!.postMessage(message, '*');
      }, said('From a stranger'));
      await panel.evaluate(
        (message) => (globalThis as unknown as { receive(all: string[]): Promise<void> }).receive([message]),
        said('From the host'),
      );
      assert.equal(await panel.getByTestId('composer').getByRole('textbox').inputValue(), 'From the host');
    } finally {
      await stranger.close();
      await around.close();
    }
  });

  it('shows names and arguments as they are, hidden characters included', async () => {
    const call = { id: 'c', name: '<b>x</b>', arguments: { path: '<img src=x>\u202egpj.ts\n\nAllowed' } };
    await show([
      ...begin,
      { type: 'title', title: '![x](https://x.test/a)\u200b' },
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call] } },
    ]);
    assert.equal(await test.page.locator('.title').innerText(), '![x](https://x.test/a)⟨U+200B⟩');
    assert.equal(await card('c').getAttribute('aria-label'), 'Use <b>x</b> · Queued');
    await card('c').locator('.card-toggle').click();
    await test.send();
    assert.match(
      await card('c').locator('.card-details').innerText(),
      /^<b>x<\/b>\n.*\n<img src=x>⟨U\+202E⟩gpj\.ts\n\nAllowed$/,
    );
  });

  it('cuts a long outcome and shows the rest when asked', async () => {
    const content = JSON.stringify({ ok: true, data: 'x'.repeat(10_000) });
    await show([
      ...begin,
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [readCall] } },
      { type: 'message', message: { role: 'tool', content: '', toolResults: [{ toolCallId: readCall.id, content }] } },
    ]);
    await card(readCall.id).locator('.card-toggle').click();
    await test.send();
    const outcome = card(readCall.id).locator('.field').last();
    assert.equal((await outcome.innerText()).length, 4000 + '… Show more'.length);
    await outcome.getByText('Show more').click();
    await test.send();
    assert.equal((await outcome.innerText()).length, 10_000);
  });

  it('shows the end of a very long answer at one press, also while it grows', async () => {
    const long = 'A line of an answer.\n\n'.repeat(50_000);
    const bodies: RunEventBody[] = [...begin, { type: 'chunk', content: `${long}It goes on` }];
    await show(bodies);
    const { length } = await reading();
    assert.ok(length < 100_000, `${length} characters`);
    await test.page.getByRole('button', { name: 'Show the end' }).click();
    await test.send();
    assert.match(await reading(), /Show more … [\d,]+ characters are left out here[\s\S]*It goes on$/);
    const box = (await test.page.getByText('It goes on', { exact: true }).boundingBox())!;
    assert.ok(box.y > 0 && box.y + box.height < 800, `it is shown at ${box.y}`);
    const chunk: RunEventBody = { type: 'chunk', content: ' and on.' };
    await test.send({ type: 'events', events: eventsOf('run-1', [chunk], bodies.length) });
    assert.match(await reading(), /It goes on and on\.$/);
    assert.ok((await reading()).length < 200_000);
  });

  it('shows a change of a few lines where it was made, the first lines of more, and all of it when it is asked for', async () => {
    const few = formatShortFileChange('a.ts', 'one\ntwo\n', 'one\n2\n');
    const lines = (word: string) => Array.from({ length: 40 }, (_, at) => `${word} ${at}`).join('\n');
    const changed = (diff: string): RunEventBody[] => [
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [editCall] } },
      { type: 'tool-start', toolCallId: editCall.id, name: editCall.name },
      {
        type: 'tool-end', toolCallId: editCall.id, name: editCall.name, ok: true, ms: 1, diff,
        changes: [{ path: 'src/cli.ts', before: 'a'.repeat(64), after: 'b'.repeat(64) }],
      },
    ]; // biome-ignore format: rows
    const shown = async () => (await card(editCall.id).locator('.diff').innerText()).replace(/\s+/g, ' ').trim();
    const told = toToolResult(editCall.id, { ok: true, data: { path: 'src/cli.ts', added: 1, removed: 1 } });
    await show([
      ...begin,
      ...changed(few),
      { type: 'message', message: { role: 'tool', content: '', toolResults: [told] } },
    ]);
    assert.equal(await shown(), '2 − two 2 + 2');
    assert.match(await reading(), /^Edited src\/cli\.ts \+1 −1$/m);
    await show([...begin, ...changed(formatShortFileChange('a.ts', lines('old'), lines('new')))]);
    assert.equal(await shown(), '1 − old 0 2 − old 1 3 − old 2 77 more changed lines');
    await find('more-lines').click();
    assert.deepEqual(await posted(), [{ type: 'show-change', runId: 'run-1', toolCallId: editCall.id }]);
    const diff = formatFileChange('a.ts', lines('old'), lines('new'), 2000);
    await test.send({ type: 'change', runId: 'run-1', toolCallId: editCall.id, diff });
    assert.match(await shown(), /^1 − old 0 .* 40 \+ new 39$/);
  });

  it('shows all that is asked where the question is', async () => {
    const diff = formatFileChange('a.ts', null, 'one\ntwo\n', 2000);
    await show([...begin, ...reads, asks[0]!, { ...(asks[1] as Extract<RunEventBody, { type: 'question' }>), question: { id: 'q', what: 'Edit', where: '/', why: 'It changes a file.', diff } }]); // biome-ignore format: one line
    const shown = await card(editCall.id).locator('.diff').innerText();
    assert.equal(shown.replace(/\s+/g, ' ').trim(), '1 + one 2 + two');
  });

  it('leads from a card to the file at its line, and from what was found to each place', async () => {
    const search = { id: 's', name: 'fs.search', arguments: { pattern: 'x', path: 'src' } };
    const lines = { ...readCall, arguments: { path: 'src/cli.ts', offset: 10, limit: 3 } };
    const data = { matches: 1, files: [{ path: 'src/a.ts', lines: ['12: x', '13- y'] }] };
    await show([
      ...begin,
      { type: 'message', message: { role: 'assistant', content: 'One.', toolCalls: [lines] } },
      { type: 'message', message: { role: 'assistant', content: 'Two.', toolCalls: [search] } },
      { type: 'tool-end', toolCallId: 's', name: 'fs.search', ok: true, ms: 1 },
      { type: 'message', message: { role: 'tool', content: '', toolResults: [toToolResult('s', { ok: true, data })] } },
    ]);
    await card(readCall.id).locator('.piece.link').click();
    await card('s').locator('.piece.link').click();
    await card('s').locator('.card-verb').click();
    await test.send();
    for (const link of await card('s').locator('.matches .link').all()) await link.click();
    assert.deepEqual(await posted(), [
      { type: 'open-file', path: 'src/cli.ts', line: 10 },
      { type: 'open-file', path: 'src' },
      { type: 'open-file', path: 'src/a.ts' },
      { type: 'open-file', path: 'src/a.ts', line: 12 },
      { type: 'open-file', path: 'src/a.ts', line: 13 },
    ]);
    await card('s').getByTestId('raw').click();
    await test.send();
    assert.match(await card('s').locator('.card-details').innerText(), /fs\.search\s+Arguments\s+\{\s+"pattern": "x"/);
  });

  it('opens what was read when it is asked for, and keeps it open while it grows', async () => {
    const call = (at: number) => ({ id: `r${at}`, name: 'fs.read', arguments: { path: `${at}.ts` } });
    const reading = (at: number): RunEventBody[] => [
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call(at)] } },
      { type: 'tool-start', toolCallId: `r${at}`, name: 'fs.read' },
      { type: 'tool-end', toolCallId: `r${at}`, name: 'fs.read', ok: true, ms: 1 },
    ];
    const bodies = [...begin, ...reading(1), ...reading(2)];
    await show(bodies);
    const fold = test.page.locator('.fold');
    assert.equal((await fold.locator('.fold-words').innerText()).trim(), 'Read 2 files');
    assert.equal(await fold.locator('.card').count(), 1, 'the newest one stays visible');
    await fold.locator('.fold-head').click();
    await test.send();
    await test.send();
    assert.equal(await fold.locator('.card').count(), 2);
    await test.send({ type: 'events', events: eventsOf('run-1', reading(3), bodies.length) });
    assert.equal(await fold.locator('.card').count(), 3);
    await fold.locator('.fold-head').first().click();
    await test.send({
      type: 'events',
      events: eventsOf('run-1', [{ type: 'phase', phase: 'Completed' }], bodies.length + 3),
    });
    assert.equal(await fold.locator('.card').count(), 0);
    assert.equal((await fold.innerText()).trim(), 'Read 3 files');
  });

  it('shows few details, the usual ones or all, as the person wants', async () => {
    const diff = formatShortFileChange('a.ts', 'one\n', '2\n');
    const changes = [{ path: 'src/cli.ts', before: 'a'.repeat(64), after: 'b'.repeat(64) }];
    const bodies: RunEventBody[] = [
      ...begin,
      ...reads,
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [{ ...readCall, id: 'again' }, editCall] } },
      { type: 'tool-end', toolCallId: 'again', name: 'fs.read', ok: true, ms: 1 },
      { type: 'tool-end', toolCallId: editCall.id, name: editCall.name, ok: true, ms: 1, diff, changes },
    ]; // biome-ignore format: rows
    const shown = async (details: PanelState['details']) => {
      await show(bodies, details && { details });
      const count = (what: string) => test.page.locator(what).count();
      return [
        await count('.card'),
        await count('.diff'),
        await count('.card-details'),
        await count('details.thinking[open]'),
      ];
    };
    assert.deepEqual(await shown('few'), [1, 0, 0, 0]);
    assert.deepEqual(await shown(undefined), [1, 1, 0, 0]);
    assert.deepEqual(await shown('all'), [3, 1, 3, 1]);
    await card(editCall.id).locator('.card-toggle').click();
    await test.send();
    assert.equal(await card(editCall.id).locator('.card-details').count(), 0, 'one of them can be closed');
  });

  it('a command that ended with 1 has a dot, its code, and the last lines that say something', async () => {
    const output = `${'line\n'.repeat(50)}  1) prints rows\n\n     AssertionError: 1 == 2\n\nnpm error code ELIFECYCLE\n`;
    await show([
      ...begin,
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [testCall] } },
      { type: 'tool-start', toolCallId: testCall.id, name: 'shell.run' },
      { type: 'tool-end', toolCallId: testCall.id, name: 'shell.run', ok: true, ms: 4100, exitCode: 1 },
      { type: 'message', message: { role: 'tool', content: '', toolResults: [toToolResult(testCall.id, { ok: true, data: { exitCode: 1, output } })] } },
    ]); // biome-ignore format: rows
    assert.equal(await card(testCall.id).getAttribute('data-mark'), 'dot');
    assert.match(
      await reading(),
      /Ran npm test -- --grep json · exit code 1 4\.1 s\n(line\n){4}1\) prints rows\nAssertionError: 1 == 2/,
    );
  });

  it('the last lines of a command that failed are seen to their end, however often they wrap', async () => {
    const output = Array.from({ length: 9 }, (_, at) => `${'a path of many folders/'.repeat(9)}${at} failed\n`).join(
      '',
    );
    await show([
      ...begin,
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [testCall] } },
      { type: 'tool-start', toolCallId: testCall.id, name: 'shell.run' },
      { type: 'tool-end', toolCallId: testCall.id, name: 'shell.run', ok: true, ms: 4100, exitCode: 1 },
      { type: 'message', message: { role: 'tool', content: '', toolResults: [toToolResult(testCall.id, { ok: true, data: { exitCode: 1, output } })] } },
    ]); // biome-ignore format: rows
    const below = await test.page.getByTestId('last-words').evaluate((element) => {
      const box = element as unknown as { scrollHeight: number; clientHeight: number; scrollTop: number };
      return [box.scrollHeight > box.clientHeight, box.scrollTop];
    });
    assert.deepEqual(below, [true, 0], 'laid out from its end, and there');
    const style = await test.page.getByTestId('last-words').evaluate((element) => {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().bottom <= element.getBoundingClientRect().bottom;
    });
    assert.ok(style, 'its last line is in the box');
  });

  it('follows the end only while the person is there', async () => {
    const talk = (content: string): RunEventBody[] => [{ type: 'chunk', content }];
    const long = 'A line of an answer.\n\n'.repeat(100);
    const bodies = [...begin, ...talk(long)];
    await show(bodies);
    const fromEnd = () =>
      test.page.locator('.scroller').evaluate((element) => {
        const { scrollHeight, scrollTop, clientHeight } = element as unknown as Record<string, number>;
        return Math.round(scrollHeight! - scrollTop! - clientHeight!);
      });
    assert.equal(await fromEnd(), 0);
    const more = (text: string, seq: number) =>
      test.send({ type: 'events', events: eventsOf('run-1', talk(text), seq) });
    await more(long, bodies.length);
    assert.equal(await fromEnd(), 0);
    await test.page.locator('.scroller').hover();
    await test.page.mouse.wheel(0, -600);
    await find('latest').waitFor();
    const before = await fromEnd();
    await more(long, bodies.length + 1);
    assert.ok((await fromEnd()) > before);
    await find('latest').click();
    await find('latest').waitFor({ state: 'detached' });
    assert.equal(await fromEnd(), 0);
  });

  it('leaves finished messages alone while a reply streams', async () => {
    await show([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail]);
    const seq = [...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail].length;
    await test.page.locator('[class^="hl-"]').first().waitFor(); // the colours of code come when their script is there
    await test.page.evaluate(watchMutations);
    const chunks = Array.from({ length: 500 }, (): RunEventBody => ({ type: 'chunk', content: 'word **word**\n\n' }));
    for (let at = 0; at < chunks.length; at += 25) {
      await test.send({ type: 'events', events: eventsOf('run-1', chunks.slice(at, at + 25), seq + at) });
    }
    const { elsewhere, inReply } = await test.page.evaluate(
      () => (globalThis as unknown as { mutations: { elsewhere: number; inReply: number } }).mutations,
    );
    assert.equal(elsewhere, 0);
    assert.ok(inReply > 0 && inReply < 4 * chunks.length, `${inReply} nodes were added`);
    assert.equal(await test.page.locator('[data-role="assistant"]').last().locator('p').count(), 500);
  });

  describe('tells a screen reader', () => {
    const told = () => test.page.getByRole('log').locator('p').allTextContents();
    /** What waits for its time comes when the test says so. */
    beforeEach(() =>
      test.page.evaluate(`(() => {
        const later = (window.later = []);
        const real = window.setTimeout;
        window.setTimeout = (work, ms) => (ms === 5000 ? later.push(work) : real(work, ms));
      })()`),
    );
    const inTime = () => test.page.evaluate('window.later.shift()()');

    it('finished replies, questions and errors, not every word', async () => {
      await show([...begin, ...reads], {}, 4);
      const seq = begin.length + reads.length;
      await test.send({ type: 'events', events: eventsOf('run-1', [{ type: 'chunk', content: 'grow' }], seq) });
      assert.deepEqual(await told(), ['I will look at the command line first.']);
      await test.send({ type: 'events', events: eventsOf('run-1', asks.slice(1), seq + 1) });
      await inTime();
      assert.deepEqual((await told()).at(-1), 'Waiting for approval: Edit src/cli.ts');
    });

    it('what is said without its marks, at most once in five seconds, and of another run nothing that is late', async () => {
      const says = (content: string): RunEventBody => ({ type: 'message', message: { role: 'assistant', content } });
      const text =
        '## Done\n\nThe **flag** works &amp; `--json` prints, see [the test](test/a.ts:1):\n\n```ts\na();\nb();\n```\n\n1. one\n   - *two*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';
      await show([...begin, says(text)], {}, begin.length);
      const plain = 'Done\nThe flag works & --json prints, see the test:\nts code, 2 lines.\none\ntwo\na, b\n1, 2';
      assert.deepEqual(await told(), [plain]);
      let seq = begin.length + 1;
      const more = async (...bodies: RunEventBody[]) => {
        await test.send({ type: 'events', events: eventsOf('run-1', bodies, seq) });
        seq += bodies.length;
      };
      await more(says('Two.'));
      await more(says('Three.'));
      assert.deepEqual(await told(), [plain]);
      await inTime();
      assert.deepEqual(await told(), [plain, 'Two.', 'Three.']);
      assert.equal(await test.page.getByRole('log').locator('> *').count(), 2);
      await more(says('Four.'));
      await test.send({ type: 'run', run: runOf('run-2', begin) });
      await inTime();
      assert.deepEqual(await told(), [plain, 'Two.', 'Three.']);
      await test.send({ type: 'events', events: eventsOf('run-2', [...begin, says('At once.')]).slice(begin.length) });
      assert.equal((await told()).at(-1), 'At once.');
    });

    it('which calls failed or were not allowed, in the words of their cards', async () => {
      const failed = (id: string, code: string, message: string) =>
        toToolResult(id, failedToolOutcome(code as 'ENOENT', message));
      const calls = ['a', 'b'].map((id) => ({ id, name: 'fs.read', arguments: { path: `${id}.ts` } }));
      const toolResults = [failed('a', 'ENOENT', 'No such file.'), failed('b', 'TOOL_DENIED', 'The person said no.')];
      await show(
        [
          ...begin,
          { type: 'message', message: { role: 'assistant', content: '', toolCalls: calls } },
          { type: 'tool-end', toolCallId: 'a', name: 'fs.read', ok: false, ms: 1, code: 'ENOENT' },
          { type: 'approval', toolCallId: 'b', decision: 'deny', waitedMs: 1 },
          { type: 'tool-end', toolCallId: 'b', name: 'fs.read', ok: false, ms: 1, code: 'TOOL_DENIED' },
          { type: 'message', message: { role: 'tool', content: '', toolResults } },
        ],
        {},
        begin.length,
      );
      assert.deepEqual(await told(), ['Could not read a.ts: the file does not exist', 'Read b.ts · Denied']);
    });
  });

  it('every control has a name', async () => {
    await show([...begin, ...reads, ...asks, ...allowsEdit]);
    await list([{ id: 'a', title: '', phase: 'Failed', createdAt: 1, updatedAt: 1, live: false }]);
    await find('history').click();
    const buttons = await test.page.getByRole('button').all();
    assert.ok(buttons.length > 8);
    for (const button of buttons) {
      const snapshot = await button.ariaSnapshot();
      assert.match(snapshot, /^- '?button "[^"]+"/, snapshot);
    }
    assert.equal(await test.page.getByRole('textbox', { name: 'Message to Towpath' }).count(), 1);
  });

  it('nothing is cut off sideways at 200 pixels', async () => {
    await test.page.setViewportSize({ width: 200, height: 700 });
    await show([...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail, ...concludes]);
    const widths = await test.page
      .locator('body, .scroller, .transcript, .card, .composer')
      .evaluateAll((elements) =>
        (elements as unknown as { className: string; scrollWidth: number; clientWidth: number }[])
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ className }) => className),
      );
    assert.deepEqual(widths, []);
  });

  for (const width of [200, 230, 300])
    it(`everything around a message is in reach at ${width} pixels`, async () => {
      await test.page.setViewportSize({ width, height: 700 });
      const usage = { promptTokens: 999_000, completionTokens: 0, totalTokens: 999_000 };
      const models = [{ id: 'a/b', label: 'A model with a long name of its own', detail: '' }];
      await show([...begin, { type: 'usage', usage, attempts: 1, model: 'm', ms: 1 }], {
        models,
        modelId: 'a/b',
        preset: width === 230 ? 'ask-everything' : 'autopilot',
        presetOfRun: true,
      });
      const boxes = await test.page
        .locator('.composer, .composer vscode-button, .meter, .preset-name, .model-label')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
      const [composer, ...inside] = boxes;
      assert.equal(inside.length, 9);
      const outside = inside.filter(({ left, right }) => left < composer!.left || right > composer!.right);
      assert.deepEqual(outside, []);
    });

  for (const width of [230, 300])
    it(`a card at ${width} pixels keeps names and lines whole, and what came of it in sight`, async () => {
      await test.page.setViewportSize({ width, height: 900 });
      const path = 'packages/website/src/components/navigation/sidebar.ts';
      const long = { id: 'long', name: 'fs.read', arguments: { path, offset: 10, limit: 31 } };
      const none = { ...long, id: 'none', name: 'fs.edit' };
      await show([
        ...begin, ...reads, ...asks, ...allowsEdit, ...runsTests, ...testsFail,
        { type: 'message', message: { role: 'assistant', content: 'On.', toolCalls: [long] } },
        { type: 'message', message: { role: 'assistant', content: 'On.', toolCalls: [none] } },
        { type: 'message', message: { role: 'tool', content: '', toolResults: [toToolResult('none', failedToolOutcome('ENOENT', ''))] } },
      ]); // biome-ignore format: rows
      const outside = await test.page.locator('.card-verb, .piece-whole, .card-time').evaluateAll((all) =>
        all
          .filter((one) => {
            const card = one.closest('.card')!.getBoundingClientRect();
            const { left, right, width } = one.getBoundingClientRect();
            return width === 0 || left < card.left || right > card.right || one.scrollWidth > one.clientWidth + 1;
          })
          .map((one) => one.textContent),
      );
      assert.deepEqual(outside, []);
      assert.match((await card('none').getAttribute('aria-label')) ?? '', /sidebar\.ts: the file does not exist$/);
    });
});

describe('The colours of code', () => {
  const css = readFileSync(path.join(root, 'webview/styles/markdown.css'), 'utf8');
  const rules = [...css.matchAll(/\.hl-(\w+) \{[^}]*?color: var\(--vscode-([\w-]+)\)/g)];

  for (const [name, { variables }] of Object.entries(themes)) {
    it(`can be read in ${name}`, () => {
      assert.ok(rules.length >= 9);
      const faint = rules
        .map(([, kind, variable]) => ({
          kind,
          ratio: contrast(variables[variable!]!, variables['editor-background']!),
        }))
        .filter(({ ratio }) => !(ratio >= 4));
      assert.deepEqual(faint, []);
    });
  }
});

/** The contrast of two colours as WCAG 2 defines it; transparency of the first is laid over the second. */
function contrast(colour: string, background: string): number {
  const back = channels(background);
  const [red, green, blue, alpha = 1] = channels(colour);
  const over = [red!, green!, blue!].map((channel, index) => channel * alpha + back[index]! * (1 - alpha));
  const [one, other] = [luminance(over), luminance(back)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

const channels = (colour: string): number[] =>
  (colour.slice(1).match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16) / 255);

function luminance([red = 0, green = 0, blue = 0]: number[]): number {
  const linear = (channel: number) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Runs in the page: counts nodes that are added inside the reply that streams, and every change to finished messages. */
const watchMutations = `(() => {
  const finished = [...document.querySelectorAll('article')];
  const mutations = (window.mutations = { elsewhere: 0, inReply: 0 });
  new MutationObserver((records) => {
    for (const record of records) {
      if (finished.some((article) => article.contains(record.target))) mutations.elsewhere++;
      else mutations.inReply += record.addedNodes.length;
    }
  }).observe(document.querySelector('.transcript'), { childList: true, subtree: true, characterData: true, attributes: true });
})()`;
