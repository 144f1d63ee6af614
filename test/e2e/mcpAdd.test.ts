import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { faultyServer } from '../support/mcp/servers.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const secret = 'ghp_CANARYcanaryCANARYcanary';
const file = '.vscode/mcp.json';

describe('adding an MCP server', () => {
  let provider: Provider;
  let editor: Towpath;
  const home = temporaryFolder();

  before(async () => {
    provider = await startProvider(({ messages, tools = [] }) => {
      const newest = messages.at(-1);
      if (newest?.role === 'tool') return reply.text(`The tool said: ${newest.content}`);
      const offered = tools.find((tool) => tool.function.name.endsWith('_work'));
      return offered ? reply.call(offered.function.name, { text: 'roses' }) : reply.text('There is no such tool.');
    });
    mkdirSync(path.join(home, '.cursor'));
    writeFileSync(
      path.join(home, '.cursor/mcp.json'),
      JSON.stringify({
        mcpServers: { tickets: { command: process.execPath, args: [faultyServer], env: { API_KEY: secret } } },
      }),
    );
    editor = await openTowpath({
      folder: writeWorkspace(temporaryFolder(), { 'a.txt': 'one\n' }),
      env: { HOME: home, XDG_CONFIG_HOME: path.join(home, '.config') },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const box = () => editor.page.locator('.quick-input-widget');
  const row = (text: string) => box().locator('.monaco-list-row', { hasText: text }).first();
  const title = (text: string) => box().locator('.quick-input-title', { hasText: text }).waitFor();
  const paste = async (text: string) => box().locator('input:visible').first().fill(text);
  const press = (key: string) => editor.page.keyboard.press(key);
  const words = async () => (await editor.panel.transcript()).map((entry) => entry.text).join('\n');

  it('from a command line, by keyboard: it starts after its dialog, and its tool is used', async () => {
    await editor.command('Towpath: MCP Servers…');
    await row('Add Server…').waitFor();
    await editor.screenshot('mcp-list-empty');
    await press('Enter');
    await title('Add MCP Server (1/3)');
    await row('Found in Cursor: tickets').waitFor();
    await editor.screenshot('mcp-add-found');
    await paste('node "unfinished');
    await row('Not a command, URL or server configuration').waitFor();
    await editor.screenshot('mcp-add-problem');
    await paste(`TOKEN=${secret} MODE=ro ${process.execPath} ${faultyServer}`);
    await row(`Runs: ${process.execPath} ${faultyServer}`).waitFor();
    await row('Stored as secrets, not in the file: TOKEN').waitFor();
    await editor.screenshot('mcp-add-command');
    await press('Enter');
    await title('Add MCP Server (2/3)');
    assert.equal(await box().locator('input:visible').first().inputValue(), 'faulty');
    await editor.screenshot('mcp-add-name');
    await press('Enter');
    await title('Add MCP Server (3/3)');
    await row('.vscode/mcp.json, shared with everyone who opens this folder').waitFor();
    await editor.screenshot('mcp-add-target');
    await press('Enter');
    const question = await editor.dialog.text();
    await editor.screenshot('mcp-add-start');
    assert.match(question, /^Start MCP server “faulty”\?\n/);
    assert.ok(question.includes('It runs with your permissions.'), question);
    assert.ok(!question.includes(secret));
    assert.equal(await editor.dialog.focused(), 'Start');
    await press('Enter');
    await editor.told('“faulty” is running with 2 tools.');
    await editor.screenshot('mcp-add-running');
    const text = editor.read(file)!;
    assert.ok(!text.includes(secret), text);
    await editor.panel.send('Work.');
    assert.match(await editor.dialog.text(), /^Use work of the MCP server faulty\n/);
    await editor.dialog.click('Allow');
    await eventually('the tool has answered', async () => (await words()).includes('The tool said: {"ok":true'));
    await editor.panel.waitForPhase('WaitingUser');
  });

  it('a deselected tool is offered to no model', async () => {
    await editor.command('Towpath: MCP Servers…');
    await row('2 tools').waitFor();
    await press('ArrowDown');
    await editor.screenshot('mcp-list');
    await press('Enter');
    await row('Tools…').waitFor();
    await editor.screenshot('mcp-server');
    await paste('Tools');
    await press('Enter');
    await row('work').waitFor();
    await editor.screenshot('mcp-tools');
    await paste('work');
    await press('ArrowDown');
    await press('Space');
    await press('Enter');
    await editor.command('Towpath: New Run');
    await editor.panel.send('Work.');
    await eventually('it is not offered', async () => (await words()).includes('There is no such tool.'));
    await editor.panel.waitForPhase('WaitingUser');
    await editor.command('Towpath: MCP Servers…');
    await row('1 of 2 tools').waitFor();
    await press('Escape');
  });

  it('is undone by Remove: the file, the permission and the entered value go', async () => {
    await editor.command('Towpath: MCP Servers…');
    await row('1 of 2 tools').waitFor();
    await press('ArrowDown');
    await press('Enter');
    await row('Remove').waitFor();
    await paste('Remove');
    await press('Enter');
    assert.match(await editor.dialog.text(), /^Remove MCP server “faulty”\?/);
    await editor.screenshot('mcp-remove');
    await press('Enter');
    await eventually('it is removed', async () => !editor.read(file)!.includes('faulty'));
  });

  it('from another program’s file: its secret goes into no file', async () => {
    await editor.command('Towpath: MCP Servers…');
    await row('Add Server…').waitFor();
    await press('Enter');
    await row('Found in Cursor: tickets').waitFor();
    await press('Enter');
    await title('Add MCP Server (2/3)');
    await press('Enter');
    await title('Add MCP Server (3/3)');
    await press('ArrowDown');
    await press('Enter');
    assert.match(await editor.dialog.text(), /^Start MCP server “tickets”\?\n/);
    await editor.dialog.click('Start');
    await editor.told('“tickets” is running with 2 tools.');
    const servers = await editor.host.evaluate((vscode) =>
      JSON.stringify(vscode.workspace.getConfiguration('towpath').inspect('mcp.servers')?.globalValue),
    );
    assert.ok(servers.includes('tickets') && !servers.includes(secret), servers);
  });

  it('from pasted JSON with comments: several servers at once, and Back keeps what was entered', async () => {
    const text =
      '{\n  // two\n  "mcpServers": {\n    "a": { "command": "a" }, // first\n    "b": { "url": "https://b.example/mcp" }\n  }\n}';
    await editor.host.evaluate(async (vscode, copied) => vscode.env.clipboard.writeText(copied), text);
    await editor.command('Towpath: MCP Servers…');
    await row('Add Server…').waitFor();
    await press('Enter');
    await title('Add MCP Server (1/3)');
    await press('Control+V');
    await row('2 servers found').waitFor();
    await editor.screenshot('mcp-add-several');
    await press('Enter');
    await title('Add MCP Server (3/3)');
    await box().locator('.quick-input-left-action-bar .action-label').click();
    await title('Add MCP Server (1/3)');
    await row('2 servers found').waitFor();
    await press('Escape');
  });

  it('starts in the sandbox if its configuration says so, and its dialog says what that would allow', async () => {
    const script = readFileSync(path.join(import.meta.dirname, '../support/mcp/confined.mjs'), 'utf8');
    writeFileSync(path.join(editor.folder, 'server.mjs'), script);
    const confined = {
      command: process.execPath,
      args: ['server.mjs'],
      sandboxEnabled: true,
      sandbox: { network: { allowedDomains: ['*.example'] }, filesystem: { allowWrite: ['~/data'] } },
    };
    writeFileSync(path.join(editor.folder, file), JSON.stringify({ servers: { confined } }));
    await editor.command('Towpath: MCP Servers…');
    await row('Not started yet').waitFor();
    await paste('confined');
    await press('Enter');
    await row('Start').waitFor();
    await press('Enter');
    const question = await editor.dialog.text();
    await editor.screenshot('mcp-sandbox-start');
    assert.ok(
      question.includes('It runs in the sandbox.\nNot applied from its configuration: network access to *.example.'),
    );
    await editor.dialog.click('Start');
    await eventually('it runs in the sandbox', async () => {
      await editor.command('Towpath: MCP Servers…');
      await row('confined').waitFor();
      const isRunning = (await row('3 tools · in the sandbox').count()) > 0;
      if (isRunning) await editor.screenshot('mcp-sandbox-list');
      await press('Escape');
      return isRunning;
    });
  });
});
