import assert from 'node:assert/strict';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { picture } from '../../support/editor/picture.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { eventsOf, readyState, runOf } from '../conversation.ts';
import { type ThemeName, themes } from '../themes.ts';

const begin: RunEventBody[] = [
  { type: 'run-start', workflowId: '.towpath/workflows/review.yaml', agentId: 'towpath', model: '' },
  { type: 'message', message: { role: 'user', content: 'Review my changes' } },
  { type: 'phase', phase: 'Running' },
  { type: 'node', node: 'changes', status: 'start', state: { input: 'Review my changes' } },
  {
    type: 'node',
    node: 'changes',
    status: 'end',
    state: { diff: { exitCode: 0 } },
    next: ['mistakes', 'tests'],
    fanIn: 'verdict',
  },
];
/** The whole of the same workflow. */
const outline: RunEventBody = {
  type: 'outline',
  outline: {
    nodes: [
      { name: 'changes' },
      { name: 'nothing' },
      { name: 'mistakes', branch: 'mistakes' },
      { name: 'tests', branch: 'tests' },
      { name: 'verdict', title: 'The verdict' },
      { name: 'mend', loop: { steps: 2, most: 3 } },
    ],
    edges: [
      { from: 'changes', to: 'nothing', label: 'state.diff.exitCode != 0' },
      { from: 'changes', to: 'mistakes', label: 'otherwise' },
      { from: 'changes', to: 'tests', label: 'otherwise' },
      { from: 'nothing' },
      { from: 'mistakes', to: 'verdict' },
      { from: 'tests', to: 'verdict' },
      { from: 'verdict', to: 'mend' },
      { from: 'mend', to: 'changes', label: 'state.round < 3' },
      { from: 'mend', label: 'otherwise' },
    ],
  },
};
const question = { id: 'q', what: 'Run a command', where: '/w', why: 'It runs a program.' };

