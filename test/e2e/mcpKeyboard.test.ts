import assert from 'node:assert/strict';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { AuthorizationServer } from '../support/mcp/authorizationServer.ts';
import { ProtectedServer } from '../support/mcp/protectedServer.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('an MCP server, by keyboard only', () => {
  let issuer: AuthorizationServer;
  let server: ProtectedServer;
  let provider: Provider;
  let editor: Towpath;

  before(async () => {
    issuer = await AuthorizationServer.start();
    server = await ProtectedServer.start(issuer);
    server.asks = {
      method: 'elicitation/create',
      params: {
        message: 'Which color?',
        requestedSchema: { type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] } } },
      },
    };
    provider = await startProvider(({ messages, tools = [] }) => {
      const newest = messages.at(-1);
      if (newest?.role === 'tool') return reply.text(`The tool said: ${newest.content}`);
      const offered = tools.find((tool) => tool.function.name.endsWith('_echo'));
      return offered ? reply.call(offered.function.name, {}) : reply.text('There is no such tool.');
    });
    editor = await openTowpath({
      folder: writeWorkspace(temporaryFolder(), { 'a.txt': 'one\n' }),
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await Promise.all([provider?.close(), server?.close(), issuer?.close()]);
  });

  const press = (key: string) => editor.page.keyboard.press(key);
  const type = (text: string) => editor.page.keyboard.type(text);
  const box = () => editor.page.locator('.quick-input-widget');
  const title = (text: string) => box().locator('.quick-input-title', { hasText: text }).waitFor();
  const hears = (text: string) =>
    eventually(`the panel says "${text}"`, async () =>
      (await editor.panel.transcript()).some((entry) => entry.text.includes(text)),
    );
  /** Selects a row by its beginning. */
  async function choose(name: string): Promise<void> {
    const row = box().locator('.monaco-list-row', { hasText: name }).first();
    await row.waitFor();
    await type(name);
    await box().locator('.monaco-list-row.focused', { hasText: name }).waitFor();
    await press('Enter');
  }
  /** Moves to a button of the dialog, and presses it. */
  async function answer(button: string): Promise<void> {
    await eventually(`${button} has the focus`, async () => {
      if ((await editor.dialog.focused()) === button) return true;
      await press('Tab');
      return false;
    });
    await press('Enter');
  }

  it('is added, signed in to, used, answered and signed out of', async () => {
    await editor.command('Towpath: MCP Servers…');
    await choose('Add Server…');
    await title('Add MCP Server (1/3)');
    await type(server.url);
    await box().locator('.monaco-list-row', { hasText: 'Connects to' }).waitFor();
    await press('Enter');
    await title('Add MCP Server (2/3)');
    await press('ControlOrMeta+A');
    await type('tracker');
    await press('Enter');
    await title('Add MCP Server (3/3)');
    await press('Enter');
    assert.match(await editor.dialog.text(), /tracker/);
    await answer(await editor.dialog.focused());

    await editor.told('“tracker” requires a sign-in.');
    await editor.command('Towpath: MCP Servers…');
    await choose('tracker');
    await choose('Sign In…');
    assert.match(await editor.dialog.text(), /^Sign in to “tracker”\?/);
    const opened = editor.page.context().waitForEvent('page');
    await answer('Open Browser');
    await editor.told('Signed in to “tracker”.');
    await (await opened).close();

    await editor.panel.send('Work.');
    assert.match(await editor.dialog.text(), /^Use echo of the MCP server tracker\n/);
    await answer('Allow');
    const card = editor.panel.frame.locator('.card.ask');
    await card.getByText('Which color?').waitFor();
    await card.locator('.ask-answer').first().focus();
    for (const key of ['2', '1']) await press(key);
    await card.getByTestId('answer').press('Enter');
    await hears('blue');
    await editor.panel.waitForPhase('WaitingUser');

    await editor.command('Towpath: MCP Servers…');
    await choose('tracker');
    await choose('Sign Out');
    await editor.told('Signed out of “tracker”.');
    assert.equal(issuer.requests('/revoke').length, 1);
  });
});
