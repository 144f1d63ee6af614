import assert from 'node:assert/strict';
import { toToolResult } from '../../../src/protocol/content/tools.ts';
import { type HostMessage, type ViewMessage, viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { picture } from '../../support/editor/picture.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, eventsOf, readyState, runOf } from '../conversation.ts';

const plan = (...statuses: string[]): RunEventBody[] => {
  const items = statuses.map((status, at) => ({ text: `Step ${at + 1} of the plan`, status }));
  const call = { id: 'plan-1', name: 'plan.update', arguments: { items } };
  return [
    { type: 'message', message: { role: 'assistant', content: 'I will do it in steps.', toolCalls: [call] } },
    { type: 'tool-end', toolCallId: call.id, name: call.name, ok: true, ms: 1 },
    {
      type: 'message',
      message: { role: 'tool', content: '', toolResults: [toToolResult(call.id, { ok: true, data: null })] },
    },
  ];
};
const busy: RunEventBody[] = [
  ...begin,
  ...plan('done', 'done', 'done', 'active', 'pending', 'pending'),
  { type: 'queued', text: 'And the README.' },
  { type: 'queued', text: 'Then tell me what is left.', when: 'done' },
];
const command = { id: 'c0ffee00', runId: 'run-1', line: 'npm run dev', startedAt: Date.now() - 180_000 };
const files: Extract<HostMessage, { type: 'files' }> = {
  type: 'files',
  runId: 'run-1',
  rows: [
    { path: 'src/commands/export/cli.ts', id: 'a1', added: 80, removed: 21 },
    { path: 'src/commands/export/json.ts', id: 'b1', added: 34, removed: 0, made: 'new' },
    { path: 'README.md', id: 'c1', added: 6, removed: 1, mixed: true },
    { path: 'src/old.ts', id: '', added: 0, removed: 8, made: 'deleted' },
    { path: 'assets/logo.png', id: '', made: 'moved', from: 'logo.png' },
  ],
  count: 5,
  added: 120,
  removed: 30,
  more: 0,
  ran: true,
};

describe('The strip above the message box', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const show = (bodies = busy, commands = [command]) =>
    test.send(
      { type: 'state', state: { ...readyState, commands } },
      { type: 'run', run: runOf('run-1', bodies) },
      { type: 'events', events: eventsOf('run-1', []) },
      files,
    );
  const find = (id: string) => test.page.getByTestId(id);
  const words = async () => (await test.page.locator('.strip').innerText()).replace(/\s+/g, ' ').trim();
  const posted = async (): Promise<ViewMessage[]> => {
    const all = await test.posted();
    for (const message of all) viewMessageSchema.parse(message);
    return all.filter(({ type }) => type !== 'ready');
  };
  const focused = () =>
    test.page.evaluate(
      () =>
        (globalThis as unknown as { document: { activeElement: { dataset: { testid?: string }; id: string } } })
          .document.activeElement.dataset.testid ?? '',
    );

  it('says in one line what is planned, changed, at work and waits; nothing of nothing', async () => {
    await show();
    assert.equal(await words(), 'Plan 3/6 5 files +120 −30 1 running 2 queued');
    await test.send({ ...files, rows: [] });
    assert.equal(await words(), 'Plan 3/6 1 running 2 queued');
    await show(begin, []);
    await test.send({ ...files, rows: [] });
    assert.equal(await test.page.locator('.strip').count(), 0);
  });

  it('is heard as it is read, however narrow the panel is', async () => {
    await test.page.setViewportSize({ width: 230, height: 600 });
    await show();
    for (const name of ['Plan 3/6', '5 files +120 −30', '1 running', '2 queued'])
      assert.equal(await test.page.getByRole('button', { name, exact: true }).count(), 1, name);
  });

  it('what is left of a plan can be put away, in a narrow panel from its list', async () => {
    await show();
    await find('plan-close').click();
    await test.send();
    assert.doesNotMatch(await words(), /Plan/);
    await test.renew({ width: 230 });
    await show();
    assert.equal(await find('plan-close').isVisible(), false);
    await find('strip-plan').click();
    await find('strip-close-here').click();
    await test.send();
    assert.doesNotMatch(await words(), /Plan/);
    assert.equal(await find('plan').count(), 0);
  });

  it('opens one list at a time, by the keyboard too; Escape closes it and is back at its word', async () => {
    await show();
    await find('strip-plan').focus();
    await test.page.keyboard.press('Enter');
    await find('plan').waitFor();
    await test.send();
    assert.equal(await focused(), 'plan', 'its keys scroll it');
    await find('strip-files').click();
    await find('files').waitFor();
    assert.equal(await find('plan').count(), 0);
    assert.equal(await focused(), 'composer', 'after a click the next key is for the message');
    await test.page.keyboard.press('Escape');
    await test.send();
    assert.equal(await find('files').count(), 0);
    await find('strip-waiting').focus();
    await test.page.keyboard.press('Enter');
    await find('waiting').waitFor();
    await test.send();
    await test.page.keyboard.press('Escape');
    await test.send();
    assert.deepEqual([await find('waiting').count(), await focused()], [0, 'strip-waiting']);
  });

  it('a check box has the colors of the editor, checked too', async () => {
    await show();
    await find('strip-files').click();
    await test.page.evaluate(() => {
      const { style } = (globalThis as unknown as { document: { documentElement: { style: { setProperty(name: string, value: string): void } } } }).document.documentElement;
      style.setProperty('--vscode-checkbox-background', 'rgb(1, 2, 3)');
      style.setProperty('--vscode-checkbox-border', 'rgb(4, 5, 6)');
      style.setProperty('--vscode-checkbox-foreground', 'rgb(7, 8, 9)');
    }); // biome-ignore format: in the page
    const colors = () =>
      test.page.locator('[data-file="README.md"] input').evaluate((element) => {
        const { getComputedStyle } = element.ownerDocument.defaultView!;
        const [box, mark] = [getComputedStyle(element), getComputedStyle(element, '::before')];
        return [box.appearance, box.backgroundColor, box.borderColor, mark.content === 'none' ? '' : mark.borderColor];
      });
    const own = ['none', 'rgb(1, 2, 3)', 'rgb(4, 5, 6)'];
    assert.deepEqual(await colors(), [...own, '']);
    await test.page.locator('[data-file="README.md"] input').check();
    assert.deepEqual(await colors(), [...own, 'rgb(7, 8, 9)']);
  });

  it('a file has its counts, its diff and its undo; all of them are reviewed and committed', async () => {
    await show();
    await find('strip-files').click();
    const lines = (await find('files').innerText()).split('\n').map((one) => one.trim());
    assert.deepEqual(lines.filter(Boolean), [
      '0 of 5 reviewed', 'Review', 'Commit…',
      'src/commands/export', '/cli.ts', '+80 −21', 'Diff',
      'src/commands/export', '/json.ts', '+34 −0', 'new', 'Diff',
      'README.md', '+6 −1', 'also changed by you', 'Diff',
      'src', '/old.ts', '+0 −8', 'deleted', 'Diff',
      'assets', '/logo.png', 'from logo.png', 'Diff',
      'Commands may have changed more: Source Control',
    ]); // biome-ignore format: rows
    const row = test.page.locator('[data-file="README.md"]');
    assert.equal(await test.page.getByRole('button', { name: 'src/commands/export/cli.ts', exact: true }).count(), 1);
    await row.getByTestId('file-changes').click();
    await row.locator('.file-name').click();
    await row.getByTestId('file-more').click();
    await row.getByTestId('undo-file').click();
    for (const id of ['review-files', 'commit-files', 'source-control']) await find(id).click();
    const about = { runId: 'run-1', path: 'README.md' };
    assert.deepEqual(await posted(), [
      { type: 'file-changes', ...about },
      { type: 'open-file', path: 'README.md' },
      { type: 'undo-file', ...about },
      { type: 'review-files', runId: 'run-1' },
      { type: 'commit-files', runId: 'run-1' },
      { type: 'action', action: 'source-control' },
    ]);
  });

  it('files of a command are grouped under it, the first five of many; files without a row are in the review', async () => {
    await show();
    const formatted = Array.from({ length: 8 }, (_, at) => ({ path: `f${at}.ts`, id: `f${at}`, added: 2, removed: 1 }));
    const rows = [
      { ...files.rows[0]! },
      ...formatted.map((row) => ({ ...row, group: 0 })),
      { path: 'lock', id: 'l', added: 1, removed: 1, group: 1, mixed: 'same-time' as const },
    ];
    const groups = [
      { by: 'npm run format', files: 400 },
      { by: 'npm i', files: 1 },
    ];
    await test.send({ ...files, rows, count: 402, groups, ran: 'old' });
    await find('strip-files').click();
    const row = (name: string) => [name, '+2 −1', 'Diff'];
    const lines = async () =>
      (await find('files').innerText())
        .split('\n')
        .map((one) => one.trim())
        .filter(Boolean);
    const [head, tail] = [
      ['0 of 402 reviewed', 'Review', 'Commit…', 'src/commands/export', '/cli.ts', '+80 −21', 'Diff', 'by npm run format'],
      ['by npm i', 'lock', '+1 −1', 'changed at the same time', 'Diff', 'Commands of this run before the update were not recorded. Source Control'],
    ]; // biome-ignore format: rows
    assert.deepEqual(await lines(), [
      ...head,
      ...formatted.slice(0, 5).flatMap(({ path }) => row(path)),
      'and 395 more',
      ...tail,
    ]);
    await find('group-more').press('Enter');
    await test.send();
    assert.deepEqual(await lines(), [...head, ...formatted.flatMap(({ path }) => row(path)), 'and 392 more', ...tail]);
    await find('group-more').press('Enter');
    assert.deepEqual(await posted(), [{ type: 'review-files', runId: 'run-1' }]);
  });

  it('the focus goes to the first file that was hidden when no more are', async () => {
    await show();
    const rows = Array.from({ length: 8 }, (_, at) => ({ path: `f${at}.ts`, id: `f${at}`, group: 0 }));
    await test.send({ ...files, rows, count: 8, groups: [{ by: 'npm run format', files: 8 }] });
    await find('strip-files').click();
    await find('group-more').press('Enter');
    await test.send();
    assert.equal(await find('group-more').count(), 0);
    const focused = test.page.locator('[data-file="f5.ts"] .file-name:focus');
    assert.equal(await focused.count(), 1);
  });

  it('what was reviewed is dimmed and counted, and the host hears which contents that were', async () => {
    const [first, second, ...others] = files.rows;
    await show();
    await test.send({ ...files, rows: [first!, { ...second!, reviewed: true }, ...others] });
    await find('strip-files').click();
    assert.equal((await find('files').locator('.files-head > .quiet').innerText()).trim(), '1 of 5 reviewed');
    assert.equal(await test.page.locator('li.reviewed').getAttribute('data-file'), second!.path);
    const marks = test.page.locator('.files input');
    await marks.nth(0).click();
    await marks.nth(1).click();
    assert.deepEqual(await posted(), [
      { type: 'review-file', runId: 'run-1', path: first!.path, id: 'a1', reviewed: true },
      { type: 'review-file', runId: 'run-1', path: second!.path, id: 'b1', reviewed: false },
    ]);
  });

  for (const [width, height] of [[230, 560], [420, 800], [900, 700], [360, 450]] as const) // biome-ignore format: a table
    for (const theme of ['dark', 'light', 'high-contrast'] as const)
      it(`is one line at ${width} pixels in ${theme}; with a list open half of the height is the conversation’s`, async () => {
        await test.renew({ theme, width, height });
        await show();

        const line = (await test.page.locator('.strip').boundingBox())!;
        assert.ok(line.height < 30, `${line.height} pixels high`);
        for (const list of ['files', 'waiting', 'plan', 'commands']) {
          await test.page.getByTestId(`strip-${list}`).click();
          await test.page.getByTestId(list).waitFor();
          const [talk, box] = await Promise.all(
            ['main', '#strip-list'].map((part) => test.page.locator(part).boundingBox()),
          );
          assert.ok(Math.round(talk!.height) >= height / 2, `${list}: ${talk!.height} of ${height}`);
          assert.ok(box!.height <= height * 0.4, `${list}: ${box!.height} of ${height}`);
          await picture(test.page, `strip-${list}-${width}-${theme}`);
        }
        const { wide, inner } = await test.page.evaluate(() => {
          const { body } = (
            globalThis as unknown as {
              document: {
                body: {
                  scrollWidth: number;
                  querySelector(what: string): { scrollWidth: number; clientWidth: number };
                };
              };
            }
          ).document;
          const strip = body.querySelector('.strip');
          return { wide: body.scrollWidth, inner: strip.scrollWidth - strip.clientWidth };
        });
        assert.deepEqual([wide <= width, inner <= 0], [true, true], 'nothing is cut off');
      });
});
