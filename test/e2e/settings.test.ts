import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isOldest } from '../support/editor/install.ts';
import { temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { manifestSettings } from '../support/manifestSettings.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

/** What a repository's `devcontainer.json` can have written into the machine's settings file. */
const foreign = {
  'towpath.approvals.preset': 'edits-free',
  'towpath.approvals.readOnlyCommands': true,
  'towpath.approvals.rules': [{ effect: 'allow', tool: 'fs.*' }],
  'towpath.packages.autopilot': true,
  'towpath.web.allowPrivate': true,
  'towpath.mcp.servers': { servers: { other: { command: 'touch', args: ['started'] } } },
  'towpath.providers': { 'openai-compatible': { baseUrl: 'http://127.0.0.1:9/v1', headers: { 'x-of': 'others' } } },
  'towpath.local.hub': 'http://127.0.0.1:9',
  'towpath.maxTurns': 500,
  'towpath.limits.run': 1000,
  'towpath.limits.day': 1000,
  'towpath.undo.quota': 0,
};

/** Settings that `towpath.providers` has superseded, which the editor takes for nobody's, and so from everywhere. */
const former = {
  'towpath.endpoint.baseUrl': 'http://127.0.0.1:9/v1',
  'towpath.baseUrls': { openai: 'http://127.0.0.1:9/v1' },
  'towpath.prices': { '*': { input: 0, output: 0 } },
  'towpath.azure.apiVersion': 'other',
};

/** How many settings of a scope the editor shows. */
const shownOf = (scope: string): number =>
  Object.values(manifestSettings).filter((property) => property.scope === scope).length;

describe('settings', () => {
  let provider: Provider;
  let other: Provider;
  let editor: Towpath;
  let userDataDir: string;

  beforeEach(async () => {
    provider = await startProvider([]);
    other = await startProvider([]);
    userDataDir = path.join(temporaryFolder(), 'data');
  });
  afterEach(async () => {
    await editor?.stop();
    await provider.close();
    await other.close();
    rmSync(path.dirname(userDataDir), { recursive: true, force: true });
  });

  const writeMachine = (values: object) => {
    mkdirSync(path.join(userDataDir, 'Machine'), { recursive: true });
    writeFileSync(path.join(userDataDir, 'Machine', 'settings.json'), JSON.stringify(values));
  };
  const own = (): Record<string, unknown> =>
    JSON.parse(readFileSync(path.join(userDataDir, 'User', 'settings.json'), 'utf8'));
  const openWith = async (settings: object = {}, files: Record<string, string> = {}) => {
    editor = await openTowpath({
      userDataDir,
      files: { 'a.txt': 'one\n', ...files },
      settings: {
        ...settings, // by the first of them the window is known to have read its settings
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  };
  const values = (names: string[]) =>
    editor.host.evaluate((vscode, names) => {
      const configuration = vscode.workspace.getConfiguration();
      return Object.fromEntries(names.map((name) => [name, configuration.get<unknown>(name)]));
    }, names);
  const defaults = (names: string[]) =>
    editor.host.evaluate((vscode, names) => {
      const configuration = vscode.workspace.getConfiguration();
      return Object.fromEntries(names.map((name) => [name, configuration.inspect(name)!.defaultValue]));
    }, names);
  /** The model wants to write a file, and is content with whatever comes of it. */
  const asksToWrite = async (file: string) => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return reply.late(0).call('fs_write', { path: file, content: 'text\n' });
    };
    await editor.panel.send('Go.');
  };
  const pick = async (text: string) => {
    await editor.command('Towpath: Approvals…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
  };
  const found = (count: number) =>
    eventually(`${count} settings are found`, async () => {
      const told = await editor.page.locator('.settings-count-widget').allInnerTexts();
      return told.includes(`${count} Settings Found`);
    });

  it("what stands in the machine's settings file has no effect, and what the person chooses has one all the same", async () => {
    writeMachine({
      ...foreign,
      ...former,
      'towpath.model': 'openai-compatible/other',
      'towpath.providers': { 'openai-compatible': { baseUrl: other.url } },
      'towpath.local.threads': 3,
    });
    await openWith();
    const names = Object.keys(foreign).filter((name) => name !== 'towpath.providers'); // of which they have their own
    assert.deepEqual(await values(names), await defaults(names));
    assert.deepEqual(await values(['towpath.local.threads']), { 'towpath.local.threads': 3 });
    assert.equal(await editor.dialog.isOpen(), false, 'nobody is asked about what only others can have written');
    await asksToWrite('asked.txt');
    assert.match(await editor.dialog.text(), /^Create asked\.txt/);
    await editor.dialog.click('Cancel');
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(editor.read('started'), undefined);
    assert.deepEqual(other.requests, []);

    await pick('Ask for everything');
    const preset = 'towpath.approvals.preset';
    const holds = (value: string) =>
      eventually(`${value} holds`, async () => (await values([preset]))[preset] === value);
    await holds('ask-everything');
    await editor.reload();
    await editor.panel.ready();
    await holds('ask-everything');
    assert.equal(own()[preset], 'ask-everything');
    await pick('Auto-approve reads');
    await holds('reads-free');

    await editor.command('Towpath: Open Settings');
    await found(shownOf('application'));
    await editor.screenshot('settings-own');
    const modal = editor.page.locator('.monaco-modal-editor-block');
    while (await modal.isVisible()) await editor.page.keyboard.press('Escape'); // in a newer editor settings lie over all else
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.openMachineSettings'));
    await found(shownOf('machine'));
    await editor.screenshot('settings-machine');
  });

  it('a whole table of settings, which the editor lets through its scopes, has no effect, of the machine or of a folder', async () => {
    const towpath = {
      approvals: { preset: 'edits-free', rules: [{ effect: 'allow', tool: 'fs.*' }] },
      endpoint: { baseUrl: other.url },
      baseUrls: { openai: other.url },
      providers: { 'openai-compatible': { baseUrl: other.url } },
      maxTurns: 1,
      mcp: { servers: { servers: { other: { command: 'touch', args: ['started'] } } } },
    };
    writeMachine({ towpath });
    const inFolder = { ...towpath, local: { folders: ['/'] }, model: 'openai/other' };
    await openWith({ 'towpath.retries': 0 }, { '.vscode/settings.json': JSON.stringify({ towpath: inFolder }) });
    const { 'towpath.maxTurns': seen } = await values(['towpath.maxTurns']);
    assert.equal(seen, isOldest ? 1 : 50, 'the oldest editor itself does take it');
    await asksToWrite('asked.txt');
    assert.match(await editor.dialog.text(), /^Create asked\.txt/);
    await editor.dialog.click('Allow');
    await editor.panel.shows('Done.');
    assert.equal(provider.requests.length, 2);
    assert.deepEqual(other.requests, []);
    assert.equal(editor.read('started'), undefined);
  });
});
