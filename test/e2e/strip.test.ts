import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('the strip above the message box', () => {
  const temporary = temporaryFolder();
  const lines = (...changed: [at: number, text: string][]) => {
    const all = Array.from({ length: 40 }, (_, at) => `line ${at}`);
    for (const [at, text] of changed) all[at] = text;
    return `${all.join('\n')}\n`;
  };
  const folder = writeWorkspace(temporary, { 'one.txt': lines(), 'two.txt': 'two\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder, encoding: 'utf8' });
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'Begin');
    const write = (name: string, content: string) => ({ path: name, content });
    const items = ['done', 'active'].map((status, at) => ({ text: `Step ${at + 1}`, status }));
    provider = await startProvider([
      reply.call('plan_update', { items }),
      reply
        .call('fs_write', write('one.txt', lines([3, 'three'], [30, 'thirty'])))
        .call('fs_write', write('new.txt', 'new\n')),
      reply.text('Both are written.'),
      reply.text('I see.'),
      reply.text('Write three lines'),
    ]);
    editor = await openTowpath({
      folder,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'files.autoSave': 'off',
        'diffEditor.renderSideBySide': true,
      },
    });
    await editor.panel.send('Write both.');
    await editor.dialog.text();
    await editor.dialog.click('Allow All (2)');
    await editor.panel.shows('Both are written.');
    await editor.panel.waitForPhase('WaitingUser');
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const find = (id: string) => editor.panel.frame.getByTestId(id);
  const strip = async () => (await editor.panel.frame.locator('.strip').innerText()).replace(/\s+/g, ' ').trim();
  const says = (words: string) =>
    eventually(`the strip says: ${words}`, async () => (await strip().catch(() => '')) === words);
  const row = (name: string) => editor.panel.frame.locator(`[data-file="${name}"]`);

  it('says what is planned and changed; its lists open and close by the keyboard', async () => {
    await says('Plan 1/2 2 files +3 −2');
    await find('strip-files').focus();
    await editor.page.keyboard.press('Enter');
    await find('files').waitFor();
    await eventually('both are in it', async () =>
      /one\.txt\s+\+2 −2[\s\S]*new\.txt\s+\+1 −0\s+new/.test(await find('files').innerText()),
    );
    await editor.screenshot('strip-files');
    await editor.page.keyboard.press('Escape');
    await find('files').waitFor({ state: 'detached' });
    await editor.page.keyboard.press('Enter');
    await find('files').waitFor();
  });

  it('a hunk taken back with the editor’s own arrow and saved leaves the counts, and is told with the next message', async () => {
    await row('one.txt').getByTestId('file-changes').click();
    const diff = editor.page.locator('.monaco-diff-editor');
    await diff.locator('.view-line', { hasText: 'thirty' }).first().waitFor();
    const scheme = () => editor.host.evaluate((vscode) => vscode.window.activeTextEditor?.document.uri.scheme);
    await eventually('the file itself is on the right', async () => (await scheme()) === 'file');
    await editor.screenshot('strip-diff');
    const arrow = diff
      .locator('.arrow-revert-change, .action-label.codicon-arrow-right, .codicon-diff-review-revert')
      .first();
    await diff
      .locator('.view-line', { hasText: /^three$/ })
      .first()
      .hover();
    await arrow.click();
    const third = () => editor.host.evaluate((vscode) => vscode.window.activeTextEditor!.document.lineAt(3).text);
    await eventually('the first change is taken back in the editor', async () => (await third()) === 'line 3');
    assert.match(editor.read('one.txt')!, /three/, 'not saved yet');
    await editor.host.evaluate(async (vscode) => await vscode.window.activeTextEditor!.document.save());
    await says('Plan 1/2 2 files +2 −1');
    await editor.panel.send('Go on.');
    await editor.panel.shows('I see.');
    const told = JSON.stringify(provider.requests.at(-1)!.body.messages);
    assert.match(told, /has taken back 1 of your 2 changes of one\.txt/);
    assert.match(told, /-line 3\\\\n\+three|-line 3\\n\+three/);
  });

  it('a change at the cursor is taken back by a command; elsewhere it is chosen from all, each shown in its file', async () => {
    const text = () => editor.host.evaluate((vscode) => vscode.window.activeTextEditor!.document.getText());
    const goTo = (line: number) =>
      editor.host.evaluate((vscode, at) => {
        const { Selection, window } = vscode;
        window.activeTextEditor!.selection = new Selection(at, 0, at, 0);
      }, line);
    const before = await text();
    await goTo(30);
    await editor.command('Towpath: Undo Change…');
    await eventually('it is taken back', async () => (await text()) === lines());
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('undo'));
    await eventually('and that is undone', async () => (await text()) === before);
    await editor.host.evaluate(async (vscode) => await vscode.window.activeTextEditor!.document.save());
    await goTo(0);
    await editor.command('Towpath: Undo Change…');
    const rows = editor.page.locator('.quick-input-list .monaco-list-row');
    await eventually('all are listed', async () => (await rows.count()) === 2);
    assert.match(
      (await rows.allInnerTexts()).join('\n'),
      /one\.txt:31[\s\S]*\+1 −1[\s\S]*thirty[\s\S]*new\.txt:1[\s\S]*new/,
    );
    await editor.page.keyboard.press('ArrowDown');
    await eventually('the second is shown', async () => (await text()) === 'new\n');
    await editor.screenshot('take-back-list');
    await editor.page.keyboard.press('Escape');
    assert.deepEqual([editor.read('one.txt'), editor.read('new.txt')], [before, 'new\n']);
  });

  it('is the same after a reload; what was reviewed stays so', async () => {
    const box = () => row('new.txt').getByRole('checkbox');
    await box().check();
    await find('files').getByText('1 of 2 reviewed').waitFor(); // the host has heard of it
    await editor.reload();
    await says('Plan 1/2 2 files +2 −1');
    await find('strip-files').click();
    await find('files').getByText('1 of 2 reviewed').waitFor();
    assert.equal(await box().isChecked(), true);
  });

  it('opens all in one editor; a file that is undone leaves the list', async () => {
    await find('review-files').click();
    await editor.page.locator('.multiDiffEntry').first().waitFor();
    await editor.screenshot('strip-review');
    await row('new.txt').getByTestId('file-more').click();
    await row('new.txt').getByTestId('undo-file').click();
    await says('Plan 1/2 1 file +1 −1');
    assert.equal(editor.read('new.txt'), undefined);
  });

  it('Commit… stages these files, and no others, writes a message and commits nothing; once committed they are gone', async () => {
    await editor.host.evaluate(async (vscode) => {
      const root = vscode.workspace.workspaceFolders![0]!.uri;
      await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(root, 'two.txt'), new TextEncoder().encode('mine\n'));
    });
    await find('commit-files').click();
    await eventually('it is staged', () => git('diff', '--cached', '--name-only') === 'one.txt\n');
    await editor.page.locator('.scm-view .view-line', { hasText: 'Write three lines' }).waitFor();
    assert.equal(git('log', '--format=%s'), 'Begin\n');
    await editor.screenshot('strip-commit');
    git('commit', '-qm', 'Write');
    await editor.showPanel();
    await says('Plan 1/2');
  });
});
