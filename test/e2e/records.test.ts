import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Frame } from 'playwright-core';
import { acquireRunLock } from '../../src/runs/lock.ts';
import { RunStore } from '../../src/runs/store.ts';
import { PublishedRunStatuses } from '../../src/runs/windowStatus.ts';
import { transcriptText } from '../support/editor/panel.ts';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { longText } from '../support/longText.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

/** What is on disk of a run is damaged, or another window has it: the person hears of it, and has a way out. */
describe('the record of a run', () => {
  let editor: Towpath;
  let provider: Provider;
  let userDataDir: string;
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, { 'a.txt': 'one\n' });
  const settings = () => ({
    'towpath.model': 'openai-compatible/scripted',
    'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
  });
  before(async () => {
    userDataDir = mkdtempSync(path.join(tmpdir(), 'towpath-data-'));
    provider = await startProvider([]);
    editor = await openTowpath({ folder, userDataDir, settings: settings() });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    for (const one of [userDataDir, temporary]) rmSync(one, { recursive: true, force: true });
  });

  /** The folder of the newest run. */
  function newestRun(): string {
    const journals = readdirSync(userDataDir, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('journal.jsonl'))
      .map((file) => path.join(userDataDir, file));
    const time = (file: string) => statSync(file).mtimeMs;
    return path.dirname(journals.sort((one, other) => time(other) - time(one))[0]!);
  }
  const asked = () => JSON.stringify(provider.requests.at(-1)!.body.messages);
  async function says(words: string, answer: string): Promise<void> {
    provider.script = () => reply.text(answer);
    await editor.panel.send(words);
    await editor.panel.shows(answer);
    await eventually('the run is closed', () => !existsSync(path.join(newestRun(), 'lock')));
  }

  it('when it is damaged: list, panel and model say where and how much, and what came after it can be read', async () => {
    await says('First words.', 'First answer.');
    await says('Second words.', 'Second answer.');
    const journal = path.join(newestRun(), 'journal.jsonl');
    await editor.command('Towpath: New Run');
    await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    const bytes = readFileSync(journal);
    bytes[bytes.indexOf('First answer.')]! ^= 1;
    writeFileSync(journal, bytes);
    const row = editor.panel.frame.locator('.history-row', { hasText: 'First words.' });
    await eventually('the list says so', async () => {
      await editor.host.evaluate(async (vscode) => {
        await vscode.commands.executeCommand('towpath.newRun'); // the list is read anew
      });
      if (!(await row.isVisible())) await editor.panel.frame.getByTestId('history').click();
      return /Damaged/.test(await row.innerText());
    });
    assert.match(
      (await row.locator('.history-open').getAttribute('title')) ?? '',
      /^Part of its record is damaged: line \d+ is damaged \(\d+ bytes from byte \d+\)/,
    );
    await row.locator('.history-open').click();
    const place = editor.panel.frame.locator('[data-role="damage"]');
    await place.waitFor();
    assert.match(
      await place.innerText(),
      /Part of this run’s record is damaged here: line \d+ is damaged \(\d+ bytes from byte \d+\)\. The model is informed when you continue\./,
    );
    await place.locator('summary').click();
    await editor.panel.shows('Second answer.');
    await editor.screenshot('record-damaged');
    await says('And now?', 'I see.');
    assert.match(asked(), /A part of the record of this conversation was damaged: line \d+/);
    assert.match(asked(), /Second answer/);
    await editor.reload();
    await editor.panel.shows('Part of this run’s record is damaged here');
    await editor.panel.shows('I see.');
  });

  it('when it has cost what it may: it rests, a dialog alone lets as much again be spent, and it goes on', async () => {
    const prices = { '*': { input: 0, output: 200_000 } }; // a dollar an answer
    await editor.begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url, prices } },
      'towpath.limits.run': 1,
    });
    await says('What does it cost?', 'A dollar.');
    const before = provider.requests.length;
    await editor.panel.send('And this?');
    await editor.panel.shows("$1 of this run's $1 are spent, and the next answer costs at least $0.20.");
    const another = editor.panel.frame.getByTestId('raise-limit');
    await another.click();
    assert.match(
      await editor.dialog.text(),
      /^Allow this run to spend another \$1\?\n“What does it cost\?”\n\$1 of this run's \$1 are spent, .*\nYour limit stays as it is\. This applies to this run only\./,
    );
    await editor.screenshot('money-limit');
    await editor.dialog.escape();
    assert.equal(provider.requests.length, before, 'closing the dialog allows nothing');
    provider.script = () => reply.text('Another one.');
    await another.click();
    await editor.dialog.click('Raise Limit by $1');
    await editor.panel.shows('Another one.');
    await editor.begin(settings());
  });

  it('when room in it is what money was refused for, that is what more of it makes', async () => {
    const prices = { '*': { input: 0, output: 200_000 } };
    await editor.begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url, prices } },
    });
    const texts = ['Essay one.', 'Essay two.', 'Essay three.'];
    for (const [at, text] of texts.entries()) {
      const promptTokens = 2500 + at * 3300;
      const usage = { prompt_tokens: promptTokens, completion_tokens: 5, total_tokens: promptTokens + 3300 };
      provider.script = () => reply.text(`${text} ${longText('some words of it. ', 700)}`).usage(usage);
      await editor.panel.send(`Write: ${text}`);
      await editor.panel.shows(text);
      await eventually('the run is closed', () => !existsSync(path.join(newestRun(), 'lock')));
    }
    await editor.host.evaluate(async (vscode) => {
      await vscode.workspace.getConfiguration().update('towpath.limits.run', 3, vscode.ConfigurationTarget.Global);
    });
    provider.script = () => reply.text('In short: essays.');
    const before = provider.requests.length;
    await editor.command('Towpath: Compact Conversation');
    await editor.panel.shows("$3 of this run's $3 are spent, and the next answer costs at least $0.20.");
    assert.equal(provider.requests.length, before);
    const another = editor.panel.frame.getByTestId('raise-limit');
    await another.click();
    await editor.dialog.click('Raise Limit by $3');
    await eventually('a summary is asked for', () => provider.requests.length === before + 1);
    assert.equal(provider.requests.at(-1)!.body.tools, undefined, 'it is no turn');
    await eventually('the run rests as before', async () => (await another.count()) === 0);
    await editor.screenshot('room-for-money');
    await says('Which were they?', 'Those.');
    assert.match(asked(), /In short: essays\./);
    assert.equal(provider.requests.length, before + 2);
    await editor.begin(settings());
  });

  it('when what its answers cost is known, free, cheaper for what is cached, or known to nobody, says so at its window', async () => {
    const million = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
    const prices = {
      scripted: { input: 2, cached: 0.5, output: 0 },
      gratis: { input: 0, output: 0 },
    };
    await editor.begin({
      ...settings(),
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url, prices } },
    });
    const model = (id: string) =>
      editor.host.evaluate(async (vscode, name) => {
        const all = vscode.workspace.getConfiguration('towpath');
        await all.update('model', `openai-compatible/${name}`, vscode.ConfigurationTarget.Global);
      }, id);
    const costs = async (words: RegExp, name: string) => {
      const popover = editor.panel.frame.getByTestId('meter-popover');
      if (!(await popover.isVisible())) await editor.panel.frame.getByTestId('meter').click();
      await eventually(`its cost is ${words}`, async () => words.test(await popover.innerText()));
      await editor.screenshot(name);
      await editor.page.keyboard.press('Escape');
      await popover.waitFor({ state: 'detached' });
    };
    const answers = async (words: string, usage: object) => {
      provider.script = () => reply.text(`${words}!`).usage(usage);
      await editor.panel.send(words);
      await editor.panel.shows(`${words}!`);
      await editor.panel.waitForPhase('WaitingUser');
    };
    await model('gratis');
    await answers('Nothing', million);
    await costs(/Cost\s+free\s*$/m, 'cost-free');
    await model('scripted');
    await answers('All of it cached', { ...million, prompt_tokens_details: { cached_tokens: 1_000_000 } });
    await costs(/Read from cache\s+1\.0M[\s\S]*Cost\s+about \$0\.50\s*$/m, 'cost-cached');
    await answers('None of it cached', million);
    await costs(/Cost\s+about \$2\.50\s*$/m, 'cost-known');
    await model('unheard-of');
    await answers('Unknown', million);
    await costs(/Cost\s+about \$2\.50, and 1\.0M tokens without a price\s*$/m, 'cost-in-part');
    await editor.command('Towpath: New Run');
    await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    await answers('Unknown from the start', million);
    await costs(/Cost\s+no price\s*$/m, 'cost-unknown');
    await editor.begin(settings());
  });

  it('when another window has it: the person sees who, takes it over, and what they said is done', async () => {
    await editor.command('Towpath: New Run');
    await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    await says('Begin.', 'Begun.');
    const lock = await acquireRunLock(path.join(newestRun(), 'lock'), 'sample · Another Editor');
    try {
      provider.script = () => reply.text('Here it goes on.');
      await editor.panel.send('Go on here.');
      await editor.panel.shows('This run is in progress in another window.');
      const take = editor.panel.frame.getByTestId('notice-action');
      await take.click();
      const question = await editor.dialog.text();
      assert.match(question, /^Take this run over from another window\?\nWindow: sample · Another Editor \(on /);
      assert.ok(question.includes(`on ${hostname()}, process ${process.pid})`), question);
      assert.match(question, /Running since .*\nLast sign of life: \d+ s ago\n/);
      await editor.screenshot('take-over');
      await editor.dialog.escape();
      assert.equal(await lock.isHeld(), true, 'closing the dialog takes nothing');
      await take.click();
      await editor.dialog.click('Take Over');
      await editor.panel.shows('Here it goes on.');
      assert.equal(await lock.isHeld(), false);
      assert.match(asked(), /Go on here\./);
    } finally {
      await lock.release();
    }
  });

  it('the list of runs takes it over, too', async () => {
    await editor.command('Towpath: New Run');
    await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    await says('Held.', 'I am.');
    const run = newestRun();
    const lock = await acquireRunLock(path.join(run, 'lock'), 'sample · Another Editor');
    const status = new PublishedRunStatuses(path.join(run, '../../now'));
    try {
      await status.set(path.basename(run), { state: 'working', title: 'Held.' });
      await editor.command('Towpath: New Run');
      await editor.command('Towpath: Open Run…');
      const row = editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'running in another window' });
      await row.hover();
      await row.locator('.action-label[aria-label^="Take over this run"]').click();
      assert.match(await editor.dialog.text(), /^Take this run over from another window\?/);
      await editor.dialog.click('Take Over');
      await eventually('it is taken over', async () => !(await lock.isHeld()));
      await editor.panel.shows('I am.');
    } finally {
      await status.set(path.basename(run), undefined);
      await lock.release();
    }
  });

  it('shows what runs took, and sorts it', async () => {
    await editor.command('Towpath: New Run');
    await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    await says('Count me.', 'Counted.');
    await editor.command('Towpath: Insights');
    /** Each time that it is drawn anew it is another frame. */
    const page = async (words: RegExp) => {
      let found: Frame | undefined;
      await eventually(`the page says ${words}`, async () => {
        for (const frame of editor.page.frames()) {
          const text = await frame
            .locator('body:has([data-table="models"])')
            .innerText({ timeout: 500 })
            .catch(() => '');
          if (words.test(text)) found = frame;
        }
        return found !== undefined;
      });
      return found!;
    };
    try {
      const own = await page(/runs? in this workspace: \d+ model calls?, .*(no price known|without a price)/);
      const calls = own.locator('[data-table="models"] th').nth(1);
      await calls.getByRole('button').click();
      assert.equal(await calls.getAttribute('aria-sort'), 'descending');
      await editor.screenshot('insights');
      await own.getByRole('button', { name: 'Save as CSV…' }).click();
      await editor.chooseFile('Save Insights', path.join(editor.folder, 'took.csv'));
      await eventually('the tables are saved', () => /^day,model,calls,/.test(editor.read('took.csv') ?? ''));
      assert.match(editor.read('took.csv')!, /\r\n\d{4}-\d\d-\d\d,openai-compatible\/scripted,\d+,/);
      await own.getByRole('button', { name: 'All', exact: true }).click();
      await page(/in all workspaces/);
    } finally {
      await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeActiveEditor'));
    }
  });

  it('is told line by line: onto the clipboard, as Markdown, and to an audit from the next event on', async () => {
    const audit = mkdtempSync(path.join(tmpdir(), 'towpath-audit-'));
    const audited = () =>
      readdirSync(audit)
        .map((file) => readFileSync(path.join(audit, file), 'utf8'))
        .join('');
    const setting = (value: string | undefined) =>
      editor.host.evaluate(async (vscode, folder) => {
        await vscode.workspace
          .getConfiguration('towpath')
          .update('audit.folder', folder, vscode.ConfigurationTarget.Global);
      }, value);
    try {
      await editor.command('Towpath: New Run');
      await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
      await says('My key is sk-abcdefghijklmnopqrstuvwxyz0123456789.', 'I keep it.');
      assert.equal(audited(), '');
      await setting(audit);
      await says('And who asks?', 'You do.');
      await eventually('it is audited', () => /"kind":"model-call"[^\n]*"status":"answered"/.test(audited()));
      assert.doesNotMatch(audited(), /And who asks|You do\./);
      await setting(undefined);
      const lines = audited();
      await says('And now?', 'Nobody listens.');
      assert.equal(audited(), lines);
      await editor.command('Towpath: Show Log');
      const output = editor.page.locator('.part.panel .view-lines');
      await eventually('the log tells it', async () => {
        const log = (await output.innerText()).replaceAll('\u00a0', ' ');
        return /the person says 8 characters[\s\S]* at 127\.0\.0\.1[\s\S]*answers in [\d.]+ m?s: .* tokens read[\s\S]*rests\./.test(
          log,
        );
      });
      await editor.screenshot('log');
      await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closePanel'));
      await editor.command('Towpath: Copy Log of This Run');
      await eventually('the log is on the clipboard', async () => {
        const log = await editor.host.evaluate(async (vscode) => vscode.env.clipboard.readText());
        return /^Towpath \d[\s\S]* run begins[\s\S]*answers in/m.test(log) && !/My key|sk-abc/.test(log);
      });
      const posted = path.join(editor.folder, 'posted.md');
      await editor.command('Towpath: Export Run…');
      await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Markdown' }).click();
      await editor.chooseFile('Export Run', posted);
      await eventually('it is posted', () => /I keep it\.[\s\S]*Nobody listens\./.test(editor.read('posted.md') ?? ''));
      assert.doesNotMatch(editor.read('posted.md')!, /sk-abcdefgh/);
    } finally {
      await setting(undefined);
      rmSync(audit, { recursive: true, force: true });
    }
  });

  it('goes elsewhere as a file, and comes back from one as another run', async () => {
    await editor.command('Towpath: New Run');
    await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    await says('Take me along.', 'I come along.');
    const before = newestRun();
    const place = path.join(editor.folder, 'run.json');
    await editor.host.evaluate(async (vscode, file) => {
      await vscode.commands.executeCommand('towpath.exportRun', { format: 'json', to: vscode.Uri.file(file) });
      await vscode.commands.executeCommand('towpath.newRun');
    }, place);
    await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    const asked = provider.requests.length;
    await editor.host.evaluate(async (vscode, file) => {
      await vscode.commands.executeCommand('towpath.importRuns', vscode.Uri.file(file));
    }, place);
    await editor.panel.shows('I come along.');
    assert.notEqual(newestRun(), before);
    assert.equal(provider.requests.length, asked, 'nothing goes on by itself');
    await says('Are you there?', 'I am.');
    assert.match(JSON.stringify(provider.requests.at(-1)!.body.messages), /Take me along/);
  });

  it('has each branch as it was left, words and files: forked, sent otherwise twice, restored, reloaded, killed at work, switched', async () => {
    /** What each thing that is said has the model write. */
    const writes: Record<string, [name: string, content: string]> = {
      'One.': ['a.txt', 'A1'],
      'Two.': ['b.txt', 'B2'],
      'Three.': ['a.txt', 'A3'],
      'Three, forked.': ['b.txt', 'B3'],
      'Three, otherwise.': ['c.txt', 'C3'],
      'Three, once more.': ['d.txt', 'D3'],
      'Four.': ['a.txt', 'A4'],
    };
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt'];
    provider.script = ({ messages }) => {
      const words = messages.findLast(({ role, content }) => role === 'user' && writes[content ?? ''])!.content!;
      const [name, content] = writes[words]!;
      if (messages.at(-1)!.role === 'tool') return words === 'Four.' ? reply.hang() : reply.text(`Done: ${words}`);
      return reply.call('fs_write', { path: name, content });
    };
    const input = () => editor.page.locator('.quick-input-widget input').first();
    const choose = (words: string) =>
      editor.page.locator('.quick-input-list .monaco-list-row', { hasText: words }).first().click();
    const isAllowed = async (words: string) => {
      const [name] = writes[words]!;
      assert.match(await editor.dialog.text(), new RegExp(`^(Create|Replace|Edit|Write|Overwrite).* ${name}\\n`));
      await editor.dialog.click('Allow');
    };
    const isDone = async (words: string) => {
      await isAllowed(words);
      await editor.panel.shows(`Done: ${words}`);
      await editor.panel.waitForPhase('WaitingUser');
    };
    const takesBack = async (name: string) => {
      assert.match(await editor.dialog.text(), new RegExp(`^Undo what Towpath changed in ${name}\\?`));
      await editor.dialog.click('Undo');
    };
    const files = () => Object.fromEntries(names.map((name) => [name, editor.read(name)]));
    const shown = async () => {
      await editor.page.mouse.move(1000, 300); // what a message offers while the pointer is at it is not said
      const said = (await editor.panel.transcript()).filter((entry) => !('role' in entry && entry.role === 'branches'));
      return transcriptText(said);
    };
    /** What is on the screen and on the disk as a branch is left. */
    const had: { words: string; files: ReturnType<typeof files> }[] = [];
    const leave = async () => void had.push({ words: await shown(), files: files() });
    const branch = (nth: number, of = 4) =>
      editor.panel.frame.getByRole('group', { name: `Branch ${nth} of ${of}` }).first();

    await editor.begin(settings());
    const atFirst = files();
    for (const words of ['One.', 'Two.']) {
      await editor.panel.send(words);
      await isDone(words);
    }
    const atTwo = files();
    await editor.panel.send('Three.');
    await isDone('Three.');
    await editor.command('Towpath: Restore Files to Here…');
    await choose('Three.');
    await takesBack('a.txt');
    await eventually('the file is restored', () => editor.read('a.txt') === 'A1');
    assert.deepEqual(files(), atTwo);
    await eventually('the card says so', async () =>
      /Undone/.test(await editor.panel.cards('fs.write').last().innerText()),
    );
    await leave();

    await editor.command('Towpath: Fork Run Here…');
    await choose('Before: Three.');
    await eventually('nothing of it is in the branch', async () => !(await shown()).includes('Three'));
    await editor.panel.send('Three, forked.');
    await isDone('Three, forked.');
    await branch(2, 2).waitFor();
    for (const [words, others, name] of [
      ['Three, forked.', 'Three, otherwise.', 'b.txt'],
      ['Three, otherwise.', 'Three, once more.', 'c.txt'],
    ] as const) {
      await editor.command('Towpath: Edit and Send Again…');
      await choose(words);
      await eventually('the words are there to be edited', async () => (await input().inputValue()) === words);
      await input().fill(others);
      await input().press('Enter');
      await choose('Restore 1 file to here…');
      await takesBack(name);
      await isAllowed(others);
      await editor.panel.shows(`Done: ${others}`);
      await editor.panel.waitForPhase('WaitingUser');
    }
    await branch(4).waitFor();
    const arrow = (nth: number) => branch(nth).getByRole('button', { name: 'Show the previous branch' });
    await arrow(4).focus();
    for (const nth of [3, 2]) {
      await eventually('the keys are on the arrow', () =>
        arrow(nth + 1).evaluate((one) => one.matches(':focus, :focus-within')),
      );
      await editor.page.keyboard.press('Enter');
      await branch(nth).waitFor();
      had.splice(1, 0, { words: await shown(), files: atTwo });
    }
    await editor.command('Towpath: Switch Branch…');
    await choose('Three, once more.');
    await branch(4).waitFor();
    assert.deepEqual(files(), { ...atTwo, 'd.txt': 'D3' });

    await editor.reload();
    await branch(4).waitFor();
    await editor.panel.send('Four.');
    await isAllowed('Four.');
    await eventually('the model has the next word', async () =>
      /Done|Replaced|Wrote|Overwrote|Created|Edited/.test(
        (await editor.panel.cards('fs.write').last().getAttribute('aria-label')) ?? '',
      ),
    );
    await leave();
    await editor.kill();

    editor = await openTowpath({ folder, userDataDir, settings: settings() });
    await editor.panel.shows('Interrupted: the editor closed while this run was in progress.');
    assert.match(had[3]!.words, /user +Four\.\nassistant +\n→ fs\.write \[done\]$/);
    for (const nth of [4, 3, 2, 1]) {
      await branch(nth).waitFor();
      assert.equal(await shown(), had[nth - 1]!.words, `branch ${nth}`);
      if (nth > 1) await branch(nth).getByRole('button', { name: 'Show the previous branch' }).click();
    }
    assert.deepEqual(files(), had[3]!.files, 'showing a branch changes no file');
    assert.deepEqual(files(), { ...atTwo, 'a.txt': 'A4', 'd.txt': 'D3' });
    const isRestored = async (nth: number) => {
      assert.match(await editor.dialog.text(), /^Restore 2 files as this branch left them\?\na\.txt\nd\.txt/);
      await editor.screenshot('restore-branch');
      await editor.dialog.click('Restore');
      await eventually('all files are as this branch had them', () => isDeepStrictEqual(files(), had[nth - 1]!.files));
    };
    await editor.command('Towpath: Restore Files to Here…');
    await choose('as this branch left them');
    await isRestored(1);
    for (const [words, nth] of [
      ['Three, once more.', 4],
      ['Three, forked.', 2],
    ] as const) {
      await editor.command('Towpath: Switch Branch…');
      await choose(words);
      await branch(nth).waitFor();
      await choose('Restore 2 files…');
      await isRestored(nth);
    }
    await branch(2).getByRole('button', { name: 'Show the next branch' }).click();
    await branch(3).waitFor();
    assert.deepEqual(files(), had[2]!.files, 'which had the same');

    const store = new RunStore(path.join(path.dirname(newestRun()), '..'));
    const family = (await store.list())
      .filter(({ title }) => /^(One|Three, )/.test(title))
      .sort((one, other) => one.createdAt - other.createdAt);
    const kept = await Promise.all(
      family.map(async ({ id }) => {
        const changed = Object.entries((await store.read(id)).files ?? {});
        const left = changed.map(async ([name, { after }]) => [name, after && (await store.contents.read(id, after))]);
        return { ...atFirst, ...Object.fromEntries(await Promise.all(left)) };
      }),
    );
    assert.deepEqual(
      kept,
      had.map((one) => one.files),
    );

    const rows = editor.panel.frame.locator('.history-row', { hasText: /One\.|Three, / });
    await editor.panel.frame.getByTestId('history').click();
    await eventually('all four are listed', async () => (await rows.count()) === 4);
    const root = editor.panel.frame.locator('.history-row[data-depth="0"]', { hasText: /One\./ });
    await root.hover();
    await root.getByTestId('delete-run').click();
    assert.match(await editor.dialog.text(), /^“One\.” has 3 branches\. Delete those, too\?/);
    await editor.screenshot('delete-branches');
    await editor.dialog.click('Delete All 4');
    await eventually('none is listed', async () => (await rows.count()) === 0);
    await (await editor.told('3 branches were deleted.')).getByRole('button', { name: 'Undo', exact: true }).click();
    await eventually(
      'all are back',
      async () => (await store.list()).filter(({ id }) => family.some((one) => one.id === id)).length === 4,
    );
  });
});
