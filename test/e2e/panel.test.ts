import assert from 'node:assert/strict';
import { type Backend, backends } from '../support/backends.ts';
import { oneWindow } from '../support/editor/oneWindow.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { reply } from '../support/reply.ts';
import { said } from '../support/scripted.ts';

describe('the panel', () => {
  let backend: Backend;
  let editor: Towpath;
  const begin = oneWindow();
  before(async () => {
    backend = await backends.endpoint();
  });
  after(() => backend.close());

  const body = () => editor.panel.frame.locator('body');
  const ask = async (text: string, answer: string) => {
    await editor.panel.send(text);
    await editor.panel.shows(answer);
    await editor.panel.waitForPhase('WaitingUser');
  };
  const messages = () => editor.panel.frame.locator('[data-role]');

  it('offers the ways to begin, and the demo model plays its story', async () => {
    editor = await begin();
    for (const action of ['download-model', 'manage-models', 'use-endpoint', 'use-demo'])
      await editor.panel.frame.locator(`[data-action="${action}"]`).waitFor();
    await editor.screenshot('welcome');
    await editor.panel.frame.locator('[data-action="use-demo"]').click();
    await eventually(
      'the choice is made',
      async () => (await editor.panel.frame.locator('[data-action]').count()) === 0,
    );
    const before = editor.read('src/greet.js')!;
    await editor.panel.send('Make the greeting friendlier.');
    await editor.panel.shows('not an assistant');
    assert.match(await editor.dialog.text(), /Edit src\/greet\.js/);
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    await editor.panel.shows('the greeting is warmer now');
    assert.equal(editor.read('src/greet.js'), before.replace('!`', '! Welcome aboard.`'));
  });

  it('keeps runs: they are listed, opened and deleted, also after a reload', async () => {
    editor = await begin(backend.settings);
    await ask('The first one.', said.hello);
    await editor.panel.frame.getByTestId('new-run').click();
    await eventually('the conversation is empty', async () => (await messages().count()) === 0);
    await ask('The second one.', said.hello);
    await editor.reload();
    await editor.showPanel();
    await editor.panel.shows('The second one.');
    const history = editor.panel.frame.getByTestId('history');
    await history.click();
    const run = (title: string) => editor.panel.frame.locator('[data-run]', { hasText: title });
    const search = editor.panel.frame.getByTestId('search-runs');
    await search.fill('FIRST one');
    await eventually('the other is not found', async () => (await run('The second one.').count()) === 0);
    await run('The first one.').hover();
    await run('The first one.').getByTestId('pin-run').click();
    await editor.panel.frame.getByText('Pinned', { exact: true }).waitFor();
    await run('The first one.').getByTestId('rename-run').click();
    const title = editor.page.locator('.quick-input-widget input').first();
    await eventually('the title is there to be changed', async () => (await title.inputValue()) === 'The first one.');
    await title.fill('Mine: the first one.');
    await title.press('Enter');
    await run('Mine: the first one.').waitFor();
    await search.fill('');
    await run('The second one.').waitFor();
    await editor.screenshot('runs');
    await run('The first one.').getByText('The first one.').click();
    await eventually('the first run is shown', async () =>
      (await messages().first().innerText()).includes('The first one.'),
    );
    await history.click();
    await run('The second one.').getByTestId('delete-run').click();
    await eventually('the second run is gone', async () => (await run('The second one.').count()) === 0);
  });

  it('brings a deleted run back: by its notification, and from the list after a reload', async () => {
    editor = await begin(backend.settings);
    await ask('To be kept.', said.hello);
    const history = editor.panel.frame.getByTestId('history');
    const run = editor.panel.frame.locator('[data-run]', { hasText: 'To be kept.' });
    const remove = async () => {
      // The list may still be open from before, and closes when a run is shown.
      await eventually('the run is listed', async () => {
        if (await run.getByTestId('delete-run').isVisible()) return true;
        if ((await history.getAttribute('aria-expanded')) !== 'true') await history.click();
        return false;
      });
      await run.getByTestId('delete-run').click();
      await eventually('the conversation is empty', async () => (await messages().count()) === 0);
      await eventually('the run is gone', async () => (await run.count()) === 0);
    };
    const isBack = async () => {
      await editor.panel.shows('To be kept.');
      await editor.panel.shows(said.hello);
    };
    await remove();
    await editor.screenshot('deleted-run');
    await editor.page.locator('.notification-toast').getByRole('button', { name: 'Undo', exact: true }).click();
    await isBack();

    await remove();
    await editor.reload();
    await editor.showPanel();
    await editor.command('Towpath: Deleted Runs…');
    const row = editor.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'To be kept.' });
    await row.waitFor();
    assert.match(await row.innerText(), /30 days left/);
    await editor.screenshot('deleted-runs');
    await row.click();
    await isBack();
    await ask('And it goes on.', said.hello);
  });

  it('shows what a model writes as text: nothing in it runs, loads or breaks the page’s policy', async () => {
    editor = await begin(backend.settings);
    const violations: string[] = [];
    editor.page.on('console', (message) => {
      if (/Content Security Policy|Trusted ?Type/i.test(message.text())) violations.push(message.text());
    });
    const provider = backend.provider!;
    const script = provider.script;
    const hostile = `<img src=x onerror="window.hit=1"> <script>window.hit=1</script> ![p](${provider.url}/picture.png) [x](javascript:window.hit=1)`;
    provider.script = () => reply.text(hostile);
    try {
      await ask('Say something nasty.', '<script>');
      await editor.panel.frame.getByTestId('history').click();
      const asked = provider.otherRequests.filter((request) => request.path.includes('picture'));
      const hit = await body().evaluate(() => (globalThis as { hit?: number }).hit);
      assert.deepEqual({ asked, hit, violations }, { asked: [], hit: undefined, violations: [] });
    } finally {
      provider.script = script;
    }
  });

  it('the status bar works, asks and rests', async () => {
    editor = await begin(backend.settings);
    const item = (text: string) => editor.page.locator('.statusbar-item', { hasText: text });
    await editor.panel.send('[[long]] Count.');
    await item('Towpath works').click();
    await editor.panel.waitForPhase('Failed');
    await editor.panel.send('[[long]] Count again.');
    await editor.panel.shows('tick tock');
    await editor.panel.frame.getByTestId('new-run').click();
    await eventually('the conversation is empty', async () => (await messages().count()) === 0);
    await item('Towpath works').click(); // also when another run is shown than the one at work
    await eventually('nothing works any more', async () => (await item('Towpath works').count()) === 0);
    await editor.panel.send('[[write]] Note the day.');
    await editor.dialog.text();
    await item('Towpath asks').waitFor();
    await editor.dialog.escape();
    await editor.panel.waitForPhase('WaitingUser');
    await eventually('the status bar rests', async () => (await item('Towpath asks').count()) === 0);
  });

  it('a question does not come up under a person’s fingers', async () => {
    editor = await begin(backend.settings);
    const provider = backend.provider!;
    const script = provider.script;
    const write = { path: 'notes/today.md', content: 'Pulled all day.' };
    provider.script = [...provider.requests.map(() => reply), reply.wait(1000).call('fs_write', write)];
    await editor.panel.send('Note the day.');
    await editor.panel.composer.pressSequentially('and while it thinks I go on typing', { delay: 60 });
    assert.equal(await editor.dialog.isOpen(), false, 'not while typing');
    await editor.dialog.text();
    provider.script = script;
    await editor.dialog.escape();
    assert.match(await editor.panel.composer.inputValue(), /go on typing$/);
    assert.equal(editor.read('notes/today.md'), undefined);
  });

  describe('of an untrusted workspace', () => {
    before(async () => {
      const files = { '.towpath/workflows/broken.yaml': 'nodes: 1\n' };
      editor = await openTowpath({ files, settings: backend.settings, trust: 'refused' });
    });
    after(() => editor?.stop());

    it('offers nothing that changes or runs', async () => {
      await ask('Hello?', said.hello);
      const offered = backend.provider!.requests.at(-1)!.body.tools!.map((tool) => tool.function.name);
      const reading = 'fs_list fs_find fs_search fs_read output_read code_diagnostics code_symbols code_definition';
      assert.deepEqual(offered, [...reading.split(' '), 'editor_context', 'plan_update', 'ask_person']);
      await editor.panel.shows(/trust/i);
    });

    it('reads none of its workflows', async () => {
      await editor.command('Towpath: Run Workflow…');
      await editor.page.getByText('This workspace is not trusted, so its workflows are not read.').first().waitFor();
      const problems = await editor.host.evaluate((vscode) =>
        vscode.languages.getDiagnostics().flatMap(([, all]) => all.filter(({ source }) => source === 'Towpath')),
      );
      assert.deepEqual(problems, []);
    });
  });

  for (const [name, theme, width] of [
    ['dark', 'Default Dark Modern', 400],
    ['light', 'Default Light Modern', 400],
    ['high-contrast', 'Default High Contrast', 400],
    ['narrow', 'Default Dark Modern', 230],
  ] as const)
    it(`is readable in ${name}`, async () => {
      editor = await begin({ ...backend.settings, 'workbench.colorTheme': theme });
      await editor.resizePanel(width);
      await ask('[[think]] What is the answer?', said.answer);
      await editor.panel.send('[[edit]] Make the greeting warmer.');
      await editor.dialog.text();
      await editor.screenshot(`question-${name}`);
      await editor.dialog.click('Allow');
      await editor.panel.shows(said.edited);
      await editor.panel.waitForPhase('WaitingUser');
      await editor.screenshot(`panel-${name}`);
      const sideways = await body().evaluate((element) => element.scrollWidth - element.clientWidth);
      assert.ok(sideways <= 0, `nothing sticks out sideways (${sideways} px)`);
    });
});
