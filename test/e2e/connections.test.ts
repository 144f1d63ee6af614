import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Backend, backends } from '../support/backends.ts';
import { copySample, temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { said } from '../support/scripted.ts';

/** Where a process of the editor connected to over a network, as the kernel saw it: address and port, in order. */
function connections(record: string): string[] {
  return [...readFileSync(record, 'latin1').matchAll(/sa_family=AF_INET6?, .*/g)].map(([call]) => {
    const port = /sin6?_port=htons\((\d+)\)/.exec(call)?.[1];
    const address = /inet_(?:addr|pton)\((?:AF_INET6, )?"([^"]+)"/.exec(call)?.[1];
    return `${address}:${port}`;
  });
}

describe('what leaves this machine', () => {
  const record = path.join(temporaryFolder(), 'record');
  const own: Backend[] = [];
  let editor: Towpath | undefined;

  before(function () {
    const tried = spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=connect', '-o', '/dev/null', 'true']);
    if (tried.status === 0) return;
    console.log(
      '      Not checked: there is no strace here that may watch processes (Debian: apt-get install strace).',
    );
    this.skip();
  });
  after(async () => {
    await editor?.stop();
    for (const backend of own) await backend.close();
  });

  it('is nothing with a model of this machine, and goes to its address alone with one behind an endpoint', async () => {
    const local = await backends.local();
    const endpoint = await backends.endpoint();
    own.push(local, endpoint);
    const folder = copySample(temporaryFolder());
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'Greet');
    editor = await openTowpath({
      folder,
      connectionsTo: record,
      settings: { ...endpoint.settings, ...local.settings, 'towpath.approvals.readOnlyCommands': false },
    });
    const { panel, dialog, host } = editor;
    const command = (id: string) =>
      host.evaluate(async (vscode, name) => void (await vscode.commands.executeCommand(name)), id);
    /** Of the repository, once the Git extension has found it. */
    const messageBox = () =>
      host.evaluate((vscode) => {
        const git = vscode.extensions.getExtension('vscode.git')?.exports;
        return git?.getAPI(1).repositories[0]?.inputBox.value as string | undefined;
      });
    const story = async () => {
      await panel.send('[[edit]] Make the greeting warmer.');
      await dialog.click('Allow');
      await panel.waitForPhase('WaitingUser');
      await panel.shows('The greeting is warmer now.');
      assert.match(readFileSync(path.join(folder, 'src/greet.js'), 'utf8'), /Welcome aboard/);
      await panel.frame.getByRole('button', { name: 'Undo' }).last().click();
      await panel.shows('Undone');
    };
    await story();
    await panel.send('[[shell]] Which version is it?');
    await dialog.click('Allow');
    await panel.shows(said.ran);
    await eventually('the repository is open', async () => (await messageBox()) === '');
    writeFileSync(path.join(folder, 'README.md'), 'Changed by hand.\n');
    await command('towpath.writeCommitMessage');
    await eventually('the commit message is there', async () => Boolean(await messageBox()));
    await editor.reload();
    await panel.send('And again?');
    await panel.waitForPhase('WaitingUser');
    await panel.shows(said.hello);
    assert.ok(existsSync(record), 'somebody is watching');
    assert.deepEqual(connections(record), [], 'with a local model');

    await editor.host.evaluate(async (vscode, model) => {
      await vscode.workspace.getConfiguration('towpath').update('model', model, vscode.ConfigurationTarget.Global);
      await vscode.commands.executeCommand('towpath.newRun');
    }, endpoint.settings['towpath.model'] as string);
    await story();
    const { hostname, port } = new URL(endpoint.provider!.url);
    assert.deepEqual([...new Set(connections(record))], [`${hostname}:${port}`], 'with an endpoint');
  });
});
