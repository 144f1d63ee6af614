import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { quickPickOf } from '../support/editor/quickPick.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { faultyServer } from '../support/mcp/servers.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('undo of commands', () => {
  let provider: Provider;
  let editor: Towpath;
  const names = ['a.txt', 'src/b.txt', 'src/c.txt'];

  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
  const git = (...args: string[]) => execFileSync('git', args, { cwd: editor.folder, encoding: 'utf8', stdio: 'pipe' });

  before(async () => {
    provider = await startProvider([]);
    editor = await openTowpath({
      files: Object.fromEntries(names.map((name) => [name, 'base\n'])),
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
    git('init');
    git('add', '-A');
    git(...author, 'commit', '-m', 'one');
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const row = (name: string) => editor.panel.frame.locator(`[data-file="${name}"]`);
  const openFiles = async () => {
    await editor.panel.frame.getByTestId('strip-files').waitFor();
    if ((await editor.panel.frame.getByTestId('files').count()) === 0)
      await editor.panel.frame.getByTestId('strip-files').press('Enter');
  };
  /** Starts a run with one call. */
  const call = async (name: string, args: object) => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.newRun');
    });
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return reply.late(0).call(name, args);
    };
    await editor.panel.send('Go.');
  };
  const shell = (command: string) => call(toWireToolName('shell.run'), { command });
  const run = async (command: string, meanwhile = async () => {}) => {
    await shell(command);
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await meanwhile();
    await editor.panel.waitForPhase('WaitingUser');
  };
  const texts = () => names.map((name) => editor.read(name)).join('');

  it('git checkout . has thrown work away: one Undo on the card brings it back, and Redo takes it again', async () => {
    for (const name of names) writeFileSync(path.join(editor.folder, name), `hours of work in ${name}\n`);
    await run('git checkout .');
    const base = 'base\n'.repeat(3);
    assert.equal(texts(), base);
    const { frame } = editor.panel;
    await frame.getByText('3 files changed').waitFor();
    await editor.screenshot('undo-command');
    await frame.getByTestId('undo').click();
    const work = names.map((name) => `hours of work in ${name}\n`).join('');
    await eventually('all are back', () => texts() === work);
    await frame.getByText('Undone').first().waitFor();
    await frame.getByTestId('redo').first().click();
    await eventually('all are gone again', () => texts() === base);
    const told = JSON.stringify(provider.requests.at(-1)!.body.messages);
    assert.match(told, /changed a\.txt/);
  });

  it('what a command created goes, what it deleted returns, and the files are listed with their lines', async () => {
    await run('rm -rf src && mkdir new && printf "1\\n2\\n" > new/d.txt');
    const { frame } = editor.panel;
    await frame.getByText('1 file created, 2 deleted').waitFor();
    await openFiles();
    await frame.getByText('by rm -rf src').waitFor();
    await editor.command('Towpath: Undo Run');
    await eventually('the folder is as before', () => texts() === 'base\n'.repeat(3));
    await eventually('the new file is gone', () => editor.read('new/d.txt') === undefined);
  });

  describe('of a formatter over 40 files', () => {
    const files = [...Array.from({ length: 38 }, (_, at) => `lib/f${at}.ts`), 'lib/a.ts', 'lib/b.ts'];
    const count = (text: string) => files.filter((name) => editor.read(name) === text).length;
    const [unformatted, formatted] = ['let  x = 1\n', 'let x = 1;\n'];
    const card = () => editor.panel.cards('shell.run').first();

    before(async () => {
      mkdirSync(path.join(editor.folder, 'lib'), { recursive: true });
      for (const name of files) writeFileSync(path.join(editor.folder, name), unformatted);
      writeFileSync(path.join(editor.folder, '.env'), 'KEY=1\n');
      writeFileSync(path.join(editor.folder, 'logo.bin'), Buffer.from([0, 1, 2]));
      await run("sed -i 's/let  x = 1/let x = 1;/' lib/*.ts; echo KEY=2 > .env; printf '\\000\\003' > logo.bin");
      assert.equal(count(formatted), 40);
    });

    it('is listed under its command, reviewed, and taken back file by file', async () => {
      const { frame } = editor.panel;
      await frame.getByText('42 files changed').waitFor();
      await editor.resizePanel(420);
      await editor.screenshot('undo-command-card');
      await openFiles();
      await frame.getByText(/^by sed -i/).waitFor();
      await frame.getByTestId('group-more').getByText('and 37 more').waitFor();
      await editor.screenshot('undo-command-files');
      const notice = frame.getByTestId('notice');
      const shown = Promise.all([
        editor.page.locator('.multiDiffEntry').first().waitFor(),
        notice.getByText('Not shown, because not text or too large: logo.bin.').waitFor(),
        notice.getByText('Not shown, because of possible secrets: .env.').waitFor(),
      ]);
      await frame.getByTestId('review-files').press('Enter');
      await shown; // a notice goes by itself
      await editor.screenshot('undo-command-review');
      await frame.getByTestId('group-more').press('Enter');
      for (const [done, name] of ['lib/f7.ts', 'lib/f37.ts'].entries()) {
        await row(name).getByTestId('file-more').press('Enter');
        await row(name).getByTestId('undo-file').press('Enter');
        await eventually('it is as before', () => editor.read(name) === unformatted);
        await row(name).waitFor({ state: 'detached' });
        assert.equal(count(unformatted), done + 1);
      }
      await eventually('the card says so', async () => /Partly undone/.test(await card().innerText()));
      await editor.command('Towpath: Redo');
      await eventually('the newer is formatted again', () => count(formatted) === 39);
      await row('lib/f37.ts').waitFor();
      await editor.command('Towpath: Redo');
      await eventually('all are formatted again', () => count(formatted) === 40);
    });

    it('names what the user edited since, restores the others or all, and redoes it', async () => {
      for (const name of ['lib/a.ts', 'lib/b.ts']) writeFileSync(path.join(editor.folder, name), 'mine\n');
      await card().getByTestId('undo').press('Enter');
      const text = await editor.dialog.text();
      assert.match(
        text,
        /^Undo the changes of “sed -i .*”\?\s+Restores 42 files\. You edited 2 of them since: lib\/a\.ts, lib\/b\.ts\./,
      );
      await editor.screenshot('undo-command-question');
      await editor.dialog.click('Restore 40 Files');
      await eventually('the others are as before', () => count(unformatted) === 38);
      assert.equal(count('mine\n'), 2);
      await editor.panel.frame.getByTestId('notice').getByText('lib/a.ts was left as it is').waitFor();
      await card().getByTestId('redo').press('Enter');
      await eventually('they are formatted again', () => count(formatted) === 38);
      await card().getByText('Partly undone').waitFor({ state: 'detached' }); // the redo is recorded
      await card().getByTestId('undo').press('Enter');
      await editor.dialog.text();
      await editor.dialog.click('Restore All 42');
      await eventually('all are as before', () => count(unformatted) === 40);
      await eventually('the card says so', async () => /Undone/.test(await card().innerText()));
    });
  });

  it('git commit: the question says which branch moves where, the files stay, and Redo commits again', async () => {
    writeFileSync(path.join(editor.folder, 'own.txt'), 'committed\n');
    const state = () => [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('log', '-g', '--format=%gs')];
    const before = state();
    await run(`git add -A && git ${author.join(' ')} commit -qm two`);
    const after = state();
    assert.notDeepEqual(after, before);
    const { frame } = editor.panel;
    await frame.getByText('Git changed').waitFor();
    await frame.getByText(/^Done · 1 command · /).waitFor(); // the repository is no file
    await editor.screenshot('undo-git-card');
    await frame.getByTestId('undo').first().press('Enter');
    const question = await editor.dialog.text();
    assert.match(question, /^Undo the changes of “git add -A && git/);
    assert.match(question, new RegExp(`The branch \\S+ moves back to ${before[0]!.slice(0, 7)}\\.`));
    await editor.screenshot('undo-git-question');
    await editor.dialog.click('Undo');
    await eventually('the branch is back', async () => git('rev-parse', 'HEAD') === before[0]);
    await frame.getByText('Undone').first().waitFor();
    assert.deepEqual(state(), before);
    assert.equal(editor.read('own.txt'), 'committed\n');
    await frame.getByTestId('redo').first().press('Enter');
    await eventually('it is committed again', async () => git('rev-parse', 'HEAD') === after[0]);
    await frame.getByTestId('undo').first().waitFor();
    assert.deepEqual(state(), after);
  });

  it('what a command does in the background is on its card when it ends; one Undo takes it back', async () => {
    const signals = mkdtempSync(path.join(tmpdir(), 'towpath-signals-'));
    const go = path.join(signals, 'go');
    try {
      const before = texts();
      const work = 'echo later > a.txt; rm src/b.txt; echo new > c.txt';
      await call(toWireToolName('shell.run'), {
        command: `echo on | tee early.txt; until [ -e '${go}' ]; do sleep 0.1; done; ${work}`,
        background: true,
      });
      await editor.dialog.text();
      const begun = eventually('the command has begun', () => editor.read('early.txt') !== undefined);
      provider.script = () => reply.after(begun).text('Done.');
      await editor.dialog.click('Allow');
      const card = editor.panel.cards('shell.run').first();
      await card.getByText('1 file created').waitFor(); // the run rests, and what follows may be anybody's
      writeFileSync(go, '');
      await card.getByText('1 file changed, 2 created, 1 deleted').waitFor();
      assert.deepEqual([editor.read('a.txt'), editor.read('src/b.txt')], ['later\n', undefined]);
      await editor.screenshot('undo-background-card');
      await card.getByTestId('undo').press('Enter');
      assert.match(await editor.dialog.text(), /Something else may have changed 3 of them at the same time: /);
      await editor.screenshot('undo-background-question');
      await editor.dialog.click('Restore All 4');
      const created = ['early.txt', 'c.txt'].map((name) => path.join(editor.folder, name));
      await eventually('all is as before', () => texts() === before && !created.some(existsSync));
      await card.getByTestId('redo').press('Enter');
      await eventually('it is done again', () => editor.read('a.txt') === 'later\n');
      await eventually('the files are new again', () => created.every(existsSync));
      await card.getByTestId('undo').waitFor();
      git('checkout', '.');
      for (const file of created) rmSync(file);
    } finally {
      rmSync(signals, { recursive: true, force: true });
    }
  });

  it('with Autopilot a command that discards files asks nothing, and one that discards commits asks', async () => {
    const choose = async (preset: string) => {
      await editor.command('Towpath: Approvals…');
      await quickPickOf(editor.page).pick(preset);
    };
    await choose('Autopilot');
    await editor.dialog.click('Turn On Autopilot');
    writeFileSync(path.join(editor.folder, 'a.txt'), 'hours of work\n');
    await shell('git checkout .');
    await eventually('it ran unasked', () => editor.read('a.txt') === 'base\n');
    await editor.panel.waitForPhase('WaitingUser');
    await editor.panel.cards('shell.run').getByTestId('undo').press('Enter');
    await eventually('the work is back', () => editor.read('a.txt') === 'hours of work\n');
    const head = git('rev-parse', 'HEAD');
    await shell('git reset --hard HEAD~1');
    assert.match(await editor.dialog.text(), /^Run this command\?\ngit reset --hard HEAD~1/);
    await editor.screenshot('undo-autopilot-question');
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    await editor.panel.waitForPhase('WaitingUser');
    assert.deepEqual([git('rev-parse', 'HEAD'), editor.read('a.txt')], [head, 'hours of work\n']);
    await choose('Auto-approve reads');
    git('checkout', '.');
  });

  it('what a tool of a server has changed is on its card, and goes with Undo', async () => {
    const file = path.join(editor.folder, 'own.txt');
    const servers = { odd: { command: process.execPath, args: [faultyServer, 'writes', file] } };
    mkdirSync(path.join(editor.folder, '.vscode'), { recursive: true });
    writeFileSync(path.join(editor.folder, '.vscode/mcp.json'), JSON.stringify({ servers }));
    const before = editor.read('own.txt');
    await call('mcp_odd_work', { text: 'roses\n' });
    assert.match(await editor.dialog.text(), /^Start MCP server “odd”\?/);
    await editor.dialog.click('Start');
    assert.match(await editor.dialog.text(), /^Use work of the MCP server odd/);
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(editor.read('own.txt'), 'roses\n');
    const card = editor.panel.cards('mcp.odd.work');
    await card.getByText('1 file changed').waitFor();
    await openFiles();
    await editor.panel.frame.getByText('by odd: work').waitFor();
    await editor.screenshot('undo-server-tool');
    await card.getByTestId('undo').press('Enter');
    await eventually('it is as before', () => editor.read('own.txt') === before);
  });

  it('works in a folder without Git, and asks about each file that something else may have changed', async () => {
    rmSync(path.join(editor.folder, '.git'), { recursive: true });
    await run(
      'echo 1 > a.txt; rm src/b.txt; echo 1 > src/c.txt; while [ ! -e go ]; do sleep 0.05; done; rm go',
      async () => {
        await eventually('the command is at work', () => editor.read('src/c.txt') === '1\n');
        await editor.host.evaluate(async (vscode) => {
          const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'src/c.txt');
          const document = await vscode.workspace.openTextDocument(uri);
          const edit = new vscode.WorkspaceEdit();
          edit.insert(uri, new vscode.Position(0, 0), 'mine\n');
          await vscode.workspace.applyEdit(edit);
          await document.save();
        });
        writeFileSync(path.join(editor.folder, 'go'), '');
      },
    );
    await openFiles();
    await row('src/c.txt').getByText('changed at the same time').waitFor();
    await editor.command('Towpath: Undo Run');
    assert.match(
      await editor.dialog.text(),
      /^Undo the changes of “echo [\s\S]*src\/b\.txt\s+a\.txt\s+Next, you select from 1 file that something else/,
    );
    await editor.dialog.click('Undo');
    const list = editor.page.locator('.quick-input-list .monaco-list-row');
    await list.filter({ hasText: 'src/c.txt' }).waitFor();
    await editor.screenshot('undo-command-same-time');
    await editor.page.keyboard.press('Enter');
    await eventually('the files of the command are as before', () => editor.read('src/b.txt') === 'base\n');
    assert.deepEqual([editor.read('a.txt'), editor.read('src/c.txt')], ['base\n', 'mine\n1\n']);
  });
});
