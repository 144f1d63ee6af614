import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RunStore } from '../../src/runs/store.ts';
import { oneWindow } from '../support/editor/oneWindow.ts';
import type { Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { longConversation, writeJournal } from '../support/longRun.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';
import { violationsIn } from '../webview/axe.ts';

/** Long things come, are read and answered, in the window and at the sizes that people have. */
describe('a long thing', () => {
  let editor: Towpath;
  let provider: Provider;
  const numbered = (count: number, word: string) =>
    Array.from({ length: count }, (_, at) => `${word} ${at + 1}\n`).join('');
  const begin = oneWindow({ files: { 'long.txt': numbered(2000, 'old') } });
  beforeEach(async () => {
    provider = await startProvider(() => reply.text('Nothing was to be said.'));
    editor = await begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    });
  });
  afterEach(() => provider.close());

  const asks = async (...answers: ProviderReply[]) => {
    provider.script = () => answers.shift() ?? reply.text('It is done.');
    await editor.panel.send('Go.');
  };
  const find = (selector: string) => editor.panel.frame.locator(selector);
  const rests = () => editor.panel.waitForPhase('WaitingUser');

  it('that is said, of a megabyte: its beginning is there, and its end at a press', async () => {
    const words = `${'All of it is said in words of a usual length. '.repeat(21_800)}These are the last words.`;
    await asks(reply.text(words, 4096));
    await rests();
    const answer = find('[data-role="assistant"]').last();
    assert.ok((await answer.innerText()).length < 300_000);
    await answer.getByText('Show the end').click();
    await editor.panel.shows('These are the last words.');
    await editor.screenshot('long-answer');
  });

  it('that is to be changed, of 2,000 lines: read in the card and in the review, and allowed there', async () => {
    const wanted = numbered(2000, 'new');
    await asks(reply.call('fs_write', { path: 'long.txt', content: wanted }, { size: 4096 }));
    assert.match(await editor.dialog.text(), /long\.txt[\s\S]*2,000 lines/);
    await editor.screenshot('long-question');
    await editor.dialog.click('Review…');
    const diff = editor.page.locator('.monaco-diff-editor');
    await diff
      .locator('.view-line', { hasText: /^new\s1$/ })
      .first()
      .waitFor();
    const card = editor.panel.cards('fs.write').last();
    await eventually(
      'the card has what goes',
      async () => (await card.locator('.diff-text').first().innerText()) === 'old 1',
    );
    await card.locator('.diff').focus();
    await editor.page.keyboard.press('End');
    await eventually('its end is in sight', () =>
      card
        .locator('.diff')
        .evaluate((box) => box.scrollTop > 0 && box.scrollHeight - box.scrollTop - box.clientHeight < 2),
    );
    await editor.screenshot('long-review');
    assert.equal(editor.read('long.txt'), numbered(2000, 'old'));
    await editor.page
      .locator('.editor-actions')
      .getByRole('button', { name: /^Allow( \(.*\))?$/ })
      .click();
    await editor.panel.shows('It is done.');
    assert.equal(editor.read('long.txt'), wanted);
  });

  it('that a command prints, of 5,000 lines: its end is in the card, all of it in an editor', async () => {
    await asks(
      reply.call('shell_run', {
        command: 'for n in $(seq 5000); do echo line $n of what the command has to say about itself; done',
      }),
    );
    await editor.dialog.click('Allow');
    await editor.panel.shows('It is done.');
    const card = editor.panel.cards('shell.run').last();
    const output = card.locator('.output');
    if (!(await output.isVisible())) await card.locator('button[aria-expanded="false"]').first().click();
    await eventually('its end is in sight', async () => /line 5000 of/.test(await output.innerText()));
    const [box, text] = [(await output.boundingBox())!, (await output.locator('pre').boundingBox())!];
    const end = text.y + text.height;
    assert.ok(end > box.y && end <= box.y + box.height + 1, `it ends at ${end}, in ${JSON.stringify(box)}`);
    await editor.screenshot('long-output');
    await card.getByTestId('open-output').click();
    await eventually('all of it is in an editor', () =>
      editor.host.evaluate(({ window }) => {
        const text = window.activeTextEditor?.document.getText() ?? '';
        return /^line 1 of/m.test(text) && /^line 5000 of/m.test(text);
      }),
    );
  });

  it('that is wide, a table of 20 columns: scrolls by itself, by the keyboard too, in a narrow panel', async () => {
    const row = (cell: (at: number) => string) =>
      `| ${Array.from({ length: 20 }, (_, at) => cell(at)).join(' | ')} |\n`;
    await editor.resizePanel(230);
    await asks(
      reply.text(`${row((at) => `Column ${at}`)}${row(() => '---')}${row((at) => `cell ${at}`)}\nThat is it.`),
    );
    await rests();
    const table = find('.markdown table');
    const fits = await find('body').evaluate((body) => body.scrollWidth <= body.clientWidth);
    assert.ok(fits, 'nothing else is as wide');
    await table.focus();
    await editor.page.keyboard.press('ArrowRight');
    await eventually('it is scrolled', () => table.evaluate((one) => one.scrollLeft > 0));
    await editor.screenshot('wide-table');
  });

  it('that is a workflow, of 60 nodes: what is near the work, all of it at a press, and done it says so', async () => {
    const nodes = Array.from({ length: 60 }, (_, at) =>
      [`  - name: step_${at}`, '    uses: state.set', `    with: {value: ${at}}`].join('\n'),
    );
    const file = path.join(editor.folder, '.towpath/workflows/sixty.yaml');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, ['name: Sixty steps', 'nodes:', ...nodes].join('\n'));
    await editor.command('Towpath: Run Workflow…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Sixty steps' }).first().click();
    await editor.panel.waitForPhase('Completed');
    const graph = editor.panel.frame.getByTestId('graph');
    await eventually('it is said to be done', async () => /60/.test(await graph.innerText()));
    assert.doesNotMatch(await graph.innerText(), /\d+ of 60/, 'nothing reads as unfinished');
    await editor.screenshot('long-workflow');
  });

  it('that is a run of 10,000 messages: its last screen first, then all of it', async () => {
    await asks(reply.text('A short answer.'));
    await rests();
    const journals = readdirSync(editor.userDataDir, { recursive: true, encoding: 'utf8' });
    const journal = journals.find((file) => file.endsWith('journal.jsonl'))!;
    const runs = path.dirname(path.dirname(path.join(editor.userDataDir, journal)));
    writeJournal(runs, RunStore.newId(), longConversation(10_000));
    const history = find('[data-testid="history"]');
    const open = async (title: string) => {
      await history.click();
      await find('[data-run]').filter({ hasText: title }).first().click();
    };
    await history.click();
    await find('[data-run]').filter({ hasText: 'A run of 10000 messages' }).waitFor(); // its summary is written
    await history.click();
    await find('body').evaluate((body) => {
      const told: string[] = [];
      Object.assign(globalThis, { told });
      body.ownerDocument.defaultView!.addEventListener('message', (event: { data?: unknown }) => {
        const { type, part, run } = JSON.parse(String(event.data));
        if (type === 'run' || type === 'run-part')
          told.push(`${type} ${part ?? ''} ${run?.messages.length ?? ''}`.trim());
      });
    });
    await open('A run of 10000 messages');
    await editor.panel.shows('Part 9996');
    await editor.screenshot('long-run');
    const told = () => find('body').evaluate(() => (globalThis as unknown as { told: string[] }).told);
    await eventually('all of it has come', async () => (await told()).at(-1) === 'run  0');
    assert.match((await told())[0]!, /^run end \d{2,3}$/);
    await find('.scroller').evaluate((scroller) => {
      scroller.scrollTop = 0;
    });
    await editor.panel.shows('What does part 0 do');
    await open('Go.');
    await editor.panel.shows('A short answer.');
  });

  it('is readable for everyone: in forced colours, and at 200 %, where half of the height stays the conversation’s', async () => {
    await asks(
      reply.call('plan_update', {
        items: [
          { text: 'Read', status: 'done' },
          { text: 'Write', status: 'active' },
        ],
      }),
      reply.call('fs_read', { path: 'long.txt' }).call('shell_run', { command: 'exit 1' }),
      reply.text(
        `## Findings\n\nA [link](https://example.com), \`code\` and more:\n\n${'- a line of it\n'.repeat(200)}`,
      ),
    );
    await editor.dialog.click('Allow');
    await rests();
    const panel = async () => {
      for (const frame of editor.page.frames()) {
        const found = await frame
          .locator('body[data-phase] #panel')
          .count()
          .catch(() => 0);
        if (found === 1) return frame;
      }
      throw new Error('The panel is in no frame.');
    };
    const page = (await panel()) as unknown as Parameters<typeof violationsIn>[0]['page'];
    const isFine = async () => assert.deepEqual(await violationsIn({ page } as Parameters<typeof violationsIn>[0]), []);
    await find('body').evaluate((body) => {
      body.style.backgroundColor = 'var(--vscode-sideBar-background)'; // the side bar's, that shines through: axe does not see below a frame
    });
    await isFine();
    await editor.page.emulateMedia({ forcedColors: 'active' });
    try {
      await isFine();
      await editor.screenshot('forced-colours');
    } finally {
      await editor.page.emulateMedia({ forcedColors: null });
    }
    await editor.resizePanel(230);
    const size = editor.page.viewportSize()!;
    await editor.page.setViewportSize({ width: size.width / 2, height: size.height / 2 }); // what 200 % leaves of it
    try {
      const height = async (selector: string) => (await find(selector).first().boundingBox())!.height;
      const isHalf = () =>
        eventually('half of the height is the conversation’s', async () => {
          const [all, conversation] = [await height('#panel'), await height('.scroller')];
          return all < size.height / 2 && conversation >= all / 2;
        });
      await isHalf();
      await editor.panel.write(numbered(12, 'A line of what is asked,'));
      await isHalf();
      await editor.screenshot('zoomed');
      await editor.panel.write('');
    } finally {
      await editor.page.setViewportSize(size);
    }
  });
});