describe('The workflow in the panel', () => {
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

  async function show(more: RunEventBody[]): Promise<void> {
    const all = [...begin, ...more];
    await test.send(
      { type: 'state', state: readyState },
      { type: 'run', run: runOf('run-1', all.slice(0, 3)) },
      { type: 'events', events: eventsOf('run-1', all).slice(3) },
    );
  }
  const graph = () => test.page.getByTestId('graph');
  const nodes = () =>
    graph()
      .locator('[data-node]')
      .evaluateAll((rows) => rows.map((row) => `${row.getAttribute('data-status')} ${row.getAttribute('data-node')}`));

  it('says what a node set to something else than was declared', async () => {
    const warnings = ['`n` must be `int`, not "x" (`state_schema`).'];
    await show([
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'node', node: 'mistakes', status: 'end', branch: 'mistakes', next: ['verdict'], warnings },
    ]);
    assert.match(await graph().innerText(), /`n` must be `int`, not "x"/);
  });

  it('shows what is done, what is at work and what comes next', async () => {
    await show([
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'chunk', content: 'a.txt is **wrong**', node: 'mistakes' },
    ]);
    assert.deepEqual(await nodes(), ['completed changes', 'running mistakes', 'next tests']);
    assert.match(await graph().innerText(), /a\.txt is \*\*wrong\*\*/);
    assert.equal(await test.page.locator('article.assistant').count(), 0, 'a node speaks at its node');
    assert.equal(await graph().locator('[aria-current=step]').getAttribute('data-node'), 'mistakes');
  });

  it('says what a node does, and what it did', async () => {
    const line = { line: 'npm test -- --grep json', folder: '/w', marker: 'm' };
    const starts: RunEventBody[] = [
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'tool-start', toolCallId: 'mistakes:1:0', name: 'shell.run', command: line },
    ];
    const deed = async () =>
      ((await graph().locator('[data-node=mistakes] .graph-deed').textContent()) ?? '').replace(/\s+/g, ' ');
    await show(starts);
    assert.equal(await deed(), 'Running npm test -- --grep json');
    await show([
      ...starts,
      { type: 'tool-end', toolCallId: 'mistakes:1:0', name: 'shell.run', ok: true, ms: 5, exitCode: 0 },
      { type: 'node', node: 'mistakes', status: 'end', branch: 'mistakes', next: [] },
    ]);
    assert.equal(await deed(), 'Ran npm test -- --grep json');
    await show([
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'tool-start', toolCallId: 'mistakes:1:0', name: 'fs.move', moved: { from: 'a.ts', to: 'lib/b.ts' } },
    ]);
    assert.equal(await deed(), 'Moving a.ts to lib/b.ts');
    await show([
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'tool-start', toolCallId: 'mistakes:1:0', name: 'fs.search', about: { pattern: 'export', path: 'src' } },
    ]);
    assert.equal(await deed(), 'Searching export in src');
    await graph().locator('.graph-deed .link').click();
    assert.deepEqual((await test.posted()).at(-1), { type: 'open-file', path: 'src' });
  });

  it('keeps what a node had said when it broke off, and says that it is a part', async () => {
    await show([
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'chunk', content: 'a.txt is wr', node: 'mistakes' },
      {
        type: 'node',
        node: 'mistakes',
        status: 'failed',
        branch: 'mistakes',
        error: { code: 'LLM_INCOMPLETE', message: 'The answer ended early.' },
        output: 'a.txt is wr',
      },
    ]);
    const row = graph().locator('[data-node=mistakes]');
    assert.equal(await row.getByRole('group', { name: 'Part of its answer' }).innerText(), 'a.txt is wr');
    assert.equal(await row.getByTestId('part').innerText(), 'This is only a part: it ended here.');
  });

  it('shows every node and way of the workflow, and which were taken', async () => {
    await show([outline, { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' }]);
    assert.deepEqual(await nodes(), [
      'completed changes',
      'todo nothing',
      'running mistakes',
      'next tests',
      'todo verdict',
      'todo mend',
    ]);
    const ways = await graph()
      .locator('.graph-ways li')
      .evaluateAll((all) => all.map((way) => way.textContent!.replace(/\s+/g, ' ').trim()));
    assert.deepEqual(ways, [
      'may go to nothing: state.diff.exitCode != 0',
      'switched to mistakes: otherwise',
      'switched to tests: otherwise',
      'may go to the end',
      'may go to The verdict',
      'may go to changes: state.round < 3',
      'may go to the end: otherwise',
    ]);
    assert.match(await graph().innerText(), /^Workflow ?1 of 6 done/);
  });

  it('counts how often a node was begun, and the rounds of a loop', async () => {
    const back = { state: {}, next: ['mend'] };
    await show([
      outline,
      { type: 'node', node: 'mend', status: 'start' },
      { type: 'node', node: 'mend', status: 'end', ...back },
      { type: 'node', node: 'mend', status: 'start' },
      ...Array.from({ length: 3 }, (): RunEventBody => ({ type: 'node', node: 'mend', status: 'step' })),
    ]);
    const row = graph().locator('[data-node=mend]');
    assert.match((await row.innerText()).replace(/\s+/g, ' '), /Running · 2× ?2 times · round 2 of 3/);
  });

  it('says of a run that is over what was not on its way', async () => {
    await show([
      outline,
      { type: 'node', node: 'nothing', status: 'start' },
      { type: 'node', node: 'nothing', status: 'end', next: [] },
      { type: 'phase', phase: 'Completed' },
    ]);
    assert.deepEqual((await nodes()).slice(0, 3), ['completed changes', 'completed nothing', 'passed mistakes']);
    assert.match(await graph().innerText(), /^Workflow ?\d nodes? done/);
    assert.equal(await test.page.getByTestId('phase').count(), 0, 'nothing of it was interrupted');
  });

  const answer: RunEventBody = { type: 'message', message: { role: 'assistant', content: 'All is well.' } };
  const end: RunEventBody[] = [
    { type: 'node', node: 'nothing', status: 'start' },
    { type: 'node', node: 'nothing', status: 'end', next: [] },
  ];
  for (const [what, events] of [
    ['that is told after its end', [...end, answer]],
    ['of an agent at its last node', [end[0]!, answer, end[1]!]],
  ] as const)
    it(`has its answer below it, ${what}, and what is said about it`, async () => {
      const ask: RunEventBody = { type: 'message', message: { role: 'user', content: 'Why?' } };
      await show([outline, ...events, { type: 'phase', phase: 'Completed' }, ask]);
      const order = await test.page
        .locator('[data-testid="graph"], [data-role="user"], [data-role="assistant"]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-testid') ?? one.getAttribute('data-role')));
      assert.deepEqual(order.slice(-3), ['graph', 'assistant', 'user']);
      assert.equal(order.filter((one) => one === 'graph').length, 1);
    });

  it('folds what is far from the work in a long workflow, by keyboard too', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const long: RunEventBody[] = [
      {
        type: 'outline',
        outline: {
          nodes: names.map((name) => ({ name })),
          edges: names.slice(1).map((to, index) => ({ from: names[index]!, to })),
        },
      },
      ...names.slice(0, 8).flatMap((node, index): RunEventBody[] => [
        { type: 'node', node, status: 'start' },
        { type: 'node', node, status: 'end', next: [names[index + 1]!] },
      ]),
      { type: 'node', node: 'n8', status: 'start' },
    ];
    const all = [...begin.slice(0, 3), ...long];
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', all) });
    const lines = () =>
      graph()
        .locator('.graph-nodes > li')
        .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-node') ?? row.textContent!.trim()));
    assert.deepEqual(await lines(), ['7 nodes done', 'n7', 'n8', 'n9', '10 more nodes']);
    const fold = graph().getByRole('button', { name: '7 nodes done' });
    await fold.press('Enter');
    await test.send();
    assert.equal(await fold.getAttribute('aria-expanded'), 'true');
    assert.deepEqual((await lines()).slice(0, 4), ['7 nodes done', 'n0', 'n1', 'n2']);
    const whole = graph().getByRole('button', { name: /^Workflow/ });
    const head = async () => (await whole.innerText()).replace(/\s+/g, ' ').trim();
    assert.equal(await head(), 'Workflow 8 of 20 done');
    await whole.press('Enter');
    await test.send();
    assert.deepEqual([await whole.getAttribute('aria-expanded'), await lines()], ['false', []]);

    // At the end one line says how many, and the head while it is closed.
    const rest = names.slice(8).flatMap((node, index): RunEventBody[] => [
      { type: 'node', node, status: 'start' },
      { type: 'node', node, status: 'end', next: names.slice(9 + index, 10 + index) },
    ]);
    const over = runOf('run-1', [...all.slice(0, -1), ...rest, { type: 'phase', phase: 'Completed' }]);
    await test.send({ type: 'run', run: over });
    assert.equal(await head(), 'Workflow 20 nodes done');
    await whole.press('Enter');
    await test.send();
    assert.deepEqual([await head(), (await lines())[0]], ['Workflow', '20 nodes done']);
  });

  it('shows a failure, and the way to try again', async () => {
    const error = { code: 'TOOL_DENIED', message: 'The person did not allow this.' };
    await show([
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'node', node: 'mistakes', status: 'failed', branch: 'mistakes', error },
      { type: 'phase', phase: 'Failed', error },
    ]);
    assert.deepEqual(await nodes(), ['completed changes', 'failed mistakes', 'next tests']);
    await test.page.getByTestId('continue').click();
    assert.deepEqual((await test.posted()).at(-1), { type: 'continue' });
  });

  it('brings the question of a node to the front', async () => {
    await show([
      { type: 'node', node: 'tests', status: 'start', branch: 'tests' },
      { type: 'question', toolCallId: 'tests:1:0', question },
    ]);
    assert.match(await graph().innerText(), /Waiting for approval/);
    await graph().getByTestId('show-question').click();
    assert.deepEqual((await test.posted()).at(-1), { type: 'show-question', runId: 'run-1', toolCallId: 'tests:1:0' });
  });

  it('shows values and files when they are asked for, by keyboard too', async () => {
    await show([
      { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
      { type: 'node', node: 'mistakes', status: 'end', branch: 'mistakes', next: [], artifacts: ['notes.md'] },
    ]);
    const values = graph().getByRole('button', { name: 'Values (2)' });
    assert.equal(await values.getAttribute('aria-expanded'), 'false');
    await values.press('Enter');
    await test.send(); // until it is drawn
    assert.equal(await values.getAttribute('aria-expanded'), 'true');
    assert.match(await graph().innerText(), /"exitCode": 0/);
    await graph().getByRole('button', { name: 'Files (1)' }).press('Enter');
    await test.send();
    await graph().getByRole('button', { name: 'notes.md' }).press('Enter');
    assert.deepEqual((await test.posted()).at(-1), { type: 'open-file', path: 'notes.md' });
  });

  for (const theme of Object.keys(themes) as ThemeName[])
    it(`has its place in ${theme}`, async () => {
      await test.renew({ theme, width: 300 });
      await show([
        outline,
        { type: 'node', node: 'mistakes', status: 'start', branch: 'mistakes' },
        {
          type: 'node',
          node: 'mistakes',
          status: 'failed',
          branch: 'mistakes',
          error: { code: 'X', message: 'It failed.' },
        },
        { type: 'node', node: 'tests', status: 'start', branch: 'tests' },
        { type: 'question', toolCallId: 'tests:1:0', question },
      ]);
      const section = test.page.getByTestId('graph');
      assert.equal(await section.evaluate((element) => element.scrollWidth - element.clientWidth), 0);
      await picture(test.page, `graph-${theme}`);
    });
});
