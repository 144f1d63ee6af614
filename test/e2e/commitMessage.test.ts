import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('the button above the changes', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, { 'gate.txt': 'shut\n' });
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'Shut the gate');
    writeFileSync(path.join(folder, 'gate.txt'), 'open\n');
    writeFileSync(path.join(folder, '.env'), 'KEY=CANARY\n');
    const begun = reply.text('Open the gate for the boats ');
    provider = await startProvider([begun.hang(), begun.text('that come down the canal in spring\n\nIt was shut.')]);
    editor = await openTowpath({
      folder,
      panelClosed: true,
      settings: {
        'towpath.models': { small: 'openai-compatible/scripted' },
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  /** What the Git extension holds of its box, and whether Towpath is awake. */
  const box = (value?: string) =>
    editor.host.evaluate((vscode, value, require) => {
      const git = vscode.extensions.getExtension('vscode.git')!.exports;
      const [{ inputBox }] = git.getAPI(1).repositories;
      if (value !== undefined) inputBox.value = value;
      return {
        value: inputBox.value,
        awake: Object.keys(require.cache).some((file) => file.endsWith('dist/main.cjs')),
      };
    }, value);
  const press = async (name: string) => {
    await editor.page.locator('.pane-header', { hasText: 'Changes' }).first().hover(); // its buttons are there then
    await editor.page.locator('.part.sidebar').getByRole('button', { name }).first().click();
  };

  it('writes the message into the box; stopped in the middle, what stood there is back', async () => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('workbench.view.scm');
    });
    await editor.page.locator('.scm-view .monaco-list-row', { hasText: 'gate.txt' }).waitFor();
    assert.deepEqual(await box('a draft'), { value: 'a draft', awake: false });
    await press('Generate Commit Message');
    await eventually('the words come', async () => (await box()).value.startsWith('Open the gate'));
    await editor.screenshot('commit-message-stop');
    await press('Stop Generating the Commit Message');
    await eventually('the draft is back', async () => (await box()).value === 'a draft');

    await press('Generate Commit Message');
    const message = 'Open the gate for the boats that come down the…\n\n…canal in spring\n\nIt was shut.';
    await eventually('the message is there', async () => (await box()).value === message);
    await editor.page.locator('.scm-view .view-line', { hasText: 'It was shut.' }).waitFor();
    await editor.screenshot('commit-message');
    await editor.page
      .locator('.part.sidebar')
      .getByRole('button', { name: 'Generate Commit Message' })
      .first()
      .waitFor();
    const told = JSON.stringify(provider.requests[1]!.body.messages);
    assert.match(told, /Shut the gate.*modified gate\.txt.*\+open/);
    assert.match(told, /at most 50 characters.*at most 72 characters/);
    assert.match(told, /added \.env \(its text is not shown\)/);
    assert.doesNotMatch(told, /CANARY/);
    assert.equal(execFileSync('git', ['log', '--format=%s'], { cwd: folder, encoding: 'utf8' }), 'Shut the gate\n');
  });

  it('says why there is no message', async () => {
    const says = (text: string) => editor.told(text);
    const write = () =>
      editor.host.evaluate((vscode) => {
        void vscode.commands.executeCommand('towpath.writeCommitMessage');
      });
    await editor.host.evaluate(async (vscode) => {
      await vscode.workspace.getConfiguration('towpath').update('models', {}, vscode.ConfigurationTarget.Global);
    });
    await write();
    await says('The demo model only follows its script.');
    await editor.host.evaluate(async (vscode) => {
      const small = { small: 'openai-compatible/scripted' };
      await vscode.workspace.getConfiguration('towpath').update('models', small, vscode.ConfigurationTarget.Global);
    });
    rmSync(path.join(folder, '.env'));
    writeFileSync(path.join(folder, 'gate.txt'), 'shut\n');
    await write();
    await says('No changes to commit in');
    assert.equal(provider.requests.length, 2);
  });
});
