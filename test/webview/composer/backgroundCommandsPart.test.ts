import assert from 'node:assert/strict';
import type { CommandEnd } from '../../../src/protocol/content/commandRecord.ts';
import { type PanelState, type ViewMessage, viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { picture } from '../../support/editor/picture.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, eventsOf, readyState, runOf } from '../conversation.ts';

const marker = 'c0ffee00-0000-4000-8000-000000000000';
const id = marker.slice(0, 8);
const line = 'npm run dev';
const runs: RunEventBody[] = [
  ...begin,
  {
    type: 'message',
    message: {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call-1', name: 'shell.run', arguments: { command: line, background: true } }],
    },
  },
  { type: 'approval', toolCallId: 'call-1', decision: 'allow', waitedMs: 0 },
  { type: 'tool-start', toolCallId: 'call-1', name: 'shell.run', command: { line, folder: '/w', marker } },
  { type: 'tool-output', toolCallId: 'call-1', text: 'ready in 300 ms\n' },
];
const goesOn: RunEventBody[] = [
  { type: 'tool-end', toolCallId: 'call-1', name: 'shell.run', ok: true, ms: 10, background: { id } },
  { type: 'phase', phase: 'WaitingUser' },
];
const command = (more: object = {}) => ({ id, runId: 'run-1', line, startedAt: Date.now() - 180_000, ...more });

describe('Commands in the background, in the panel', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => {
    assert.deepEqual(await test.violations(), []);
  });

  const show = (bodies: RunEventBody[], commands = [command()]) =>
    test.send(
      { type: 'state', state: { ...readyState, commands } },
      { type: 'run', run: runOf('run-1', bodies) },
      { type: 'events', events: eventsOf('run-1', []) },
    );
  const card = () => test.page.locator('[data-call="call-1"]');
  const list = () => test.page.getByTestId('commands');
  const posted = async (): Promise<ViewMessage[]> => {
    const all = await test.posted();
    for (const message of all) viewMessageSchema.parse(message);
    return all.filter(({ type }) => type !== 'ready');
  };
  const lines = async (text: Promise<string>) =>
    (await text)
      .split('\n')
      .map((one) => one.trim())
      .filter(Boolean);

  it('one at work in the foreground can be let go on', async () => {
    await show(runs, []);
    await test.page.getByTestId('let-go-on').click();
    assert.deepEqual(await posted(), [{ type: 'let-go-on', runId: 'run-1', toolCallId: 'call-1' }]);
    assert.equal(await list().count(), 0);
  });

  it('one that asks has an input, whose text goes to its call and stays nowhere', async () => {
    const ask = (prompts: PanelState['prompts']) =>
      test.send(
        { type: 'state', state: { ...readyState, commands: [], prompts } },
        { type: 'run', run: runOf('run-1', runs) },
        { type: 'events', events: eventsOf('run-1', []) },
      );
    const key = { runId: 'run-1', toolCallId: 'call-1' };
    const field = () => card().getByTestId('command-input').locator('input');
    await ask([{ ...key, label: 'Remove old.txt? [y/N]', isSecret: false }]);
    assert.equal(await field().getAttribute('type'), 'text');
    await field().fill('y');
    await field().press('Enter');
    assert.equal(await field().inputValue(), '');
    await ask([{ ...key, label: 'Password:', isSecret: true }]);
    assert.equal(await field().getAttribute('type'), 'password');
    assert.deepEqual(await test.violations(), []);
    await field().fill('secret');
    await card().getByTestId('send-input').click();
    await card().getByTestId('end-input').click();
    assert.deepEqual(await posted(), [
      { type: 'command-input', ...key, text: 'y' },
      { type: 'command-input', ...key, text: 'secret' },
      { type: 'command-input', ...key },
    ]);
    await ask([{ ...key, toolCallId: 'call-2', label: 'Name?', isSecret: false }]);
    assert.equal(await test.page.getByTestId('command-input').count(), 0);
  });

  it('what is running is listed with its age, its output and its end, and nothing of another run', async () => {
    await show([...runs, ...goesOn], [command({ id: 'beef', runId: 'run-2', line: 'make\nwatch' }), command()]);
    await test.page.getByTestId('strip-commands').click();
    assert.deepEqual(await lines(list().innerText()), [
      line, '3 min', 'Output', 'Stop',
    ]); // biome-ignore format: a row
    assert.equal((await test.page.getByTestId('strip-commands').innerText()).replace(/\s+/g, ' '), '1 running');
    assert.deepEqual(await lines(card().innerText()), [line, '· just started', 'Output', 'Stop']);
    await card().getByTestId('stop-command').click();
    await list().getByTestId('command-output').click();
    assert.deepEqual(await posted(), [
      { type: 'stop-command', id },
      { type: 'command-output', id },
    ]);
    await show([...runs, ...goesOn], [command({ id: 'beef', runId: 'run-2', line: 'make\nwatch' })]);
    assert.equal(await test.page.getByTestId('strip-commands').count(), 0);
  });

  it('a port of a sandboxed one can be opened', async () => {
    await show([...runs, ...goesOn], [command({ isSandboxed: true })]);
    await card().getByTestId('open-port').click();
    assert.deepEqual(await posted(), [{ type: 'open-port', id }]);
  });

  const ends: [name: string, end: CommandEnd, words: string, ok: string | null, mark: string | null, said: string][] = [
    ['with 0', { by: 'itself', exitCode: 0 }, 'exited with code 0', 'true', 'check', ''],
    ['with 1', { by: 'itself', exitCode: 1 }, 'exited with code 1', null, 'dot', 'exited with code 1.'],
    ['killed', { by: 'itself', exitCode: null, signal: 'SIGKILL' }, 'was killed', 'false', 'cross', 'was killed (SIGKILL).'],
    ['stopped', { by: 'person', exitCode: null, signal: 'SIGTERM' }, 'was stopped by you', 'false', 'none', ''],
    ['lost', { by: 'lost', stillRunning: ['node (7)'] }, 'continued without its window. Still running: node (7)', 'false', 'cross', 'continued without its window.'],
  ]; // biome-ignore format: a table
  for (const [name, end, words, ok, mark, said] of ends)
    it(`says how it ended: ${name}`, async () => {
      await show([...runs, ...goesOn, { type: 'command-end', toolCallId: 'call-1', ...end }], []);
      assert.deepEqual(await lines(card().innerText()), [line, `· ${words}`]);
      assert.deepEqual([await card().getAttribute('data-ok'), await card().getAttribute('data-mark')], [ok, mark]);
      const phase = test.page.getByTestId('phase');
      if (said)
        assert.match(
          await phase.innerText(),
          new RegExp(`In the background, “${line}” ${said.replace(/[().]/g, '\\$&')}`),
        );
      else assert.doesNotMatch(await phase.innerText(), /background/);
    });

  it('says no more than that its window was closed when nothing is known of its end', async () => {
    await show([...runs, ...goesOn], []);
    assert.deepEqual(await lines(card().innerText()), [line, '· Its window was closed']);
  });

  it('its kept output is opened from its card, once the model has heard of its end nothing asks for more', async () => {
    const end: RunEventBody = { type: 'command-end', toolCallId: 'call-1', by: 'itself', exitCode: 1, outputId: 'abc' };
    const told: RunEventBody = { type: 'message', message: { role: 'system', content: 'It ended.' }, ends: ['call-1'] };
    await show([...runs, ...goesOn, end], []);
    await test.page.getByTestId('died-output').click();
    await card().getByTestId('open-output').click();
    assert.deepEqual(await posted(), [
      { type: 'open-output', runId: 'run-1', toolCallId: 'call-1' },
      { type: 'open-output', runId: 'run-1', toolCallId: 'call-1' },
    ]);
    await show([...runs, ...goesOn, end, told], []);
    assert.equal(await test.page.getByTestId('died-output').count(), 0);
  });

  for (const theme of ['dark', 'light', 'high-contrast'] as const)
    it(`has its place at 230 pixels in ${theme}`, async () => {
      await test.renew({ theme, width: 230, height: 560 });
      const long = 'npm run dev --workspace=packages/site -- --port 5173 --host localhost';
      await show([...runs, ...goesOn], [command(), command({ id: 'beef', line: long })]);
      await test.page.getByTestId('strip-commands').click();
      const wide = await test.page.evaluate(
        () => (globalThis as unknown as { document: { body: { scrollWidth: number } } }).document.body.scrollWidth,
      );
      assert.ok(wide <= 230, `${wide} pixels wide`);
      await picture(test.page, `commands-${theme}`);
    });
});
