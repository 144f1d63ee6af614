import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildAllBundles } from '../../../../src/build/stage.ts';
import { createTemporaryBuildFolder, currentBuildTarget } from '../../../../src/build/targets.ts';
import { packVsix } from '../../../../src/build/vsix.ts';
import { installVsix } from '../../../support/editor/installed.ts';
import { openTowpath, type Towpath } from '../../../support/editor/towpath.ts';
import { eventually } from '../../../support/eventually.ts';

describe('a person installs the package of this machine', function () {
  this.timeout(600_000);
  let folder: string;
  let installed: string;
  let editor: Towpath;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-installed-'));
    const work = createTemporaryBuildFolder();
    try {
      const { file } = packVsix(currentBuildTarget(), await buildAllBundles(work), folder);
      installed = installVsix(file, folder);
      mkdirSync(path.join(folder, 'empty'));
      // A fresh profile; no Node, npm or Git where programs are looked for.
      editor = await openTowpath({ installed, env: { PATH: path.join(folder, 'empty') } });
    } finally {
      rmSync(work, { recursive: true });
    }
  });
  after(async () => {
    await editor?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const greeting = () => editor.read('src/greet.js');
  const words = async () => (await editor.panel.transcript()).map((entry) => entry.text).join('\n');

  it('and has it from where the installer put it', async () => {
    const place = await editor.host.evaluate(
      (vscode) => vscode.extensions.getExtension('towpath.towpath')?.extensionPath,
    );
    assert.ok(place?.startsWith(folder), place);
  });

  it('the demo model answers, its edit is allowed, and undone', async () => {
    const was = greeting();
    await editor.panel.send('Make the greeting friendlier.');
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    assert.notEqual(greeting(), was);
    await editor.screenshot('installed-allowed');
    await editor.host.evaluate((vscode) => void vscode.commands.executeCommand('towpath.undoTurn'));
    await eventually('the edit is undone', async () => {
      const undo = editor.page.locator('.monaco-dialog-box').getByRole('button', { name: /^Undo/ });
      if (await undo.isVisible()) await undo.click();
      return greeting() === was;
    });
    await editor.screenshot('installed-undone');
  });

  it('a model by its file answers', async () => {
    const place = await editor.host.evaluate(
      (vscode) => vscode.extensions.getExtension('towpath.towpath')!.extensionPath,
    );
    const file = path.join(folder, 'own.gguf');
    copyFileSync(path.join(place, 'dist', 'demo.gguf'), file);
    await editor.host.evaluate(async (vscode, model) => {
      await vscode.workspace.getConfiguration('towpath').update('model', model, vscode.ConfigurationTarget.Global);
      await vscode.commands.executeCommand('towpath.newRun');
    }, `local/${file}`);
    await editor.panel.send('Hello?');
    await editor.dialog.click('Cancel');
    await editor.panel.waitForPhase('WaitingUser');
    assert.match(await words(), /You said no, so the file stays as it was/);
    await editor.screenshot('installed-own-model');
  });

  it('in an editor that speaks German its commands and settings do, too', async () => {
    await editor.stop();
    editor = await openTowpath({ installed, language: 'de' });
    const titles = await editor.host.evaluate((vscode) => {
      const { contributes } = vscode.extensions.getExtension('towpath.towpath')!.packageJSON;
      return contributes.configuration.map(({ title }: { title: string }) => title);
    });
    assert.deepEqual(titles.slice(0, 2), ['Modelle', 'Lokale Modelle']);
    await editor.panel.write('Hallo');
    await editor.command('Towpath: Neuer Lauf');
    await editor.panel.hasTheKeys();
    await editor.screenshot('installed-german');
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'towpath.maxTurns');
    });
    await editor.page.getByText('Modellaufrufe, die ein Lauf machen darf').first().waitFor();
    await editor.screenshot('installed-german-settings');
  });
});
