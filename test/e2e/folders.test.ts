import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('a window with several folders', () => {
  let outer: string;
  let editor: Towpath;
  let provider: Provider;
  const at = (...names: string[]) => path.join(outer, ...names);
  before(async () => {
    outer = temporaryFolder();
    for (const one of ['client', 'server']) {
      mkdirSync(at(one, 'api'), { recursive: true });
      writeFileSync(at(one, 'api', 'name.txt'), `${one}\n`);
    }
    const folders = ['client/api', 'server/api'].map((one) => ({ path: one }));
    writeFileSync(at('both.code-workspace'), JSON.stringify({ folders }));
    provider = await startProvider([]);
    const settings = { 'towpath.model': 'openai-compatible/scripted', 'towpath.endpoint.baseUrl': provider.url };
    editor = await openTowpath({ folder: at('both.code-workspace'), settings });
    await eventually('both folders are open', async () => {
      const count = await editor.host.evaluate((vscode) => vscode.workspace.workspaceFolders?.length);
      if (count === 2) return true;
      await editor.reload(); // on a busy machine a window comes up without them at times
      return false;
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(outer, { recursive: true, force: true });
  });
  const heard = () => JSON.stringify(provider.requests.at(-1)!.body.messages);

  it('of one name: each is told from the other by what it is in, and a change lands in the one that is meant', async () => {
    provider.script = [
      reply.call('fs_read', { path: 'api (server)/name.txt' }),
      reply.call('fs_write', { path: 'api (client)/new.txt', content: 'for the client\n' }),
      reply.text('Both are there.'),
    ];
    await editor.panel.send('Which are there?');
    assert.match(await editor.dialog.text(), /^Create api \(client\)\/new\.txt/);
    await editor.dialog.click('Allow');
    await editor.panel.shows('Both are there.');
    assert.match(heard(), /api \(client\)[\s\S]*api \(server\)/);
    assert.equal(readFileSync(at('client', 'api', 'new.txt'), 'utf8'), 'for the client\n');
    await editor.screenshot('two-of-one-name');
  });

  it('of which one is removed while a run works: what is in it is not reached any more, and the run goes on', async () => {
    let goOn = () => {};
    const removed = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    provider.script = ({ messages }) => {
      if (messages.at(-1)!.role !== 'tool')
        return reply.after(removed).call('fs_read', { path: 'api (server)/name.txt' });
      return reply.text('It is gone.');
    };
    await editor.panel.send('And now?');
    await editor.panel.waitForPhase('Running');
    await editor.host.evaluate((vscode) => {
      vscode.workspace.updateWorkspaceFolders(1, 1);
    });
    await eventually('one folder is left', () =>
      editor.host.evaluate((vscode) => vscode.workspace.workspaceFolders?.length === 1),
    );
    goOn();
    await editor.panel.shows('It is gone.');
    assert.match(heard(), /\\"ok\\":false[\s\S]*(ENOENT|E_SANDBOX_VIOLATION)/);
    assert.equal(readFileSync(at('server', 'api', 'name.txt'), 'utf8'), 'server\n');
    provider.script = ({ messages }) =>
      messages.at(-1)!.role === 'tool' ? reply.text('That one is.') : reply.call('fs_read', { path: 'name.txt' });
    await editor.panel.send('And the other?');
    await editor.panel.shows('That one is.');
    assert.match(heard(), /1: client|client\\\\n|"client/);
  });
});
