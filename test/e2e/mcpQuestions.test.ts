import assert from 'node:assert/strict';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { statelessServer } from '../support/mcp/servers.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('with an MCP server that asks during its calls', () => {
  let provider: Provider;
  let editor: Towpath;

  before(async () => {
    // The message names the tool to call.
    provider = await startProvider(({ messages }) => {
      const newest = messages.at(-1);
      if (newest?.role === 'tool') return reply.text(`The tool said: ${newest.content}`);
      return reply.call(`mcp_tickets_${String(newest?.content).trim()}`, {});
    });
    const configuration = { servers: { tickets: { command: process.execPath, args: [statelessServer] } } };
    editor = await openTowpath({
      folder: writeWorkspace(temporaryFolder(), { '.vscode/mcp.json': JSON.stringify(configuration) }),
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

  beforeEach(() =>
    editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.newRun');
    }),
  );

  const hears = (text: string) =>
    eventually(`the panel says "${text}"`, async () =>
      (await editor.panel.transcript()).some((entry) => entry.text.includes(text)),
    );
  const calls = async (tool: string) => {
    await editor.panel.send(tool);
    const question = await editor.dialog.text();
    if (question.startsWith('Start MCP server')) {
      await editor.dialog.click('Start');
      await editor.dialog.text();
    }
    await editor.dialog.click('Allow');
  };

  it('a form is answered by keys, and its answer reaches the server', async () => {
    await calls('ask');
    const card = editor.panel.frame.locator('.card.ask');
    await card.getByText('The MCP server "tickets" asks: Which?').waitFor();
    await editor.screenshot('mcp-form');
    await card.locator('.ask-answer').first().focus();
    for (const key of ['2', '1', '1']) await editor.page.keyboard.press(key);
    await card.getByTestId('answer').press('Enter');
    await hears('blue');
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(await card.count(), 0);
  });

  it('a page is named with its site before it opens; Cancel opens none', async () => {
    await calls('open');
    await eventually('the dialog about the page', async () => (await editor.dialog.text()).startsWith('Open a page'));
    const text = await editor.dialog.text();
    await editor.screenshot('mcp-page');
    assert.match(text, /^Open a page on pay\.example for “tickets”\?\nThe server says: Pay\n/);
    assert.equal(await editor.dialog.focused(), 'Copy Link', 'Enter opens nothing');
    await editor.dialog.click('Cancel');
    await hears('cancel');
    await editor.panel.waitForPhase('WaitingUser');
  });

  it('a form that asks for a secret is not shown', async () => {
    await calls('secret');
    await hears('decline');
    await editor.panel.waitForPhase('WaitingUser');
  });
});
