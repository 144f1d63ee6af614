import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Backend, backends } from '../support/backends.ts';
import { copySample, temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { said } from '../support/scripted.ts';

describe('changes of files in a real editor', () => {
  let backend: Backend;
  let editor: Towpath;
  const windows = '\ufeffone\r\ntwo\r\nthree\r\n';

  before(async () => {
    backend = await backends.endpoint();
    const folder = copySample(temporaryFolder());
    writeFileSync(path.join(folder, 'windows.txt'), windows);
    writeFileSync(path.join(folder, 'locked.txt'), 'old\n');
    chmodSync(path.join(folder, 'locked.txt'), 0o444);
    editor = await openTowpath({ folder, settings: { ...backend.settings, 'files.autoSave': 'off' } });
  });
  after(async () => {
    await editor?.stop();
    await backend?.close();
  });

  const at = (file: string) => path.join(editor.folder, file);
  const hears = (text: string) =>
    eventually(`the panel says "${text}"`, async () =>
      (await editor.panel.transcript()).some((entry) => entry.text.includes(text)),
    );
  const show = (file: string) =>
    editor.host.evaluate(async (vscode, name) => {
      await vscode.window.showTextDocument(vscode.Uri.file(name));
    }, at(file));
  const allow = async (message: string) => {
    await editor.panel.send(message);
    const question = await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    return question;
  };

  it('Windows line endings and a byte order mark survive several edits, which are one undo step', async () => {
    await show('windows.txt');
    assert.match(await allow('[[crlf]] Count better.'), /^Edit windows\.txt\n/);
    await hears(said.written);
    const after = '\ufeffone\r\nand a half\r\ntwo\r\nlast\r\n';
    assert.equal(readFileSync(at('windows.txt'), 'utf8'), after);
    await show('windows.txt'); // the focus was in the panel
    const undone = await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('undo');
      await vscode.commands.executeCommand('workbench.action.files.save');
      return vscode.window.activeTextEditor?.document.getText();
    });
    assert.equal(undone, 'one\r\ntwo\r\nthree\r\n');
    assert.equal(readFileSync(at('windows.txt'), 'utf8'), windows);
  });

  it('a moved file takes its editor along', async () => {
    await show('src/greet.js');
    const question = await allow('[[move]] Put it elsewhere.');
    assert.equal(question, 'Move src/greet.js to src/hello/greet.js');
    await hears(said.moved);
    assert.equal(editor.read('src/greet.js'), undefined);
    assert.match(editor.read('src/hello/greet.js')!, /Hello/);
    await eventually('the editor shows the file at its new place', async () => {
      const shown = await editor.host.evaluate(async (vscode) => vscode.window.activeTextEditor?.document.uri.fsPath);
      return shown === at('src/hello/greet.js');
    });
  });

  it('a read-only file is left as it is, and the model is told why, without a question', async () => {
    await editor.panel.send('[[locked]] Change it.');
    await editor.panel.waitForPhase('WaitingUser');
    await hears(said.failed);
    assert.equal(await editor.dialog.isOpen(), false);
    assert.equal(editor.read('locked.txt'), 'old\n');
    const told = backend.provider!.requests.at(-1)!;
    assert.match(JSON.stringify(told), /is read-only/);
  });
});
