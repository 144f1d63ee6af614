import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

/** In one window, one after the other, as a person would: each finds what the one before it left. */
describe('from the code into a message', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, {
    'src/one.ts': 'export const one = 1;\nexport const two = 2;\nexport const three = one + tow;\n',
    'src/other.ts': 'export const other = 0;\n',
    '.env': 'TOKEN=hunter2\n',
  });
  const outside = path.join(temporary, 'outside.ts');
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
    git('init', '-q');
    git('add', 'src');
    git('commit', '-qm', 'Begin');
    writeFileSync(path.join(folder, 'src/other.ts'), 'export const other = 100;\n');
    writeFileSync(outside, 'export const secret = 1;\n');
    provider = await startProvider(() => reply.text('I see.'));
    editor = await openTowpath({
      folder,
      panelClosed: true,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'editor.lightbulb.enabled': 'on',
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  /** A view that comes back has a new page, which is not there at once. */
  const chips = async () => {
    const all = editor.panel.frame.getByTestId('mentions').locator('li');
    return (await all.allInnerTexts().catch(() => [])).map((one) =>
      one
        .replace(/\s+/g, ' ')
        .replace(/ about \S+ tokens/, '')
        .trim(),
    );
  };
  const hasChips = (...wanted: (string | RegExp)[]) =>
    eventually(`the chips are ${wanted.join(', ')}`, async () => {
      const now = await chips();
      return now.length === wanted.length && wanted.every((one, at) => new RegExp(one).test(now[at]!));
    });
  /** What the model was told last in the person's name. */
  function told(): string {
    const content: unknown = provider.requests.at(-1)!.body.messages.findLast(({ role }) => role === 'user')?.content;
    return typeof content === 'string'
      ? content
      : (content as { text?: string }[]).map(({ text = '' }) => text).join('\n\n');
  }
  /** Until the model has answered what this sends. */
  async function afterwards(send: () => Promise<unknown>): Promise<string> {
    const before = provider.requests.length;
    await send();
    await eventually('the model is asked', () => provider.requests.length > before);
    await editor.panel.waitForPhase('WaitingUser');
    return told();
  }
  const sends = () =>
    afterwards(async () => {
      await editor.panel.hasTheKeys(); // a moment after the name is there
      await editor.page.keyboard.press('Enter');
    });
  const open = (name: string, from?: [number, number], to?: [number, number]) =>
    editor.host.evaluate(
      async (vscode, [file, from, to]) => {
        const document = await vscode.workspace.openTextDocument(file);
        const shown = await vscode.window.showTextDocument(document);
        if (from) shown.selection = new vscode.Selection(...from, ...(to ?? from));
      },
      [path.resolve(folder, name), from, to] as const,
    );
  const run = (command: string, ...args: unknown[]) =>
    editor.host.evaluate(
      async (vscode, [command, args]) => {
        await vscode.commands.executeCommand(command, ...args);
      },
      [command, args] as const,
    );
  const inMenu = (label: string) =>
    editor.page
      .locator('.monaco-menu .action-item')
      .filter({ has: editor.page.locator(`text="${label}"`) })
      .last();
  /** A menu takes no click in its first moment. */
  const choose = (label: string) =>
    eventually(`${label} is chosen`, async () => {
      await inMenu(label)
        .click({ timeout: 5000 })
        .catch(() => {}); // it has gone
      return !(await inMenu(label).isVisible());
    });
  /** What the menu of this has below *Towpath*. */
  async function menuOf(target: Locator): Promise<string[]> {
    const below = editor.page.locator('.monaco-submenu .action-item:not(.disabled) .action-label:not(.separator)');
    await eventually('the menu has its rows', async () => {
      try {
        await target.click({ button: 'right', timeout: 5000 });
        await inMenu('Towpath').hover({ timeout: 5000 });
        await below.first().waitFor({ timeout: 5000 });
        return true;
      } catch {
        await editor.page.keyboard.press('Escape'); // a menu that has just come up may not have seen the pointer
        return false;
      }
    });
    return (await below.allInnerTexts()).map((one) => one.trim());
  }

  it('what is selected, by a key: the box has its name, its size and the keys', async () => {
    await open('src/one.ts', [1, 3], [2, 5]);
    await editor.page.locator('.editor-instance .view-line', { hasText: 'two' }).waitFor();
    await editor.page.keyboard.press('Control+Shift+Quote');
    await editor.panel.ready();
    await hasChips(/^one\.ts:2-3 \d+$/);
    await editor.panel.hasTheKeys();
    await editor.page.keyboard.type('why?');
    await editor.screenshot('from-code');
    const said = await sends();
    assert.match(said, /src\/one\.ts:2-3:\n```\nexport const two = 2;\nexport const three = one \+ tow;\n```/);
    assert.match(said, /@src\/one\.ts:2-3 why\?$/);
  });

  it('files and folders, by the menu of the explorer; a secret is named and not read', async () => {
    await run('workbench.view.explorer');
    const row = (name: string) => editor.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
    assert.deepEqual(await menuOf(row('src')), ['Add to Chat', 'Explain']);
    await choose('Add to Chat');
    await hasChips(/^src\/ \d+ · 2 files$/);
    await run('workbench.view.explorer');
    assert.deepEqual(await menuOf(row('.env')), ['Add to Chat', 'Explain', 'Write Tests']);
    await choose('Add to Chat');
    await hasChips(/^src\//, /^\.env not read$/);
    await editor.panel.hasTheKeys();
    const said = await sends();
    assert.match(said, /src\/other\.ts:\n```\nexport const other = 100;\n```/);
    assert.doesNotMatch(said, /hunter2/);
  });

  it('what is outside of the open folders is not named, and it is said why', async () => {
    await open(outside);
    await run('towpath.addToChat');
    await editor.panel.shows('"outside.ts" is outside the open folders and was not attached.');
    assert.deepEqual(await chips(), []);
  });

  it('what is wrong in a line: into the message, and by the lightbulb at once to the model', async () => {
    await open('src/one.ts', [2, 30]);
    await editor.host.evaluate(async (vscode, folder) => {
      const all = vscode.languages.createDiagnosticCollection('test');
      const range = new vscode.Range(2, 27, 2, 30);
      const problem = new vscode.Diagnostic(range, "Cannot find name 'tow'.", vscode.DiagnosticSeverity.Error);
      problem.source = 'ts';
      problem.code = 2304;
      all.set(vscode.Uri.file(`${folder}/src/one.ts`), [problem]);
    }, folder);
    await run('towpath.addProblem');
    await hasChips(/^problem one\.ts:3 \d+ · error$/);
    const said = await sends();
    assert.match(said, /error: Cannot find name 'tow'\. \(ts 2304\)[\s\S]*Lines 1-3:\n```\nexport const one = 1;/);

    await open('src/one.ts', [2, 30]);
    await run('workbench.action.focusActiveEditorGroup');
    const fix = editor.page.locator('.action-widget .monaco-list-row', { hasText: 'Fix with Towpath' });
    await eventually('the lightbulb has its row', async () => {
      if (!(await fix.isVisible())) await run('editor.action.quickFix');
      return fix.isVisible();
    });
    const fixed = await afterwards(() => editor.page.keyboard.press('Enter'));
    assert.match(fixed, /Cannot find name 'tow'[\s\S]*Fix @problem:src\/one\.ts:3\.$/);
  });

  it('*Add to Chat…* offers what can be added now', async () => {
    const rows = editor.page.locator('.quick-input-widget:visible .quick-input-list .monaco-list-row');
    const offers = async (...wanted: RegExp[]) => {
      await editor.command('Towpath: Add to Chat…');
      await editor.page.locator('.quick-input-title', { hasText: 'Towpath: add to chat' }).waitFor();
      await eventually('the rows are there', async () => (await rows.count()) === wanted.length);
      const texts = (await rows.allInnerTexts()).map((one) => one.replaceAll(/\s+/g, ' ').trim());
      for (const [at, text] of texts.entries()) assert.match(text, wanted[at]!);
    };
    await open('src/other.ts');
    await offers(/^File ?@src\/other\.ts$/);
    await editor.page.keyboard.press('Escape');
    await open('src/one.ts', [2, 0], [2, 30]); // the line with the problem
    await offers(/^File ?@src\/one\.ts$/, /^Selection ?@src\/one\.ts:3$/, /^Problem ?@problem:src\/one\.ts:3$/);
    await editor.screenshot('add-context');
    await rows.filter({ hasText: 'Problem' }).click();
    await hasChips(/^one\.ts:3 /, /^problem one\.ts:3/); // the selection adds itself
    await sends();
    await run('workbench.action.closeAllEditors');
    await editor.command('Towpath: Add to Chat…');
    await editor.panel.shows('There is nothing to add. Open a file, or run a command in a terminal.');
  });

  it('the editor’s menu explains, fixes and has tests written', async () => {
    await open('src/one.ts', [0, 0], [1, 0]);
    const line = editor.page.locator('.editor-instance .view-line', { hasText: 'one = 1' });
    assert.deepEqual(await menuOf(line), [
      'Add Selection to Chat',
      'Ask Towpath Here…',
      'Explain',
      'Fix',
      'Write Tests',
    ]);
    await editor.screenshot('menu-of-editor');
    const said = await afterwards(() => choose('Explain'));
    assert.match(said, /Explain @src\/one\.ts:1\.$/);
    await editor.panel.hasTheKeys();
  });

  it('a change of Source Control, and all of them to be reviewed', async () => {
    await run('workbench.view.scm');
    const row = editor.page.locator('.scm-view .monaco-list-row', { hasText: 'other.ts' });
    assert.deepEqual(await menuOf(row), ['Add Change to Chat', 'Explain', 'Review My Changes']);
    await choose('Add Change to Chat');
    await hasChips(/^change other\.ts \d+$/);
    assert.match(await sends(), /-export const other = 0;\n\+export const other = 100;[\s\S]*@change:src\/other\.ts$/);
    const reviewed = await afterwards(() => run('towpath.reviewChanges'));
    assert.match(reviewed, /\+export const other = 100;[\s\S]*Review my changes \(@changes\):/);
  });

  it('a failed test, with what it said', async () => {
    await editor.host.evaluate(async (vscode, folder) => {
      const tests = vscode.tests.createTestController('tests', 'Tests');
      const uri = vscode.Uri.file(`${folder}/src/one.ts`);
      const test = tests.createTestItem('one', 'one is two', uri);
      test.range = new vscode.Range(0, 0, 0, 10);
      tests.items.add(test);
      const ran = tests.createTestRun(new vscode.TestRunRequest([test]));
      const message = vscode.TestMessage.diff('It is not two.', '2', '1');
      message.location = new vscode.Location(uri, new vscode.Position(0, 4));
      ran.failed(test, message, 5);
      ran.end();
      await vscode.commands.executeCommand('workbench.panel.testResults.view.focus');
      await vscode.commands.executeCommand('towpath.addTestFailure', { test, message }); // as the menu does
    }, folder);
    const row = editor.page.locator('.test-output-peek-tree .monaco-list-row', { hasText: 'It is not two.' });
    // A newer editor has the message in the row of its test, which has another menu.
    if (!process.env.CODE_SERVER_VERSION) {
      assert.deepEqual(await menuOf(row), ['Add Failure to Chat', 'Explain', 'Fix']);
      await choose('Add Failure to Chat');
    }
    await hasChips(/^test:one is two \d+$/);
    const said = await sends();
    assert.match(
      said,
      /failed test: one is two:\nIn src\/one\.ts:1\.\n```\nIt is not two\.\n\nExpected:\n2\n\nActual:\n1\n```/,
    );
  });

  it('the last command of a terminal; what is selected there by the clipboard, which keeps what it had', async () => {
    // As a shell with integration tells the editor, by the sequences of VS Code: the prompt, the command, its output, its end.
    await editor.host.evaluate(async (vscode) => {
      await vscode.env.clipboard.writeText('of the person');
      const written = new vscode.EventEmitter<string>();
      const told = (words: string) => `\x1b]633;${words}\x07`;
      const next = `${told('A')}$ ${told('B')}`;
      const listening = vscode.window.onDidStartTerminalShellExecution(() => {
        listening.dispose();
        written.fire(`\x1b[31mred\x1b[0m\r\ngreen\r\n`);
        written.fire(`${told('D;1')}${next}`);
      });
      const heard = vscode.window.onDidEndTerminalShellExecution(() => {
        heard.dispose();
        Object.assign(globalThis, { commandEnded: true });
      });
      const open = () => written.fire(`${next}make all\r\n${told('E;make all')}${told('C')}`);
      const pty = { onDidWrite: written.event, open, close: () => {} };
      vscode.window.createTerminal({ name: 'shell', pty }).show();
    });
    // The editor draws its end before extensions hear of it.
    await eventually('the command has ended', () =>
      editor.host.evaluate(() => Object.hasOwn(globalThis, 'commandEnded')),
    );
    await run('workbench.action.closeAllEditors');
    await editor.command('Towpath: Add to Chat…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Last Terminal Command' }).click();
    await hasChips(/^terminal:make all \d+$/);
    const said = await sends();
    assert.match(said, /terminal: make all:\n```\n\$ make all\nred\ngreen\n\(ended with 1\)\n```/);

    await editor.panel.composer.pressSequentially('@term');
    await editor.panel.frame
      .locator('.completion [aria-selected="true"]', { hasText: 'last command in shell' })
      .waitFor();
    await editor.page.keyboard.press('Enter');
    await hasChips(/^terminal \d+$/);
    assert.match(await sends(), /terminal: make all:\n```\n\$ make all\nred\ngreen\n/);

    const screen = editor.page.locator('.terminal-wrapper .xterm-screen').first();
    assert.deepEqual(await menuOf(screen), ['Add Last Terminal Command to Chat', 'Explain', 'Fix']);
    await editor.page.keyboard.press('Escape');
    await run('workbench.action.terminal.selectAll');
    await run('towpath.addTerminalSelection');
    await hasChips(/^terminal:/);
    assert.match(await sends(), /red\ngreen/);
    assert.equal(await editor.host.evaluate(async (vscode) => vscode.env.clipboard.readText()), 'of the person');
  });
});
