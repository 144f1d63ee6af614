import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { canRunBwrap } from '../support/bwrap.ts';
import { quickPickOf } from '../support/editor/quickPick.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Listening, listen } from '../support/listening.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const serverFile = `
const server = require('node:http').createServer((_, response) => response.end('served in the sandbox'));
server.listen(0, '127.0.0.1', () => console.log('Port ' + server.address().port));`;

describe('sandbox', () => {
  let provider: Provider;
  let server: Listening;
  let editor: Towpath;

  before(async function () {
    if (!canRunBwrap()) return this.skip();
    provider = await startProvider([]);
    server = await listen(async (_, response) => void response.end('hello\n'));
    editor = await openTowpath({
      files: { 'a.txt': 'one\n', 'flag.txt': '', 'server.cjs': serverFile },
      env: { npm_config_registry: `http://127.0.0.1:${server.port}/npm/` },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    await server?.close();
  });

  /** The model runs this command, and is content with whatever comes of it. */
  const runs = async (command: string, more: object = {}) => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return reply.late(0).call(toWireToolName('shell.run'), { command, ...more });
    };
    await editor.panel.send('Go.');
  };
  const done = () => editor.panel.waitForPhase('WaitingUser');
  const choose = async (text: string) => {
    await editor.command('Towpath: Approvals…');
    await quickPickOf(editor.page).pick(text);
  };
  const presetIs = (text: string) =>
    eventually(`the preset is ${text}`, async () =>
      ((await editor.panel.frame.getByTestId('preset').getAttribute('title')) ?? '').startsWith(`${text}. Click`),
    );
  const card = () => editor.panel.cards('shell.run').last();

  const isListed = (text: string) =>
    quickPickOf(editor.page).rows.filter({ hasText: text }).first().waitFor({ state: 'attached' });
  const rule = async (text: string, picture: string) => {
    await editor.command('Towpath: Approvals…');
    await isListed(text);
    await editor.screenshot(picture);
    await editor.page.keyboard.press('Escape');
  };

  it('is offered after the third command that was allowed; only the dialog turns it on', async () => {
    for (const name of ['one', 'two', 'three']) {
      await runs(`touch ${name}`);
      await editor.dialog.click('Allow');
      await done();
    }
    await editor.panel.shows('Run commands in a sandbox without approval?');
    await editor.screenshot('sandbox-offer');
    await editor.panel.frame.getByText('Use Sandbox…').click();
    assert.match(await editor.dialog.text(), /^Run commands in a sandbox without approval\?/);
    assert.equal(await editor.dialog.focused(), 'Keep Asking');
    await editor.screenshot('sandbox-offer-dialog');
    await editor.dialog.click('Use Sandbox');
    await presetIs('Auto-approve edits and sandboxed commands');
  });

  it('a command runs unasked and its changes can be undone', async () => {
    await runs('echo two >> a.txt && cat a.txt; touch ~/outside 2>&1; echo end');
    await done();
    assert.equal(editor.read('a.txt'), 'one\ntwo\n');
    await card().getByText('1 file changed').waitFor();
    await editor.screenshot('sandbox-command');
    await editor.command('Towpath: Undo Turn');
    await eventually('the change is undone', () => editor.read('a.txt') === 'one\n');
  });

  it('a host is asked about while the command waits; a denied one is named on the card', async () => {
    const fetch = `curl -sS --noproxy '' http://127.0.0.1:${server.port}/`;
    await runs(fetch);
    assert.match(
      await editor.dialog.text(),
      /^Allow network access to 127\.0\.0\.1:\d+\?[\s\S]*The command is waiting\./,
    );
    await editor.screenshot('sandbox-host');
    await editor.dialog.click('Allow');
    await done();
    assert.match(JSON.stringify(provider.requests.at(-1)!.body), /hello/);
    await runs(fetch);
    await editor.dialog.click('Cancel');
    await done();
    await card()
      .getByText(/Blocked by the sandbox: network access to 127\.0\.0\.1/)
      .waitFor();
    await editor.screenshot('sandbox-blocked');
    await card().getByTestId('allow-blocked').click();
    await isListed(`127.0.0.1:${server.port}, in this workspace`);
    await isListed('All package registries, in this workspace');
    await editor.screenshot('sandbox-blocked-list');
    await quickPickOf(editor.page).pick(`127.0.0.1:${server.port}, in this workspace`);
    await card().getByText('Rule added: network access to 127.0.0.1').waitFor();
    await runs(fetch);
    await done();
    assert.match(JSON.stringify(provider.requests.at(-1)!.body), /hello/);
    await editor.command('Towpath: Approvals…');
    await isListed('Allow network access to 127.0.0.1');
    await editor.page.keyboard.press('Escape');
    await editor.panel.cards('shell.run').nth(-2).getByTestId('remove-rule').click();
    await editor.panel.cards('shell.run').nth(-2).getByTestId('allow-blocked').waitFor();
  });

  it('a command that asks for a host runs outside, once, by the last row of the list', async () => {
    const file = path.join(cacheFolder(), `towpath-e2e-${process.pid}`);
    try {
      await runs(`echo once | tee -a ${file} >> a.txt; curl -sS --noproxy '' http://127.0.0.1:${server.port}/`);
      await editor.dialog.click('Always Allow…');
      const row = 'Run this command outside the sandbox, once';
      await isListed(row);
      assert.match(await quickPickOf(editor.page).rows.last().innerText(), new RegExp(row));
      await editor.screenshot('sandbox-outside-once');
      await quickPickOf(editor.page).pick(row);
      await done();
      assert.match(JSON.stringify(provider.requests.at(-1)!.body), /hello/);
      assert.deepEqual([readFileSync(file, 'utf8'), editor.read('a.txt')], ['once\n', 'one\nonce\n']);
      const says = async () => {
        await card().getByText('Ran outside the sandbox').waitFor();
        assert.equal(await card().getByText('Blocked by the sandbox').count(), 0);
      };
      await says();
      await editor.screenshot('sandbox-outside-once-card');
      await editor.reload();
      await says();
      await editor.command('Towpath: Undo Turn');
      await eventually('the change is undone', () => editor.read('a.txt') === 'one\n');
    } finally {
      rmSync(file, { force: true });
    }
  });

  it('one answer covers all package registries: a row of the list, and of the rules', async () => {
    const fetch = `curl -sS --noproxy '' http://127.0.0.1:${server.port}/npm/package`;
    await runs(fetch);
    await editor.dialog.click('Always Allow…');
    await isListed(`127.0.0.1:${server.port}, in this workspace`);
    await isListed('All package registries, in this workspace');
    await editor.screenshot('sandbox-registries');
    await quickPickOf(editor.page).pick('All package registries, in this workspace');
    await done();
    await runs(fetch);
    await done();
    assert.match(JSON.stringify(provider.requests.at(-1)!.body), /hello/);
    await rule('Allow network access to package registries', 'sandbox-registries-rule');
  });

  it('one answer covers a program outside the sandbox', async () => {
    await runs('docker ps');
    assert.match(await editor.dialog.text(), /^Run this command outside the sandbox\?/);
    await editor.dialog.click('Always Allow…');
    await isListed('docker outside the sandbox, in this workspace');
    await editor.screenshot('sandbox-program');
    await quickPickOf(editor.page).pick('docker outside the sandbox, in this workspace');
    await done();
    await runs('docker compose ps | head -5');
    await done();
    await card().getByText('Ran outside the sandbox').waitFor();
    await rule('Allow docker outside the sandbox', 'sandbox-program-rule');
  });

  it('changes of protected files are asked about at the end', async () => {
    await runs('mkdir -p .vscode && echo {} > .vscode/settings.json && echo kept > b.txt');
    assert.match(await editor.dialog.text(), /^Keep the changes of protected files\?/);
    await editor.screenshot('sandbox-protected');
    await editor.dialog.click('Cancel');
    await done();
    assert.deepEqual([editor.read('.vscode/settings.json'), editor.read('b.txt')], [undefined, 'kept\n']);
  });

  it('a server runs unasked; its port opens in the browser after a dialog, and until it ends', async () => {
    await runs(`"${process.execPath}" server.cjs`, { background: true });
    await done();
    const port = /Port (\d+)/.exec(JSON.stringify(provider.requests.at(-1)!.body))?.[1];
    const address = `http://localhost:${port}/`;
    await assert.rejects(fetch(address));
    await card().getByTestId('open-port').click();
    assert.match(await editor.dialog.text(), new RegExp(`^Open port ${port} of this command on this machine\\?`));
    await editor.screenshot('sandbox-port');
    const opening = editor.page.context().waitForEvent('page');
    await editor.dialog.click('Open in Browser');
    const page = await opening;
    await page.waitForURL(address);
    assert.equal(await page.innerText('body'), 'served in the sandbox');
    await page.close();
    await card().getByTestId('stop-command').click();
    await eventually('the port is closed', () =>
      fetch(address).then(
        () => false,
        () => true,
      ),
    );
  });

  it('a command that continues in the background changes files at its end', async () => {
    await runs('until grep -q go flag.txt; do sleep 0.1; done; echo four >> a.txt; rm b.txt');
    await card().getByTestId('let-go-on').click();
    await done();
    assert.deepEqual([editor.read('a.txt'), editor.read('b.txt')], ['one\n', 'kept\n']);
    writeFileSync(path.join(editor.folder, 'flag.txt'), 'go\n'); // the same file, whose new content an overlay shows
    await eventually('the changes are kept', () => editor.read('b.txt') === undefined);
    assert.equal(editor.read('a.txt'), 'one\nfour\n');
    await editor.screenshot('sandbox-background-end');
    await card()
      .getByText(/exited with code 0.*1 deleted/)
      .waitFor();
    writeFileSync(path.join(editor.folder, 'a.txt'), 'one\n');
  });

  it('a blocked folder can be allowed: the command then runs inside, and the rule is listed', async () => {
    const cache = mkdtempSync(path.join(cacheFolder(), 'towpath-e2e-'));
    try {
      const command = `echo two > c.txt && echo built > ${cache}/out`;
      await runs(command);
      await done();
      await runs(command, { outside: true });
      assert.match(
        await editor.dialog.text(),
        /^Run this command outside the sandbox\?[\s\S]*The sandbox blocked writing to ~\/\.cache\/towpath-e2e-\w+\/out\. It changed 1 file before/,
      );
      assert.equal(await editor.dialog.focused(), 'Review…');
      await editor.screenshot('sandbox-folder');
      await editor.dialog.click('Allow This Folder');
      await done();
      assert.equal(readFileSync(`${cache}/out`, 'utf8'), 'built\n');
      await card().getByText('Rule added: writing to ~/.cache/towpath-e2e-').waitFor();
      await editor.screenshot('sandbox-folder-card');
      await rule('Allow writing to ~/.cache/towpath-e2e-', 'sandbox-folder-rule');
    } finally {
      rmSync(cache, { recursive: true });
    }
  });

  it('running outside asks, and the card says so', async () => {
    await runs('echo three >> a.txt', { outside: 'The file belongs to the ssh-agent.' });
    assert.match(
      await editor.dialog.text(),
      /^Run this command outside the sandbox\?[\s\S]*“The file belongs to the ssh-agent\.”/,
    );
    await editor.screenshot('sandbox-outside');
    await editor.dialog.click('Run Outside Sandbox');
    await done();
    await card().getByText('Ran outside the sandbox').waitFor();
    await editor.screenshot('sandbox-ran-outside');
  });

  it('Autopilot offers it, and the picker has its row', async () => {
    await choose('Auto-approve reads');
    await presetIs('Auto-approve reads');
    await choose('Autopilot');
    assert.match(await editor.dialog.text(), /^Turn on Autopilot in this workspace\?/);
    await editor.screenshot('sandbox-autopilot');
    await editor.dialog.click('Use Sandbox');
    await presetIs('Auto-approve edits and sandboxed commands');
  });
});

function cacheFolder(): string {
  const folder = path.join(homedir(), '.cache');
  mkdirSync(folder, { recursive: true });
  return folder;
}
