import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { quickPickOf } from '../support/editor/quickPick.ts';
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
    const settings = {
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      'towpath.editor.decorations': 'all',
    };
    editor = await openTowpath({ folder: at('both.code-workspace'), settings });
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

  it('of one name: a change is marked in the file of the folder that is meant', async () => {
    const marks = editor.page.locator('.codelens-decoration a', { hasText: 'Mark as Reviewed' });
    const show = (file: string) =>
      editor.host.evaluate(async (vscode, file) => {
        await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
      }, file);
    writeFileSync(at('server', 'api', 'new.txt'), 'for the client\n');
    await show(at('client', 'api', 'new.txt'));
    await eventually('it is marked', async () => (await marks.count()) === 1);
    await show(at('server', 'api', 'new.txt'));
    await eventually('nothing else is marked', async () => (await marks.count()) === 0);
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
    rmSync(at('server', 'api', 'new.txt'));
  });

  it('gives a task the files of each', async () => {
    provider.script = ({ messages }) => {
      const isAnswered = messages.at(-1)!.role === 'tool';
      const isTask = messages.find(({ role }) => role === 'user')!.content === 'Compare the names.';
      if (isTask && isAnswered) return reply.text('They differ.');
      if (isTask)
        return reply
          .call('fs_read', { path: 'api (client)/name.txt' }, { id: 'client' })
          .call('fs_read', { path: 'api (server)/name.txt' }, { id: 'server' });
      if (isAnswered) return reply.text('The task has compared them.');
      return reply.call('task_run', { title: 'Compare', prompt: 'Compare the names.' });
    };
    await editor.panel.send('Let somebody compare them.');
    await editor.panel.shows('The task has compared them.');
    assert.match(heard(), /They differ\./);
    const results = provider.requests.at(-2)!.body.messages.filter(({ role }) => role === 'tool');
    assert.match(JSON.stringify(results), /client[\s\S]*server/);
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

describe('a window whose folder only the editor reaches', () => {
  let outer: string;
  let editor: Towpath;
  let provider: Provider;
  let settings: Record<string, unknown>;
  const far = () => path.join(outer, 'far');
  before(async () => {
    outer = temporaryFolder();
    mkdirSync(path.join(far(), 'src'), { recursive: true });
    writeFileSync(path.join(far(), 'src', 'tide.txt'), 'low\nhigh at noon\n');
    const place = path.join(outer, 'far.code-workspace');
    writeFileSync(place, JSON.stringify({ folders: [{ uri: `driverfs:${far()}` }] }));
    provider = await startProvider([]);
    settings = {
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    };
    editor = await openTowpath({ folder: place, settings });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(outer, { recursive: true, force: true });
  });

  it('reads, searches and names its files, and says why what changes anything is not there', async () => {
    await editor.panel.shows('The folders of this window are virtual');
    await editor.host.evaluate(async (vscode) => {
      const [folder] = vscode.workspace.workspaceFolders!;
      const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder!.uri, 'src', 'tide.txt'));
      await vscode.window.showTextDocument(document, { selection: new vscode.Range(1, 0, 1, 4) });
      await vscode.commands.executeCommand('towpath.addSelection');
    });
    provider.script = [
      reply.call('fs_list', { path: 'src' }),
      reply.call('fs_search', { pattern: 'h.gh' }),
      reply.call('fs_read', { path: 'src/tide.txt' }),
      reply.call('editor_context', {}),
      reply.call('fs_write', { path: 'src/new.txt', content: 'x' }),
      reply.text('It is high at noon.'),
    ];
    await eventually('the selection is named in the message', async () =>
      (await editor.panel.composer.inputValue()).includes('src/tide.txt:2'),
    );
    await editor.panel.sendButton.click();
    await editor.panel.shows('It is high at noon.');
    const { messages, tools } = provider.requests.at(-1)!.body;
    assert.match(JSON.stringify(tools), /fs_search/);
    assert.doesNotMatch(JSON.stringify(tools), /fs_write|shell_run/);
    const said = messages.map(({ content }) => JSON.stringify(content));
    assert.match(said.find((text) => text.includes('tide.txt:2'))!, /high at noon/);
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
    const expected = [
      /"name":"tide.txt"/,
      /2: high at noon/,
      /low\\nhigh at noon/,
      /"path":"src\/tide.txt".*"text":"high"/,
      /TOOL_NOT_AVAILABLE.*virtual, on no disk/,
    ];
    for (const [at, words] of expected.entries()) assert.match(results[at]!, words);
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
    await editor.panel.frame.getByRole('button', { name: 'Open tide.txt:2' }).click();
    await eventually('what the message names is open', () =>
      editor.host.evaluate(({ window }) => {
        const { document, selection } = window.activeTextEditor ?? {};
        return document?.uri.scheme === 'driverfs' && selection?.start.line === 1;
      }),
    );
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.newWorkflow'));
    await editor.told(/Workflows are not available in a virtual workspace/);
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.delegateTask'));
    await editor.told(/Tasks for other agents are not available in a virtual workspace/);
    await editor.command('Towpath: Approvals…');
    const row = quickPickOf(editor.page).rows.filter({ hasText: 'Auto-approve edits and sandboxed commands' });
    assert.match(await row.innerText(), /Not available: the folders of this window are virtual/);
    await editor.page.keyboard.press('Escape');
    assert.deepEqual(readdirSync(far()), ['src']);
    await editor.screenshot('virtual-workspace');
  });

  it('has its runs in another profile, too, and goes on with one by the settings of that', async () => {
    const before = await editor.host.ready();
    await editor.command('Profiles: Create a Temporary Profile');
    await editor.page.getByRole('button', { name: 'Reload' }).click();
    await editor.host.ready(before);
    await editor.showPanel();
    await editor.panel.shows('It is high at noon.');
    await editor.host.evaluate(async (vscode, settings) => {
      for (const [name, value] of Object.entries(settings))
        await vscode.workspace.getConfiguration().update(name, value, vscode.ConfigurationTarget.Global);
    }, settings);
    provider.script = () => reply.text('It is still high.');
    await editor.panel.send('And in this profile?');
    await editor.panel.shows('It is still high.');
    assert.match(JSON.stringify(provider.requests.at(-1)!.body.messages), /It is high at noon/);
    await editor.screenshot('another-profile');
  });
});
