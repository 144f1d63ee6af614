import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { quickPickOf } from '../support/editor/quickPick.ts';
import { temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';

describe('a run in a worktree', () => {
  const temporary = realpathSync(temporaryFolder());
  const folder = path.join(temporary, 'canal');
  const beside = path.join(temporary, 'canal-open-the-gate');
  const userDataDir = path.join(temporary, 'user');
  let editor: Towpath;
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' });

  before(() => {
    mkdirSync(folder);
    git(folder, 'init', '-q');
    writeFileSync(path.join(folder, 'gate.txt'), 'shut\n');
    writeFileSync(path.join(folder, '.gitignore'), '.env\n');
    writeFileSync(path.join(folder, '.env'), 'KEY=1\n');
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', 'Shut the gate');
  });
  afterEach(() => editor.stop());
  after(() => rmSync(temporary, { recursive: true, force: true }));

  /** The window that `work` makes the editor open. */
  async function opened(work: () => Promise<void>): Promise<void> {
    const opening = editor.page.context().waitForEvent('page');
    await work();
    const window = await opening;
    await eventually('the window is of the worktree', () => decodeURIComponent(window.url()).includes(beside));
    await window.close();
  }

  it('gets a branch, a folder and a window, and stands in the list', async () => {
    editor = await openTowpath({ folder, userDataDir });
    const box = editor.page.locator('.quick-input-widget input').first();
    await eventually('Git knows the repository', () =>
      editor.host.evaluate(async (vscode) => {
        const git = await vscode.extensions.getExtension('vscode.git')!.activate();
        return git.getAPI(1).repositories.length > 0;
      }),
    );
    await opened(async () => {
      await editor.command('Towpath: Run in a Worktree');
      await editor.page.getByText('What do you want to do? (').waitFor();
      await box.fill('Open the gate');
      await box.press('Enter');
      await editor.page.getByText(`in the folder ${beside}`).waitFor();
      assert.equal(await box.inputValue(), 'towpath/open-the-gate');
      await editor.screenshot('worktree-branch');
      await box.press('Enter');
    });
    assert.equal(git(beside, 'status', '--short'), '');
    assert.equal(readFileSync(path.join(beside, '.env'), 'utf8'), 'KEY=1\n');
    assert.equal(git(beside, 'branch', '--show-current').trim(), 'towpath/open-the-gate');
    await editor.command('Towpath: Open Run');
    const row = editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'towpath/open-the-gate' });
    await row.waitFor();
    await editor.screenshot('worktree-list');
    await opened(() => row.click());
    await editor.panel.frame.getByTestId('history').click();
    const listed = editor.panel.frame.locator('.history-row', { hasText: 'towpath/open-the-gate' });
    assert.match(await listed.innerText(), /Open the gate[\s\S]*Not started/);
    await editor.screenshot('worktree-panel-list');
    await opened(() => listed.getByRole('button').click());
  });

  it('begins in its window by itself, once', async () => {
    editor = await openTowpath({ folder: beside, userDataDir, panelClosed: true });
    await editor.panel.ready();
    await editor.panel.shows('Open the gate');
    await eventually('nothing of ours is left in the folder', () => !existsSync(path.join(beside, '.towpath')));
    await editor.screenshot('worktree-window');
    await editor.reload();
    await editor.showPanel();
    await editor.panel.shows('Open the gate');
    const said = (await editor.panel.transcript()).filter((entry) => 'role' in entry && entry.role === 'user');
    assert.equal(said.length, 1);
  });

  it('stays while something in it would be lost, and its branch stays after it', async () => {
    writeFileSync(path.join(beside, 'notes.txt'), 'mine\n');
    editor = await openTowpath({ folder, userDataDir });
    const list = quickPickOf(editor.page);
    const choose = async () => {
      await editor.command('Towpath: Manage Storage…');
      await list.pick('Worktrees');
      await list.pick('towpath/open-the-gate');
    };
    await editor.showPanel();
    await choose();
    await editor.told(/cannot be deleted: 1 untracked file\./);
    assert.ok(existsSync(path.join(beside, 'notes.txt')));
    git(beside, 'add', '.');
    git(beside, 'commit', '-qm', 'Take notes');
    const tip = git(beside, 'rev-parse', 'HEAD');
    await editor.command('Towpath: Open Run');
    await list.rows.filter({ hasText: 'towpath/open-the-gate' }).hover();
    await editor.page.getByRole('button', { name: 'Merge Back…' }).click();
    assert.match(await editor.dialog.text(), /^Merge towpath\/open-the-gate into \w+\?\n1 commit to merge\./);
    await editor.screenshot('worktree-merge');
    await editor.dialog.click('Merge Only');
    await eventually('the commit is merged', () => git(folder, 'rev-parse', 'HEAD') === tip);
    git(folder, 'reset', '-q', '--hard', 'HEAD~1');
    await choose();
    assert.match(await editor.dialog.text(), /On it: 1 commit neither pushed nor merged\./);
    await editor.screenshot('worktree-keep');
    await editor.dialog.click('Keep as Branch');
    await eventually('the folder is gone', () => !existsSync(beside));
    assert.equal(git(folder, 'rev-parse', 'towpath/open-the-gate'), tip);
  });
});
