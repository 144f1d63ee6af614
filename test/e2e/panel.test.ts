import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type Backend, backends } from '../support/backends.ts';
import { oneWindow } from '../support/editor/oneWindow.ts';
import type { Panel } from '../support/editor/panel.ts';
import { picture, pictureOfFailure } from '../support/editor/picture.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import type { WireRequest } from '../support/provider.ts';
import { type ProviderReply, reply } from '../support/reply.ts';
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
      async () => (await editor.panel.frame.locator('[data-action="use-demo"]').count()) === 0,
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
    const page = editor.panel.frame.locator('html');
    await page.evaluate((html) => {
      html.ownerDocument.defaultView!.addEventListener('message', ({ data }: { data: string }) => {
        const { type } = JSON.parse(data) as { type: string };
        if (data.includes('The first one.')) html.dataset.toldBy = `${html.dataset.toldBy ?? ''} ${type}`;
        else if (type === 'state') html.dataset.states = `${Number(html.dataset.states ?? 0) + 1}`;
      });
    });
    await ask('And once more.', said.hello);
    await eventually('its state is told', async () => Number(await page.getAttribute('data-states')) > 0);
    assert.equal(await page.getAttribute('data-told-by'), null, 'nothing tells of other runs unasked');
    const history = editor.panel.frame.getByTestId('history');
    await history.click();
    await eventually('the list tells of them', async () => (await page.getAttribute('data-told-by')) === ' runs');
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
    await search.press('Escape');
    await editor.command('Towpath: Open Run…');
    const listed = editor.page.locator('.quick-input-list .monaco-list-row');
    await listed.filter({ hasText: 'The second one.' }).waitFor();
    await title.fill('The FIRST one'); // what was said in it: it has another title since
    await eventually(
      'the other is not found',
      async () => (await listed.filter({ hasText: 'The second one.' }).count()) === 0,
    );
    assert.match(await listed.first().innerText(), /Mine: the first one\.[\s\S]*Pinned/);
    await editor.screenshot('open-run');
    await title.press('Enter');
    await eventually('the first run is shown', async () =>
      (await messages().first().innerText()).includes('The first one.'),
    );
    await history.click();
    await run('The second one.').getByTestId('delete-run').click();
    await eventually('the second run is gone', async () => (await run('The second one.').count()) === 0);
  });

  it('brings a deleted run back: by what is told of it, and from the list after a reload', async () => {
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
    const toasts = editor.page.locator('.notification-toast', { hasText: 'was deleted' });
    assert.equal(await toasts.count(), 0, 'no notification lies on the panel');
    await (await editor.told('was deleted.')).getByRole('button', { name: 'Undo', exact: true }).click();
    await isBack();

    await remove();
    await editor.reload();
    await editor.showPanel();
    await editor.command('Towpath: Open Run…');
    await editor.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Deleted Runs…' }).click();
    await editor.page.locator('.quick-input-title', { hasText: 'restore a deleted run' }).waitFor();
    const row = editor.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'To be kept.' });
    await row.waitFor();
    assert.match(await row.innerText(), /30 days left/);
    await editor.screenshot('deleted-runs');
    await row.click();
    await isBack();
    await ask('And it goes on.', said.hello);
  });

  it('renames, pins and deletes runs in *Open Run…*, by keyboard: the list stays', async () => {
    editor = await begin(backend.settings);
    for (const text of ['Keep the first.', 'Drop the second.']) {
      await ask(text, said.hello);
      await editor.panel.frame.getByTestId('new-run').click();
      await eventually('the conversation is empty', async () => (await messages().count()) === 0);
    }
    const { keyboard } = editor.page;
    const widget = editor.page.locator('.quick-input-widget');
    const input = widget.locator('input:visible').first();
    const title = (text: string) => widget.locator('.quick-input-title', { hasText: text }).waitFor();
    const rows = widget.locator('.quick-input-list .monaco-list-row');
    const row = (text: string) => rows.filter({ hasText: text });
    /**
     * Tab leads from the input to the list and to the buttons of the selected row. To the left around the end: after a button was used,
     * the editor's next row ignores the key to the right.
     */
    const press = async (button: string) => {
      const focused = editor.page.locator('.monaco-action-bar .action-label:focus');
      await eventually(`${button} has the focus`, async () => {
        const label = await focused.getAttribute('aria-label', { timeout: 500 }).catch(() => null);
        if (label?.startsWith(button)) return true;
        await keyboard.press(label === null ? 'Tab' : 'ArrowLeft');
        return false;
      });
      await keyboard.press('Enter');
    };
    await editor.command('Towpath: Open Run…');
    await title('open a run');
    await input.fill('Keep the first');
    await eventually('only the first run is listed', async () => (await rows.count()) === 1);
    await press('Rename this run');
    await title('rename a run');
    await input.fill('Renamed by keys');
    await input.press('Enter');
    await title('open a run');
    await row('Renamed by keys').waitFor();
    assert.equal(await input.inputValue(), 'Keep the first');
    await press('Pin this run');
    await eventually('it is pinned', async () => (await row('Renamed by keys').innerText()).includes('Pinned'));
    await editor.screenshot('open-run-buttons');
    await input.fill('Drop the second');
    await row('Drop the second.').waitFor();
    await press('Delete this run');
    await row('Drop the second.').waitFor({ state: 'detached' });
    await title('open a run');
    await input.fill('');
    await row('Renamed by keys').waitFor();
    await row('Deleted Runs…').click();
    await title('restore a deleted run');
    await row('Drop the second.').click();
    await editor.panel.shows('Drop the second.');
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
    await item('Towpath: working…').click();
    await editor.panel.waitForPhase('Failed');
    await editor.panel.send('[[long]] Count again.');
    await editor.panel.shows('tick tock');
    await editor.panel.frame.getByTestId('new-run').click();
    await eventually('the conversation is empty', async () => (await messages().count()) === 0);
    await item('Towpath: working…').click(); // also when another run is shown than the one at work
    await eventually('nothing works any more', async () => (await item('Towpath: working…').count()) === 0);
    await editor.panel.send('[[write]] Note the day.');
    await editor.dialog.text();
    await item('approval waiting').waitFor();
    await editor.dialog.escape();
    await editor.panel.waitForPhase('WaitingUser');
    await eventually('the status bar rests', async () => (await item('waiting').count()) === 0);
  });

  /**
   * Each answer of the model comes once the test lets it.
   * @param atOnce what is answered at once to this last message
   */
  const heldBack = (atOnce: (last: WireRequest['messages'][number]) => ProviderReply | undefined = () => undefined) => {
    const provider = backend.provider!;
    const { script, requests } = provider;
    const before = requests.length;
    let release = () => {};
    provider.script = ({ messages }, count) => {
      const answer = atOnce(messages.at(-1)!);
      if (answer) return answer;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      return reply
        .text('tick ')
        .after(held)
        .text(`Answer ${count - before + 1}.`);
    };
    const asked = (nth: number) =>
      eventually(`the model is asked ${nth} times`, () => requests.length === before + nth).then(() =>
        requests.at(-1)!.body.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
      );
    const giveBack = () => {
      release();
      provider.script = script;
    };
    return { asked, release: () => release(), giveBack };
  };

  it('what is said while it works is given at the next turn, when it is done or now, can be changed and taken back; Stop keeps it', async () => {
    editor = await begin(backend.settings);
    const model = heldBack();
    const waiting = (text: string) => editor.panel.frame.locator('[data-role="queued"]', { hasText: text });
    const says = async (text: string, key = 'Enter') => {
      await editor.panel.write(text);
      await editor.panel.composer.press(key);
    };
    try {
      await editor.panel.send('Begin.');
      await model.asked(1);
      await says('At the turn.');
      await waiting('At the turn.').getByText('Sent at the next step').waitFor();
      await says('At the end.', 'Alt+Enter');
      await waiting('At the end.').getByText('Sent when finished').waitFor();
      await says('Never.');
      await waiting('Never.').getByTestId('waiting-remove').click();
      await eventually('it is taken back', async () => (await waiting('Never.').count()) === 0);
      await editor.panel.hasTheKeys();
      await editor.panel.write('a draft');
      await waiting('At the turn.').getByTestId('waiting-edit').click();
      await eventually('it is in the box', async () => (await editor.panel.composer.inputValue()) === 'At the turn.');
      await says('At the next turn.');
      await waiting('At the next turn.').waitFor();
      assert.equal(await editor.panel.composer.inputValue(), 'a draft', 'what stood there before comes back');
      await editor.screenshot('waiting');
      model.release();
      assert.deepEqual((await model.asked(2)).slice(1), ['At the next turn.']);
      await waiting('At the end.').getByTestId('waiting-now').click();
      assert.deepEqual((await model.asked(3)).slice(1), ['At the next turn.', 'At the end.']);
      await eventually('nothing waits any more', async () => (await waiting('').count()) === 0);
      await says('Keep this.');
      await waiting('Keep this.').waitFor();
      await editor.panel.stop();
      await editor.panel.waitForPhase('Failed');
      await waiting('Keep this.').getByText('Sent when this run continues').waitFor();
      await editor.screenshot('waiting-stopped');
      await waiting('Keep this.').getByTestId('waiting-now').click();
      assert.equal((await model.asked(4)).at(-1), 'Keep this.');
      model.release();
      await editor.panel.waitForPhase('WaitingUser');
      await editor.panel.shows('Answer 4.');
    } finally {
      model.giveBack();
    }
  });

  it('the same by commands: said while it works, moved to another time, edited, taken back', async () => {
    editor = await begin(backend.settings);
    const model = heldBack();
    const waiting = (text: string) => editor.panel.frame.locator('[data-role="queued"]', { hasText: text });
    const rows = editor.page.locator('.quick-input-list .monaco-list-row');
    const input = editor.page.locator('.quick-input-widget input').first();
    const pick = async (text: string) => {
      await rows.filter({ hasText: text }).first().waitFor();
      await rows.filter({ hasText: text }).first().click();
    };
    const says = async (text: string, when: string) => {
      await editor.command('Towpath: Send While Running…');
      await editor.page.locator('.quick-input-widget').getByText('Enter a message').waitFor();
      await input.fill(text);
      await input.press('Enter');
      await pick(when);
      const word = editor.panel.frame.getByTestId('strip-waiting');
      if ((await word.getAttribute('aria-expanded')) === 'false') await word.click();
      await waiting(text).waitFor();
    };
    const change = async (text: string, act: string) => {
      await editor.command('Towpath: Queued Messages…');
      await pick(text);
      await rows.filter({ hasText: 'Remove' }).waitFor();
      await pick(act);
    };
    try {
      await editor.command('Towpath: Queued Messages…');
      await editor.panel.shows('No queued messages.');
      await editor.command('Towpath: Send While Running…');
      await editor.panel.shows('The shown run is not in progress');
      await editor.panel.send('Begin.');
      await model.asked(1);
      await says('Look here.', 'Next Step');
      await waiting('Look here.').getByText('Sent at the next step').waitFor();
      await says('Never mind.', 'When Finished');
      await says('Then sum up.', 'Next Step');
      await change('Then sum up.', 'When Finished');
      await waiting('Then sum up.').getByText('Sent when finished').waitFor();
      await change('Look here.', 'Edit');
      await eventually('it is in the box', async () => (await editor.panel.composer.inputValue()) === 'Look here.');
      await editor.panel.write('Look there.');
      await editor.panel.composer.press('Enter');
      await waiting('Look there.').waitFor();
      await editor.command('Towpath: Queued Messages…');
      await eventually('all three are listed', async () => (await rows.count()) === 3);
      await editor.screenshot('waiting-listed');
      await editor.page.keyboard.press('Escape');
      await change('Never mind.', 'Remove');
      await eventually('it is taken back', async () => (await waiting('Never mind.').count()) === 0);
      model.release();
      assert.deepEqual((await model.asked(2)).slice(1), ['Look there.']);
      await change('Then sum up.', 'Send Now');
      assert.deepEqual((await model.asked(3)).slice(1), ['Look there.', 'Then sum up.']);
      model.release();
      await editor.panel.waitForPhase('WaitingUser');
      await editor.panel.shows('Answer 3.');
    } finally {
      model.giveBack();
    }
  });

  it('two runs at work in one window and one that asks in another: list, badge and status bar say the same in both; Stop asks which', async () => {
    editor = await begin(backend.settings);
    const write = { path: 'notes/far.md', content: 'Pulled far away.' };
    const other = await editor.another();
    const model = heldBack((last) => {
      if (last.role === 'tool') return reply.text('Not that far.');
      return last.content === 'Far away.' ? reply.call('fs_write', write) : undefined;
    });
    const here = { ...editor, where: (isFar: boolean) => (isFar ? ' in another window' : '') };
    const there = { ...other, where: (isFar: boolean) => (isFar ? '' : ' in another window') };
    const windows = [here, there];
    const item = ({ page }: { page: Page }, text: string) => page.locator('.statusbar-item', { hasText: text });
    const badge = ({ page }: { page: Page }) => page.locator('.activitybar .badge-content', { hasText: /\d/ });
    const row = ({ panel }: { panel: Panel }, title: string) => panel.frame.locator('.history-row', { hasText: title });
    const listed = ({ page }: { page: Page }) => page.locator('.quick-input-list .monaco-list-row');
    const says = async (window: { page: Page }, text: string) =>
      (await item(window, 'Towpath').first().innerText()).trim() === text;
    try {
      await other.panel.send('Far away.');
      assert.match(await other.dialog.text(), /^Create notes\/far\.md\n/);
      await other.page.keyboard.press('Enter'); // Review…: the question waits, the window is free
      for (const [nth, words] of ['Walk on.', 'Talk on.'].entries()) {
        await editor.panel.send(words);
        await model.asked(nth + 2);
        await editor.panel.frame.getByTestId('new-run').click();
        await eventually('the conversation is empty', async () => (await messages().count()) === 0);
      }
      for (const window of windows) {
        const { where } = window;
        const status = window === there ? 'Towpath: 1 approval waiting' : 'Towpath has a question';
        const lines = [
          `“Far away.”: waiting for approval${where(true)}`,
          ...['Walk on.', 'Talk on.'].map((title) => `“${title}”: running${where(false)}`),
        ];
        let label = '';
        await eventually(`the status bar says ${lines.join()}`, async () => {
          label = (await item(window, status).locator('[aria-label]').first().getAttribute('aria-label')) ?? '';
          return lines.every((line) => label.split('\n').includes(line));
        });
        assert.equal(label.split('\n').length, 5, label); // what it is about, and what a click does
        assert.deepEqual(await badge(window).allInnerTexts(), ['1']);
        await window.panel.frame.getByTestId('history').click();
        await row(window, 'Far away.')
          .getByText(`Waiting for approval${where(true)} ·`)
          .waitFor();
        for (const title of ['Walk on.', 'Talk on.'])
          await row(window, title)
            .getByText(`Running${where(false)} ·`)
            .waitFor();
        await window.panel.frame.getByTestId('search-runs').press('Escape');
        await window.command('Towpath: Active Runs…');
        await eventually('they are listed', async () => (await listed(window).count()) === 3);
        assert.match(
          await listed(window).first().innerText(),
          new RegExp(`Far away\\.\\s*waiting for approval${where(true)}$`),
        );
        await window.page.keyboard.press('Escape');
      }
      await editor.screenshot('runs-now');
      await picture(other.page, 'runs-now-other');

      await item(here, 'Towpath has a question').click(); // what asks elsewhere is shown here, and cannot be answered
      await listed(here).filter({ hasText: 'Far away.' }).click();
      await editor.panel.shows('This run is in progress in another window.');
      await other.panel.cards('fs.write').last().getByRole('button', { name: 'Answer…', exact: true }).click();
      await other.dialog.text();
      await other.dialog.click('Allow');
      await other.panel.shows('Not that far.');
      await editor.panel.shows('Not that far.'); // by itself, when it has ended there
      assert.equal(editor.read('notes/far.md'), 'Pulled far away.');
      for (const window of windows) {
        await item(window, 'Towpath: working… (2)').waitFor();
        await eventually('nothing waits for the person', async () => (await badge(window).count()) === 0);
      }

      await editor.command('Towpath: Open Run…');
      await listed(here).filter({ hasText: 'Walk on.' }).click();
      await editor.panel.shows('Walk on.');
      await editor.command('Towpath: Stop');
      await eventually('they are listed', async () => /All 2/.test((await listed(here).allInnerTexts()).join()));
      assert.match(await listed(here).first().innerText(), /Walk on\./, 'the shown one first');
      await editor.screenshot('stop-several');
      await listed(here).filter({ hasText: 'Talk on.' }).click();
      for (const window of windows) await eventually('one is left', () => says(window, 'Towpath: working…'));
      await item(there, 'Towpath: working…').click(); // which can only be stopped there: it is listed
      await listed(there).filter({ hasText: 'Walk on.' }).waitFor();
      await other.page.keyboard.press('Escape');
      await item(here, 'Towpath: working…').click();
      for (const window of windows) await eventually('nothing works any more', () => says(window, 'Towpath'));
    } catch (error) {
      await pictureOfFailure(other.page, 'runs-now-other');
      throw error;
    } finally {
      model.giveBack();
      await other.close();
    }
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
      await editor.told('This workspace is not trusted, so its workflows are not read.');
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
