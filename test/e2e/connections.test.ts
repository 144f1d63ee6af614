import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Backend, backends } from '../support/backends.ts';
import { temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';

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
    editor = await openTowpath({ connectionsTo: record, settings: { ...endpoint.settings, ...local.settings } });
    const { panel, dialog, folder } = editor;
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
