import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, backends } from '../support/backends.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { reply, startProvider } from '../support/provider.ts';
import { said } from '../support/scripted.ts';

describe('a model in a process of its own', () => {
  let backend: Backend;
  let editor: Towpath;
  const userDataDir = mkdtempSync(path.join(tmpdir(), 'towpath-data-'));
  before(async () => {
    backend = await backends.local();
    editor = await openTowpath({ settings: backend.settings, userDataDir });
  });
  after(async () => {
    await editor?.stop();
    await backend?.close();
    rmSync(userDataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await command('towpath.newRun');
    await eventually('the conversation is empty', async () => (await editor.panel.transcript()).length === 0);
  });

  const command = (name: string) =>
    editor.host.evaluate(async (vscode, id) => {
      await vscode.commands.executeCommand(id);
    }, name);
  const words = async () => (await editor.panel.transcript()).map((entry) => entry.text).join('\n');
  const hears = (text: string) => eventually(`the panel says "${text}"`, async () => (await words()).includes(text));
  const card = async (tool: string) => {
    const one = editor.panel.cards(tool).last();
    return { status: await one.getAttribute('data-status'), ok: await one.getAttribute('data-ok') };
  };
  /** For a button after which the next question comes at once. */
  const press = (name: string) =>
    editor.page.locator('.monaco-dialog-box').getByRole('button', { name, exact: true }).click();
  /** The model's process, 0 when there is none; with a signal, sends it. */
  const modelProcess = (signal?: 'SIGKILL' | 'SIGSEGV') =>
    editor.host.evaluate((_vscode, send, require) => {
      const { execSync } = require('node:child_process') as typeof import('node:child_process');
      const rows = execSync('ps -eo pid,ppid,args').toString().split('\n');
      const row = rows.find((one) => one.includes('worker.mjs') && one.trim().split(/\s+/)[1] === String(process.pid));
      const pid = Number(row?.trim().split(/\s+/)[0] ?? 0);
      if (pid && send) process.kill(pid, send);
      return pid;
    }, signal ?? null);

  it('reads beside a question, and both results arrive in order', async () => {
    await editor.panel.send('[[parallel]] Two things.');
    await editor.dialog.text();
    assert.deepEqual(await card('fs.read'), { status: 'done', ok: 'true' });
    assert.deepEqual(await card('fs.write'), { status: 'asking', ok: null });
    await editor.dialog.click('Allow');
    await hears(said.both);
    assert.equal(editor.read('notes/parallel.md'), 'Written beside a read.\n');
  });

  it('writes, then reads what was written', async () => {
    await editor.panel.send('[[order]] Write and read.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await hears(said.inOrder);
    assert.deepEqual([await card('fs.write'), await card('fs.read')], Array(2).fill({ status: 'done', ok: 'true' }));
  });

  it('asks one question after the other, and hears a no to the second', async () => {
    await editor.panel.send('[[twice]] Two files.');
    assert.match(await editor.dialog.text(), /^Allow 2 calls\?/);
    await press('One by One');
    await eventually('the first question', async () => /^Create .*one\.md/.test(await editor.dialog.text()));
    await press('Allow');
    await eventually('the second question', async () => /two\.md/.test(await editor.dialog.text()));
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    await hears(said.denied);
    assert.equal(editor.read('notes/one.md'), 'One.\n');
    assert.equal(editor.read('notes/two.md'), undefined);
  });

  it('was unloaded by command and loaded again by the next message', async () => {
    await editor.panel.send('Hello?');
    await hears(said.hello);
    await editor.panel.waitForPhase('WaitingUser');
    const before = await modelProcess();
    assert.ok(before > 0);
    await editor.command('Towpath: Unload Local Model');
    await editor.told('was unloaded');
    assert.equal(await modelProcess(), 0);
    await editor.panel.send('[[think]] And now?');
    await hears(said.answer);
    assert.notEqual(await modelProcess(), before);
  });

  it('serves more runs than it keeps tokens of, and says under the answer what that cost', async () => {
    const transcript = async () => editor.panel.frame.locator('.transcript').innerText();
    const titles = ['The first of three.', 'The second of three.', 'The third of three.'];
    for (const title of titles) {
      await command('towpath.newRun');
      await editor.panel.send(title);
      await hears(title);
      await hears(said.hello);
      await editor.panel.waitForPhase('WaitingUser');
      assert.doesNotMatch(await transcript(), /Other runs/);
    }
    await editor.panel.frame.getByTestId('history').click();
    await editor.panel.frame.locator('[data-run]', { hasText: titles[0] }).getByText(titles[0]!).click();
    await hears(titles[0]!);
    await editor.panel.send('Are you still there?');
    await eventually('the panel says that it was read again', async () =>
      (await transcript()).includes(
        'Other runs needed the memory. The state of this run was discarded, and the conversation was read again.',
      ),
    );
  });

  it('is not unloaded while it is at work', async () => {
    await editor.panel.send('[[long]] Count.');
    await hears('tick tock');
    await command('towpath.unloadLocal'); // by the palette its window would be full on a busy machine before that is open
    await editor.told('is in use');
    await editor.panel.stop();
    await editor.panel.waitForPhase('Failed');
  });

  it('crashes: the editor lives, the run says what happened and goes on', async () => {
    const host = await editor.host.ready();
    await editor.panel.send('[[long]] Count.');
    await hears('tick tock');
    assert.ok((await modelProcess('SIGSEGV')) > 0);
    await editor.panel.waitForPhase('Failed');
    await eventually('the panel says what happened', async () =>
      /The local engine crashed \(signal SIGSEGV\)/.test(await editor.panel.frame.locator('body').innerText()),
    );
    await editor.panel.send('Are you there?');
    await hears(said.hello);
    assert.equal(await editor.host.ready(), host, 'the same extension host');
  });

  it('another model while a run is at work: that run ends its answer with its own', async () => {
    await editor.panel.send('[[write]] Note the day.');
    await editor.dialog.text();
    await command('towpath.useDemo');
    await editor.dialog.click('Allow');
    await hears(said.written);
    await editor.panel.waitForPhase('WaitingUser');
    await editor.host.evaluate(async (vscode, model) => {
      await vscode.workspace.getConfiguration('towpath').update('model', model, vscode.ConfigurationTarget.Global);
    }, backend.settings['towpath.model'] as string);
  });

  it('a reload in the middle of a question: nothing ran, and the run goes on', async () => {
    const before = editor.read('src/greet.js');
    await editor.panel.send('[[edit]] Make the greeting warmer.');
    await editor.dialog.text();
    await editor.reload();
    await editor.showPanel();
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(await editor.dialog.isOpen(), false);
    assert.equal(editor.read('src/greet.js'), before);
    await editor.panel.send('Go on.');
    await hears(said.hello);
    assert.deepEqual(
      [await card('fs.read'), await card('fs.edit')],
      [
        { status: 'done', ok: 'true' },
        { status: 'done', ok: 'false' },
      ],
    );
  });

  it('unloaded and loaded again it reads only what is new', async () => {
    const written = (file: string) => statSync(path.join(userDataDir, file)).mtimeMs;
    /** The newest comes last. */
    const kept = (ending: RegExp) =>
      readdirSync(userDataDir, { recursive: true, encoding: 'utf8' })
        .filter((file) => ending.test(file))
        .sort((one, other) => written(one) - written(other));
    await editor.panel.send('Hello.');
    await hears(said.hello);
    await editor.panel.waitForPhase('WaitingUser');
    await command('towpath.unloadLocal');
    const [journal] = kept(/journal\.jsonl$/).slice(-1);
    const run = path.basename(path.dirname(journal!));
    assert.equal(kept(new RegExp(`model-states.${run}\\.[^.]*\\.state$`)).length, 1, 'what was read is kept');
    assert.equal(await modelProcess(), 0);
    rmSync(path.join(editor.folder, 'notes'), { recursive: true, force: true }); // of another test
    await editor.panel.send('[[order]] Write and read.');
    await editor.dialog.click('Allow');
    await hears(said.inOrder);
    const cached = readFileSync(path.join(userDataDir, journal!), 'utf8').matchAll(
      /"promptTokens":(\d+).*?"cachedTokens":(\d+)/g,
    );
    const [, second] = [...cached].map(([, prompt, there]) => Number(prompt) - Number(there));
    assert.ok(second! < 100, `${second} tokens were read`);
  });

  it('makes room while it rests, before its window is full: with the next words a summary stands there, made before them', async () => {
    const provider = await startProvider(() => reply.text(`An essay: ${'some words of it '.repeat(90)}`).usage(null));
    const set = (values: Record<string, unknown>) =>
      editor.host.evaluate(async (vscode, all) => {
        for (const [name, value] of Object.entries(all))
          await vscode.workspace.getConfiguration().update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
      }, values);
    const { 'towpath.model': local } = backend.settings;
    const log = () =>
      readdirSync(userDataDir, { recursive: true, encoding: 'utf8' })
        .filter((file) => /Towpath\.log$/.test(file))
        .map((file) => readFileSync(path.join(userDataDir, file), 'utf8'))
        .join('');
    const times = (words: RegExp) => log().match(new RegExp(words, 'g'))?.length ?? 0;
    const says = async (model: unknown, words: string) => {
      const before = await newest();
      await set({ 'towpath.model': model });
      await editor.panel.send(words);
      await eventually('it answers', async () => (await newest()) > before);
      await editor.panel.waitForPhase('WaitingUser');
    };
    /** The place of the newest answer among all messages. */
    const newest = async () => {
      const answers = editor.panel.frame.locator('[data-role="assistant"]');
      return (await answers.count()) === 0 ? -1 : Number(await answers.last().getAttribute('data-message'));
    };
    const room = editor.panel.frame.locator('[data-role="compaction"]');
    const atWork = /for a summary/;
    /** Ticks of the processor that the model has taken so far. */
    const taken = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15).join(' ');
    try {
      await set({
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.local.contextSize': 8192,
      });
      while (times(atWork) === 0) {
        await says('openai-compatible/scripted', 'Write one.');
        await says(local, 'Hello.');
        assert.equal(await room.count(), 0, 'it is not full yet');
      }
      await eventually('its summary is there, or was given up for the words that came', async () => {
        const pid = await modelProcess();
        const before = taken(pid);
        await sleep(1000);
        if (taken(pid) !== before) return false;
        await says(local, 'Hello again.');
        return (await room.count()) > 0;
      });
      await editor.screenshot('local-room');
    } finally {
      await set({ 'towpath.model': local, 'towpath.local.contextSize': null });
      await provider.close();
    }
  });
});
