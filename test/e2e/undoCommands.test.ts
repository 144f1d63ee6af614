import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('undo of commands', () => {
  let provider: Provider;
  let editor: Towpath;
  const names = ['a.txt', 'src/b.txt', 'src/c.txt'];

  before(async () => {
    provider = await startProvider([]);
    editor = await openTowpath({
      files: Object.fromEntries(names.map((name) => [name, 'base\n'])),
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: editor.folder, stdio: 'ignore' });
    git('init');
    git('add', '-A');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', 'commit', '-m', 'one');
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const run = async (command: string) => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.newRun');
    });
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return reply.late(0).call(toWireToolName('shell.run'), { command });
    };
    await editor.panel.send('Go.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
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
    await editor.command('Towpath: Undo Run');
    await eventually('the folder is as before', () => texts() === 'base\n'.repeat(3));
    await eventually('the new file is gone', () => editor.read('new/d.txt') === undefined);
  });
});
