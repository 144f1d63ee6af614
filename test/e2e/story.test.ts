import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Backend, backends } from '../support/backends.ts';
import { copySample, temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { said } from '../support/scripted.ts';
import { tries } from '../support/tries.ts';

const sample = path.join(import.meta.dirname, '../fixtures/sample');

// The one on this machine, whose own ways `local.test.ts` drives, tells the same again before a release.
for (const name of (Object.keys(backends) as (keyof typeof backends)[]).slice(0, tries(1, 2)))
  describe(`with a model ${name === 'local' ? 'on this machine' : 'behind an endpoint'}`, () => {
    let backend: Backend;
    let editor: Towpath;
    const greet = 'src/greet.js';

    before(async () => {
      backend = await backends[name]();
      const outer = temporaryFolder();
      const folder = copySample(outer);
      mkdirSync(path.join(outer, 'elsewhere'));
      writeFileSync(path.join(outer, 'elsewhere', 'secret.txt'), 'CANARY');
      symlinkSync(path.join(outer, 'elsewhere'), path.join(folder, 'outside'));
      // In a browser the editor saves by itself, unlike on the desktop.
      editor = await openTowpath({
        folder,
        settings: { ...backend.settings, 'files.autoSave': 'off', 'towpath.approvals.readOnlyCommands': false },
      });
    });
    after(async () => {
      await editor?.stop();
      await backend?.close();
    });
    beforeEach(async () => {
      rmSync(path.join(editor.folder, 'notes'), { recursive: true, force: true });
      await restore(greet);
      await newRun();
    });

    /** The sample's own text again, in the editor and on disk. */
    const restore = async (file: string) => {
      const text = readFileSync(path.join(sample, file), 'utf8');
      if (editor.read(file) === text) return;
      await editor.host.evaluate(
        async (vscode, [name, content]) => {
          const document = await vscode.workspace.openTextDocument(name);
          const edit = new vscode.WorkspaceEdit();
          edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), content);
          await vscode.workspace.applyEdit(edit);
          await document.save();
        },
        [path.join(editor.folder, file), text] as const,
      );
    };
    const newRun = () =>
      editor.host.evaluate(async (vscode) => {
        await vscode.commands.executeCommand('towpath.newRun');
      });
    const stop = () =>
      editor.host.evaluate(async (vscode) => {
        await vscode.commands.executeCommand('towpath.stop');
      });
    const words = async () => (await editor.panel.transcript()).map((entry) => entry.text).join('\n');
    const hears = (text: string) => eventually(`the panel says "${text}"`, async () => (await words()).includes(text));
    const card = async (tool: string) => {
      const one = editor.panel.cards(tool).last();
      return { status: await one.getAttribute('data-status'), ok: await one.getAttribute('data-ok') };
    };

    it('ask → read → a proposed edit → the question shows it → Allow → the file has changed', async () => {
      const before = editor.read(greet)!;
      await editor.panel.send('[[edit]] Make the greeting warmer.');
      const question = await editor.dialog.text();
      assert.match(question, /^Edit src\/greet\.js\n+\+1 −1\n/);
      assert.equal(await editor.dialog.focused(), 'Review…', 'Enter never allows');
      assert.deepEqual(await card('fs.edit'), { status: 'asking', ok: null });
      assert.equal(editor.read(greet), before);
      await editor.dialog.click('Allow');
      await editor.panel.waitForPhase('WaitingUser');
      await hears(said.edited);
      assert.equal(editor.read(greet), before.replace('!`', '! Welcome aboard.`'));
      assert.deepEqual([await card('fs.read'), await card('fs.edit')], Array(2).fill({ status: 'done', ok: 'true' }));
      const edit = editor.panel.cards('fs.edit').last();
      assert.match((await edit.getAttribute('aria-label'))!, /^Edited src\/greet\.js · \+1 · −1/); // and how long it took, if long
      assert.match(await edit.locator('.diff').innerText(), /Welcome aboard/);
      await edit.locator('.card-toggle').click();
      await edit.getByTestId('raw').waitFor();
      await edit.locator('.card-toggle').click();
      await edit.getByRole('button', { name: 'Diff' }).click();
      await editor.page.locator('.monaco-diff-editor').first().waitFor();
    });

    for (const [how, answer] of [
      ['Cancel', () => editor.dialog.click('Cancel')],
      ['Escape', () => editor.dialog.escape()],
    ] as const)
      it(`${how} is a no: the file stays, and the model is told once the run continues`, async () => {
        await editor.panel.send('[[write]] Note the day.');
        await editor.dialog.text();
        await answer();
        await editor.panel.continueHeld();
        await hears(said.denied);
        assert.equal(editor.read('notes/today.md'), undefined);
        assert.deepEqual(await card('fs.write'), { status: 'done', ok: 'false' });
      });

    it('Review… opens the diff, nothing has changed, and the question can still be answered', async () => {
      const before = editor.read(greet)!;
      await editor.panel.send('[[edit]] Make the greeting warmer.');
      await editor.dialog.text();
      await editor.page.keyboard.press('Enter');
      const review = editor.page.locator('.tab', { hasText: '(proposed)' }); // in the place of an earlier diff
      await review.waitFor();
      const diff = editor.page.locator('.monaco-diff-editor').first();
      await eventually('the diff shows the proposed line', async () =>
        (await diff.innerText()).replaceAll('\u00a0', ' ').includes('Welcome aboard'),
      );
      assert.equal(editor.read(greet), before);
      assert.equal(await editor.panel.phase(), 'Running');
      await editor.panel.cards('fs.edit').last().getByRole('button', { name: 'Answer…', exact: true }).click();
      await editor.dialog.text();
      await editor.dialog.click('Allow');
      await editor.panel.waitForPhase('WaitingUser');
      assert.notEqual(editor.read(greet), before);
      await review.waitFor({ state: 'detached' });
    });

    it('Allow for This Run covers the same tool until the run is another', async () => {
      await editor.panel.send('[[write]] Note the day.');
      await editor.dialog.text();
      await editor.dialog.click('Allow for This Run');
      await hears(said.written);
      await editor.panel.waitForPhase('WaitingUser');
      await editor.panel.send('[[parallel]] Two things.');
      await hears(said.both);
      assert.equal(editor.read('notes/parallel.md'), 'Written beside a read.\n');
      assert.equal(await editor.dialog.isOpen(), false);
      await newRun();
      rmSync(path.join(editor.folder, 'notes'), { recursive: true });
      await editor.panel.send('[[write]] Note the day.');
      await editor.dialog.escape();
      await editor.panel.waitForPhase('WaitingUser');
    });

    it('what is unsaved in the editor is kept, and the edit is one undo step', async () => {
      const note = '// a thought that is not saved yet\n';
      const inEditor = (work: 'type' | 'undo' | 'read') =>
        editor.host.evaluate(
          async (vscode, [name, what, text]) => {
            const document = await vscode.workspace.openTextDocument(name);
            const shown = await vscode.window.showTextDocument(document);
            if (what === 'type') await shown.edit((edit) => edit.insert(new vscode.Position(0, 0), text));
            if (what === 'undo') await vscode.commands.executeCommand('undo');
            return document.getText();
          },
          [path.join(editor.folder, greet), work, note] as const,
        );
      const typed = await inEditor('type');
      await editor.panel.send('[[edit]] Make the greeting warmer.');
      assert.match(await editor.dialog.text(), /It has unsaved changes in the editor/);
      await editor.dialog.click('Allow');
      await hears(said.edited);
      await editor.panel.waitForPhase('WaitingUser');
      const after = typed.replace('!`', '! Welcome aboard.`');
      assert.ok(after.startsWith(note));
      assert.equal(editor.read(greet), after);
      assert.equal(await inEditor('undo'), typed);
      await editor.host.evaluate(async (vscode) => {
        await vscode.commands.executeCommand('workbench.action.files.save');
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      });
    });

    it('a command is shown whole, runs after Allow, and its output stands in the card', async () => {
      await editor.panel.send('[[shell]] Which version?');
      const question = await editor.dialog.text();
      assert.match(question, /^Run this command\?\nnode --version/);
      await editor.dialog.click('Allow');
      await hears(said.ran);
      await editor.panel.waitForPhase('WaitingUser');
      assert.deepEqual(await card('shell.run'), { status: 'done', ok: 'true' });
      await editor.panel.cards('shell.run').last().locator('.card-toggle').click();
      await hears(`v${process.versions.node.split('.')[0]}.`);
    });

    it('thinking is folded away and kept', async () => {
      await editor.panel.send('[[think]] What is the answer?');
      await hears(said.answer);
      const thinking = editor.panel.frame.locator('details', { hasText: /Thinking|Thought/ }).last();
      assert.equal(await thinking.getAttribute('open'), null);
      await thinking.locator('summary').click();
      await hears(said.thought);
    });

    for (const [what, marker] of [
      ['a path that climbs out', '[[escape]]'],
      ['an absolute path', '[[absolute]]'],
      ['a link out of the workspace', '[[symlink]]'],
    ] as const)
      it(`${what} is refused without a question`, async () => {
        await editor.panel.send(`${marker} Read it.`);
        await editor.panel.waitForPhase('WaitingUser');
        await hears(said.failed);
        assert.equal(await editor.dialog.isOpen(), false);
        assert.deepEqual(await card('fs.read'), { status: 'done', ok: 'false' });
        await editor.panel.cards('fs.read').last().locator('.card-toggle').click();
        await hears('E_SANDBOX_VIOLATION');
        assert.doesNotMatch(await words(), /CANARY|root:x:/);
      });

    describe('Stop', () => {
      /** The run has ended, nothing arrives later, and the next message goes on. */
      const hasEnded = async () => {
        await editor.panel.waitForPhase('Failed');
        const before = await words();
        await editor.panel.send('Are you there?');
        await hears(said.hello);
        await editor.panel.waitForPhase('WaitingUser');
        const [since] = (await words()).split('Are you there?');
        assert.equal(since!.trimEnd(), before.trimEnd(), 'nothing arrived later');
      };

      it('while the answer streams', async () => {
        await editor.panel.send('[[long]] Count.');
        await hears('tick tock');
        await editor.panel.stop();
        await hasEnded();
      });

      it('while a command runs: the command is gone', async () => {
        await editor.panel.send('[[sleep]] Wait a minute.');
        await editor.dialog.text();
        await editor.dialog.click('Allow');
        await eventually('the command runs', async () => (await card('shell.run')).status === 'running');
        await editor.panel.stop();
        await hasEnded();
        const left = await editor.host.evaluate((_vscode, _argument, require) => {
          const { execSync } = require('node:child_process') as typeof import('node:child_process');
          return execSync('ps -eo args')
            .toString()
            .includes('setTimeout(Object, 60' + '000)');
        });
        assert.equal(left, false);
      });

      it('while a question is open: a late yes does nothing', async () => {
        await editor.panel.send('[[write]] Note the day.');
        await editor.dialog.text();
        await stop();
        await editor.panel.waitForPhase('Failed');
        await editor.dialog.click('Allow');
        await hasEnded();
        assert.equal(editor.read('notes/today.md'), undefined);
      });
    });

    it('what is said while it works is queued and given at the next turn', async () => {
      await editor.panel.send('[[write]] Note the day.');
      await editor.dialog.text();
      await editor.page.keyboard.press('Enter'); // Review…: the question waits, the panel is free
      await editor.panel.send('And now something else.');
      await hears('And now something else.');
      await editor.panel.cards('fs.write').last().getByRole('button', { name: 'Answer…', exact: true }).click();
      await editor.dialog.text();
      await editor.dialog.click('Cancel');
      await editor.panel.waitForPhase('WaitingUser');
      await hears(said.hello);
    });

    if (name === 'endpoint')
      it('no key set: a clear sentence and a button', async () => {
        const { provider } = backend;
        const script = provider!.script;
        const { reply } = await import('../support/reply.ts');
        provider!.script = () => reply.status(401, { error: { message: 'Missing bearer authentication.' } });
        try {
          await editor.panel.send('Hello?');
          await editor.panel.waitForPhase('Failed');
          await hears('Hello?');
          const body = editor.panel.frame.locator('body');
          await eventually('the panel says what is missing', async () =>
            /No API key for .*127\.0\.0\.1/.test(await body.innerText()),
          );
          await body.getByRole('button', { name: 'Set API Key' }).click();
          const box = editor.page.locator('.quick-input-widget input');
          await box.waitFor();
          assert.equal(await box.getAttribute('type'), 'password');
          await box.fill('sk-CANARYKEY1234567890');
          await editor.page.keyboard.press('Enter');
          await editor.told('is stored');
          provider!.script = script;
          await editor.panel.frame.getByTestId('continue').first().click();
          await hears(said.hello);
          assert.equal(provider!.requests.at(-1)!.headers.authorization, 'Bearer sk-CANARYKEY1234567890');
          assert.doesNotMatch(await body.innerText(), /CANARYKEY/);
        } finally {
          provider!.script = script;
        }
      });

    if (name === 'local')
      it('the model’s process is killed while it writes: the editor lives, the run says so, the next message works', async () => {
        const host = await editor.host.ready();
        await editor.panel.send('[[long]] Count.');
        await hears('tick tock');
        const killed = await editor.host.evaluate((_vscode, _argument, require) => {
          const { execSync } = require('node:child_process') as typeof import('node:child_process');
          const rows = execSync('ps -eo pid,ppid,args').toString().split('\n');
          const row = rows.find(
            (one) => one.includes('worker.mjs') && one.trim().split(/\s+/)[1] === String(process.pid),
          );
          const pid = Number(row?.trim().split(/\s+/)[0]);
          process.kill(pid, 'SIGKILL');
          return pid;
        });
        assert.ok(killed > 0);
        await editor.panel.waitForPhase('Failed');
        await eventually('the panel says what happened', async () =>
          /exited/.test(await editor.panel.frame.locator('body').innerText()),
        );
        await editor.panel.send('Are you there?');
        await hears(said.hello);
        assert.equal(await editor.host.ready(), host, 'the same extension host');
      });

    it('a reload in the middle of a question: the run is back, nothing ran, it goes on', async () => {
      await editor.panel.send('[[write]] Note another day.');
      await editor.dialog.text();
      await editor.reload();
      await editor.showPanel();
      await hears('Note another day.');
      assert.equal(await editor.panel.waitForPhase('WaitingUser'), 'WaitingUser');
      assert.equal(await editor.dialog.isOpen(), false);
      assert.equal(editor.read('notes/today.md'), undefined);
      await editor.panel.send('Go on.');
      await hears(said.hello);
      await editor.panel.waitForPhase('WaitingUser');
      assert.deepEqual(await card('fs.write'), { status: 'done', ok: 'false' });
      assert.equal(editor.read('notes/today.md'), undefined);
    });
  });
