import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const narrowedRule = { 'towpath.approvals.rules': [{ effect: 'allow', tool: 'shell.run', kind: 'looks' }] };
const model = { 'towpath.model': 'openai-compatible/scripted' };

describe('settings that towpath.providers has superseded', () => {
  let provider: Provider;
  let other: Provider;
  let editor: Towpath;
  let userDataDir: string;

  beforeEach(async () => {
    provider = await startProvider(() => reply.text('Mine answers.'));
    other = await startProvider(() => reply.text('Another answers.'));
    userDataDir = path.join(temporaryFolder(), 'data');
  });
  afterEach(async () => {
    await editor?.stop();
    await provider.close();
    await other.close();
    rmSync(path.dirname(userDataDir), { recursive: true, force: true });
  });

  /** Opens a window where the folder and the machine have an address of their own. */
  const openWith = async (settings: Record<string, unknown>) => {
    const foreign = { 'towpath.endpoint.baseUrl': other.url };
    mkdirSync(path.join(userDataDir, 'Machine'), { recursive: true });
    writeFileSync(path.join(userDataDir, 'Machine', 'settings.json'), JSON.stringify(foreign));
    const files = { 'a.txt': 'one\n', '.vscode/settings.json': JSON.stringify(foreign) };
    editor = await openTowpath({ userDataDir, files, settings: { ...model, ...settings } });
  };
  const own = (): Record<string, unknown> =>
    JSON.parse(readFileSync(path.join(userDataDir, 'User', 'settings.json'), 'utf8'));
  const answers = async (question: string, asked: number) => {
    await editor.panel.send(question);
    await eventually('the address of the person is asked', () => provider.requests.length === asked);
    await editor.panel.waitForPhase('WaitingUser');
    assert.deepEqual(other.requests, []);
  };
  const offers = () => editor.page.locator('.notification-list-item', { hasText: 'part of towpath.providers' });

  it('still work, are offered to be moved, and are offered once', async () => {
    const prices = { 'openai*': { input: 1, output: 1 } };
    await openWith({ 'towpath.endpoint.baseUrl': provider.url, 'towpath.prices': prices, ...narrowedRule });
    await editor.told('cover fewer commands than before');
    await answers('Who answers?', 1);
    assert.equal(await offers().count(), 0, 'one notice about an update is enough for a start');

    await editor.reload();
    const offer = await editor.told('still apply: towpath.endpoint.baseUrl.');
    await editor.screenshot('former-settings');
    await offer.getByRole('button', { name: 'Move Settings' }).click();
    const told = await editor.told('moved to towpath.providers: towpath.endpoint.baseUrl.');
    assert.match(await told.innerText(), /baseUrl\. Unchanged, .* express it: towpath\.prices \(openai\*\)\./);
    assert.deepEqual(own()['towpath.providers'], { 'openai-compatible': { baseUrl: provider.url } });
    assert.deepEqual([own()['towpath.endpoint.baseUrl'], own()['towpath.prices']], [undefined, prices]);
    await told.getByRole('button', { name: 'Show', exact: true }).click();
    await eventually('the settings file is open', () =>
      editor.host.evaluate((vscode) =>
        Boolean(vscode.window.activeTextEditor?.document.fileName.endsWith('settings.json')),
      ),
    );
    await answers('And now?', 2);

    // Another one of them, later, is moved by the person alone.
    const file = path.join(userDataDir, 'User', 'settings.json');
    writeFileSync(file, JSON.stringify({ ...own(), 'towpath.ollama.contextSize': 4096 }));
    await editor.reload();
    await editor.panel.ready();
    await answers('And after another reload?', 3);
    assert.equal(await offers().count(), 0);
    assert.equal(own()['towpath.ollama.contextSize'], 4096);
  });

  it('of others have no effect, and nothing is offered for them', async () => {
    await openWith({});
    await editor.panel.send('Who answers?');
    await editor.panel.shows('No address is set for');
    assert.deepEqual([...provider.requests, ...other.requests, ...other.otherRequests], []);
    assert.equal(await offers().count(), 0);
    assert.equal(own()['towpath.providers'], undefined);
  });
});
