import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { panelOf } from '../support/editor/panel.ts';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('naming things in a message', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, {
    'src/one.ts': 'export const one = 1;\n',
    'src/two.ts': 'export const two = 2;\nexport const three = 3;\n',
    '.env': 'TOKEN=hunter2\n',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own variable
    '.github/prompts/look.prompt.md': 'Look at it like ${input:who:Like whom?}',
    '.towpath/workflows/tell.yaml': `name: Tell
input_schema: {what: string}
nodes:
  - name: first
    uses: llm.tools
    with: {tools: [fs.read], messages: [{role: user, content: "Look at {{ state.what }}"}]}
`,
    '.towpath/workflows/broken.yaml': 'nodes: 1\n',
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder, encoding: 'utf8' });
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    git('init', '-q');
    git('add', 'src');
    git('commit', '-qm', 'Begin');
    writeFileSync(path.join(folder, 'src/one.ts'), 'export const one = 11;\n');
    provider = await startProvider(() => reply.text('I see.'));
    editor = await openTowpath({
      folder,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const row = (word: string) =>
    editor.panel.frame
      .locator('.completion-row')
      .filter({ has: editor.page.locator(`text="${word}"`) })
      .first();
  const chips = async () =>
    (await editor.panel.frame.getByTestId('mentions').locator('li').allInnerTexts()).map((one) =>
      one
        .replace(/\s+/g, ' ')
        .replace(/ about \S+ tokens/, '')
        .trim(),
    );
  /** Writes `@typed` and takes the row with this label by the keyboard. */
  async function name(typed: string, label: string): Promise<void> {
    await editor.panel.composer.pressSequentially(`@${typed}`);
    await eventually(`${label} is the first of the list`, async () => {
      const current = editor.panel.frame.locator('.completion [aria-selected="true"] .completion-label');
      return (await current.innerText({ timeout: 500 }).catch(() => '')) === label;
    });
    await editor.page.keyboard.press('Enter');
    await row(label).waitFor({ state: 'detached' });
  }
  /** What the model was told last in the person's name. */
  function told(): string {
    const content: unknown = provider.requests
      .map(({ body }) => body.messages.findLast(({ role }) => role === 'user')?.content)
      .findLast((one) => JSON.stringify(one ?? '').includes('Look at'));
    return typeof content === 'string'
      ? content
      : (content as { text?: string }[]).map(({ text = '' }) => text).join('\n\n');
  }
  async function sends(): Promise<string> {
    const before = provider.requests.length;
    await editor.page.keyboard.press('Enter');
    await eventually('the model is asked', () => provider.requests.length > before);
    await editor.panel.waitForPhase('WaitingUser');
    return told();
  }

  it('a file goes with the message as it stands in the editor, and a secret one does not', async () => {
    await editor.host.evaluate(async (vscode, folder) => {
      const document = await vscode.workspace.openTextDocument(`${folder}/src/two.ts`);
      const shown = await vscode.window.showTextDocument(document);
      await shown.edit((edit) => edit.insert(new vscode.Position(0, 0), '// not saved\n'));
    }, folder);
    await editor.panel.composer.click();
    await editor.panel.composer.pressSequentially('Look at ');
    await name('two', 'two.ts');
    await name('.en', '.env');
    await eventually('the chips say how much it is', async () =>
      /^two\.ts \d+; \.env not read$/.test((await chips()).join('; ')),
    );
    await editor.screenshot('mentions');
    const said = await sends();
    assert.match(said, /src\/two\.ts:\n```\n\/\/ not saved\nexport const two = 2;\nexport const three = 3;\n```/);
    assert.match(said, /\.env:\n\(Not read with this message: /);
    assert.doesNotMatch(said, /hunter2/);
    assert.match(said, /Look at @src\/two\.ts @\.env$/);
  });

  it('what is selected, what has changed and a file that has just been made can be named', async () => {
    await editor.host.evaluate(async (vscode, folder) => {
      const document = await vscode.workspace.openTextDocument(`${folder}/src/one.ts`);
      const shown = await vscode.window.showTextDocument(document);
      shown.selection = new vscode.Selection(0, 13, 0, 16);
      await vscode.workspace.fs.writeFile(vscode.Uri.file(`${folder}/src/fresh.ts`), Buffer.from('export {};\n'));
    }, folder);
    await editor.panel.composer.click();
    await editor.panel.composer.pressSequentially('Look at ');
    await name('sel', 'selection');
    await name('chan', 'changes');
    await name('fresh', 'fresh.ts');
    const said = await sends();
    assert.match(said, /src\/one\.ts:1-1:\n```\none\n```/);
    assert.match(said, /-export const one = 1;\n\+export const one = 11;/);
    assert.match(said, /src\/fresh\.ts:\n```\nexport \{\};\n```/);
  });

  it('a name that is typed through counts as one that was picked; one that names nothing is marked, and code stays text', async () => {
    const { composer } = editor.panel;
    await composer.click();
    await composer.pressSequentially(
      'Look at @src/two.ts, @.env, @changes and @src/twoo.ts with @types/node, @Injectable() ',
    );
    await eventually('there is a chip for each', async () =>
      /^\.env not read; @src\/twoo\.ts not found; changes \d+.*; two\.ts \d+$/.test((await chips()).sort().join('; ')),
    );
    await editor.screenshot('typed-mentions');
    await composer.pressSequentially('from me@example.com and @src/one.ts');
    await editor.panel.frame.getByRole('option').first().waitFor();
    await editor.page.keyboard.press('Escape'); // the list
    const said = await sends();
    assert.match(said, /src\/two\.ts:\n```\n/);
    assert.match(said, /src\/one\.ts:\n```\nexport const one = 11;\n```/, 'resolved when it was sent');
    assert.match(said, /-export const one = 1;/);
    assert.match(said, /\.env:\n\(Not read with this message: /);
    assert.doesNotMatch(said, /hunter2/);
    assert.match(said, /@src\/twoo\.ts with @types\/node, @Injectable\(\) from me@example\.com and @src\/one\.ts$/);
  });

  it('what an input method composes is sent by an Enter after it, and not by the one that ends it', async () => {
    const before = provider.requests.length;
    const { page, panel } = editor;
    await panel.composer.click();
    await panel.composer.pressSequentially('Look at ');
    const keys = await page.context().newCDPSession(page);
    try {
      for (const text of ['に', 'にほ', 'にほん'])
        await keys.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
      await eventually('it is being composed', async () => (await panel.composer.inputValue()) === 'Look at にほん');
      // Every key that the input method takes for itself comes so.
      await keys.send('Input.dispatchKeyEvent', {
        type: 'rawKeyDown',
        key: 'Enter',
        code: 'Enter',
        windowsVirtualKeyCode: 229,
      });
      assert.equal(await panel.composer.inputValue(), 'Look at にほん');
      await keys.send('Input.insertText', { text: '日本' });
      await keys.send('Input.dispatchKeyEvent', {
        type: 'keyUp',
        key: 'Enter',
        code: 'Enter',
        windowsVirtualKeyCode: 13,
      });
    } finally {
      await keys.detach();
    }
    await eventually('it is composed', async () => (await panel.composer.inputValue()) === 'Look at 日本');
    assert.equal(provider.requests.length, before);
    assert.match(await sends(), /Look at 日本$/);
  });

  it('all of it is there after a reload, as chips that open the file', async () => {
    await editor.reload();
    await editor.showPanel();
    await editor.panel.shows('Look at @src/two.ts');
    const said = editor.panel.frame.locator('[data-role="user"]').first();
    assert.deepEqual(
      (await said.locator('.mention').allInnerTexts()).map((one) =>
        one
          .replace(/\s+/g, ' ')
          .replace(/ about \S+ tokens/, '')
          .replace(/\d+/, 'N')
          .trim(),
      ),
      ['Open two.ts N', '.env not read'],
    );
    await said.locator('.mention-open').click();
    await editor.page.locator('.tab.active', { hasText: 'two.ts' }).waitFor();
  });

  it('a file dragged from the Explorer and dropped with Shift is named', async () => {
    await editor.command('Towpath: New Run');
    await editor.command('Towpath: Open Chat in an Editor');
    const tab = panelOf(editor.page, 'tab');
    await tab.ready();
    await editor.host.evaluate(
      (vscode, place) => vscode.commands.executeCommand('revealInExplorer', vscode.Uri.file(place)),
      path.join(folder, 'src/one.ts'),
    );
    const file = editor.page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'one.ts' });
    await file.hover();
    const { mouse, keyboard } = editor.page;
    await mouse.down();
    const box = (await tab.composer.boundingBox())!;
    const to = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await mouse.move(to.x, to.y, { steps: 5 });
    await keyboard.down('Shift');
    await mouse.move(to.x + 2, to.y, { steps: 5 });
    await editor.screenshot('drag');
    await mouse.up();
    await keyboard.up('Shift');
    await eventually('it is named', async () => (await tab.composer.inputValue()).includes('@src/one.ts'));
    await editor.screenshot('dropped');
  });

  it('what a / begins asks for something: whoever goes away has their words and the keys again, and whoever answers is heard', async () => {
    const input = editor.page.locator('.quick-input-widget input').first();
    const { composer } = editor.panel;
    for (const [said, heard] of [
      ['/look', 'Look at it like Ada'],
      ['/tell', 'Look at Ada'],
    ] as const) {
      const before = provider.requests.length;
      await editor.panel.send(said);
      await input.waitFor();
      await editor.page.keyboard.press('Escape');
      await eventually('the words are back', async () => (await composer.inputValue()) === said);
      assert.equal(provider.requests.length, before);
      await editor.panel.hasTheKeys();
      await editor.page.keyboard.press('Enter');
      await input.waitFor();
      await input.fill('Ada');
      await editor.page.keyboard.press('Enter');
      await eventually('the model is asked', () => provider.requests.length > before);
      await editor.panel.waitForPhase(['WaitingUser', 'Completed']);
      assert.equal(told(), heard);
      assert.equal(await composer.inputValue(), '');
    }
  });

  it('a workflow with a mistake says what it is, and the words wait in the message box', async () => {
    await editor.panel.send('/broken');
    await editor.told('broken.yaml, line 1: `nodes` must be a list.');
    await eventually('the words are back', async () => (await editor.panel.composer.inputValue()) === '/broken');
  });
});
