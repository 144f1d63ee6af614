import assert from 'node:assert/strict';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';

const server = `
const http = require('node:http'), fs = require('node:fs');
http.createServer((request, response) => {
  console.log(request.method + ' ' + request.url);
  response.setHeader('content-type', 'text/html').end('<h1>' + fs.readFileSync('page.txt', 'utf8') + '</h1>');
}).listen(0, '127.0.0.1', function () {
  console.log('Ready: http://localhost:' + this.address().port + '/');
});`;
const serving = `"${process.execPath}" server.cjs`;

describe('commands in the background', () => {
  let provider: Provider;
  let editor: Towpath;
  /** What the model does next, given what it was told last. */
  let steps: ((told: { id: string; output: string; text: string; by?: string }) => ProviderReply)[];
  let url = '';
  let id = '';
  before(async () => {
    provider = await startProvider(({ messages }) => {
      const newest = messages.findLast(({ role }) => role === 'tool');
      const told = JSON.parse(newest?.content ?? '{}');
      return steps.shift()?.(told.data ?? told) ?? reply.text('The story is over.');
    });
    editor = await openTowpath({
      files: { 'server.cjs': server, 'page.txt': 'before' },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider.close();
  });
  const list = () => editor.panel.frame.getByTestId('commands');
  const item = () => editor.page.locator('.statusbar-item', { hasText: '1 running' });
  const messages = () => provider.requests.at(-1)!.body.messages;

  it('a server is started, a page of it got, a file edited, the page got again', async () => {
    const pages: string[] = [];
    steps = [
      () => reply.call('shell_run', { command: serving, background: true }),
      (told) => {
        id = told.id;
        url = /http:\/\/localhost:\d+\//.exec(told.output)![0];
        return reply.call('web_fetch', { url });
      },
      (told) => {
        pages.push(told.text);
        return reply.call('fs_edit', { path: 'page.txt', edits: [{ oldText: 'before', newText: 'after' }] });
      },
      () => reply.call('web_fetch', { url }),
      (told) => {
        pages.push(told.text);
        return reply.text('The page says “after” now.');
      },
    ];
    await editor.panel.send('Serve the page and mend it.');
    const start = await editor.dialog.text();
    assert.match(start, /^Run this command in the background\?\n[\s\S]*server\.cjs/);
    await editor.dialog.click('Allow');
    const page = await editor.dialog.text();
    assert.match(
      page,
      /^Fetch a page of localhost:\d+\n[\s\S]*It is a page of this machine: the background command “.*node.*” \(.* \(\d+\)\) serves it/,
    );
    assert.deepEqual((await editor.dialog.buttons()).sort(), ['Allow', 'Cancel', 'Review…']);
    await editor.screenshot('background-page-question');
    await editor.dialog.click('Allow');
    assert.match(await editor.dialog.text(), /^Edit page\.txt/);
    await editor.dialog.click('Allow');
    await editor.panel.shows('The page says “after” now.');
    assert.deepEqual(pages, ['before', 'after']);
    await editor.panel.waitForPhase('WaitingUser');
    await editor.panel.frame.getByTestId('strip-commands').click();
    assert.match(await list().innerText(), /server\.cjs[\s\S]*Output[\s\S]*Stop/);
    await item().waitFor();
    assert.match(await editor.panel.cards('shell.run').innerText(), /just started|min/);
    await editor.screenshot('background-list');
  });

  it('its output is in an editor, as it comes; the model stops it, and nothing of it is left', async () => {
    await list().getByTestId('command-output').click();
    const shown = () => editor.host.evaluate((vscode) => vscode.window.activeTextEditor?.document.getText() ?? '');
    await eventually('what it printed is shown', async () => (await shown()).includes('GET /'));
    await fetch(`${url}more`);
    await eventually('and what it prints now', async () => (await shown()).includes('GET /more'));
    await editor.screenshot('background-output');

    steps = [() => reply.call('shell_stop', { id }), () => reply.text('It is stopped.')];
    await editor.panel.send('Stop it.');
    await editor.panel.shows('It is stopped.');
    assert.equal(await editor.dialog.isOpen(), false);
    await assert.rejects(fetch(url));
    await list().waitFor({ state: 'detached' });
    await item().waitFor({ state: 'detached' });
    await eventually('its card says so', async () =>
      /was stopped/.test(await editor.panel.cards('shell.run').innerText()),
    );
  });

  it('one in the foreground goes on when the person says so; its death is said, and told to the model', async () => {
    steps = [
      () =>
        reply.call('shell_run', { command: 'echo begun; until [ -e go ]; do sleep 0.05; done; echo Broken.; exit 3' }),
      (told) => {
        id = told.id;
        return reply.text('It goes on.');
      },
      () => reply.text('I see that it died.'),
    ];
    await editor.panel.send('Watch it.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.shows('begun');
    await editor.resizePanel(230);
    await editor.screenshot('background-let-go-on');
    await editor.panel.frame.getByTestId('let-go-on').click();
    await editor.panel.shows('It goes on.');
    assert.match(messages().at(-1)!.content ?? '', /"running":true.*The person let it go on/);
    await editor.panel.waitForPhase('WaitingUser');
    await editor.screenshot('background-narrow');
    await editor.host.evaluate(async (vscode) => {
      const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'go');
      await vscode.workspace.fs.writeFile(uri, new Uint8Array());
    });
    await editor.panel.shows(/In the background, “echo begun.* exited with code 3\./);
    await editor.screenshot('background-died');
    await editor.panel.frame.getByTestId('continue').click();
    await editor.panel.shows('I see that it died.');
    assert.match(
      JSON.stringify(messages()),
      /The command .* in the background exited with code 3\. What it wrote: output\.read/,
    );
  });

  it('it ends with the window, and the next one knows', async () => {
    await editor.resizePanel(400);
    steps = [
      () => reply.call('shell_run', { command: serving, background: true }),
      (told) => {
        url = /http:\/\/localhost:\d+\//.exec(told.output)![0];
        return reply.text('It serves again.');
      },
      () => reply.text('Then not.'),
    ];
    await editor.panel.send('Serve again.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.shows('It serves again.');
    await editor.panel.waitForPhase('WaitingUser');
    await fetch(url);
    await editor.reload();
    await eventually('nothing serves any more', () =>
      fetch(url).then(
        () => false,
        () => true,
      ),
    );
    await editor.panel.ready();
    await editor.panel.send('Does it serve?');
    await editor.panel.shows('Then not.');
    assert.match(JSON.stringify(messages()), /in the background ended (with its window or its run|after its window)\./);
    assert.equal(await list().count(), 0);
  });
});
