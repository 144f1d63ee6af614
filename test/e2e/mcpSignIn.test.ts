import assert from 'node:assert/strict';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { AuthorizationServer } from '../support/mcp/authorizationServer.ts';
import { ProtectedServer } from '../support/mcp/protectedServer.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('with an MCP server that requires a sign-in', () => {
  let issuer: AuthorizationServer;
  let server: ProtectedServer;
  let provider: Provider;
  let editor: Towpath;

  before(async () => {
    issuer = await AuthorizationServer.start();
    server = await ProtectedServer.start(issuer);
    server.behavior.scope = 'issues:read issues:write';
    server.says = (authorization) => `It was sent ${authorization}.`;
    provider = await startProvider(({ messages, tools = [] }) => {
      const newest = messages.at(-1);
      if (newest?.role === 'tool') return reply.text(`The tool said: ${newest.content}`);
      const offered = tools.some((tool) => tool.function.name === 'mcp_tracker_echo');
      return offered ? reply.call('mcp_tracker_echo', { text: 'roses' }) : reply.text('There is no such tool.');
    });
    const configuration = JSON.stringify({ servers: { tracker: { url: server.url } } });
    editor = await openTowpath({
      folder: writeWorkspace(temporaryFolder(), { 'a.txt': 'one\n', '.vscode/mcp.json': configuration }),
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

  const transcript = async () => (await editor.panel.transcript()).map((entry) => entry.text).join('\n');
  const hears = (text: string) =>
    eventually(`the panel says "${text}"`, async () => (await transcript()).includes(text));
  const row = (text: string) => editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const clipboard = () => editor.host.evaluate(async (vscode) => vscode.env.clipboard.readText());

  /** Takes the link of the dialog, and opens it in the browser. Returns what the last page says. */
  async function followLink(): Promise<string> {
    await editor.host.evaluate(async (vscode) => vscode.env.clipboard.writeText(''));
    await editor.dialog.click('Copy Link');
    await eventually('the link is copied', async () => (await clipboard()).startsWith(issuer.url));
    await editor.told('Waiting for sign-in to “tracker”…');
    await editor.screenshot('mcp-sign-in-waiting');
    const page = await editor.page.context().newPage();
    await page.goto(await clipboard());
    const text = await page.locator('body').innerText();
    await page.close();
    return text;
  }

  it('the run goes on without it, and a notification offers the sign-in', async () => {
    await editor.panel.send('Work.');
    assert.match(await editor.dialog.text(), /tracker/);
    await editor.dialog.click('Connect');
    await hears('There is no such tool.');
    await editor.panel.waitForPhase('WaitingUser');
    await editor.told('“tracker” requires a sign-in.');
    await editor.screenshot('mcp-sign-in-required');
  });

  it('the dialog names server, page and permissions; the browser comes back to a port of this machine', async () => {
    issuer.behavior.acceptsRedirect = (uri) => !uri.includes('vscode-');
    await (await editor.told('“tracker” requires a sign-in.')).getByRole('button', { name: 'Sign In…' }).click();
    const [serverHost, signInHost] = [server.url, issuer.url].map((url) => new URL(url).host);
    assert.equal(
      await editor.dialog.text(),
      `Sign in to “tracker”?\nServer: ${serverHost}. Sign-in page: ${signInHost} (a different site).\n\nIt requests: issues:read, issues:write.`,
    );
    await editor.screenshot('mcp-sign-in-dialog');
    assert.equal(await followLink(), 'You can close this page and return to the editor.');
    await editor.told('Signed in to “tracker”.');
  });

  it('its tool works, and the model sees no token', async () => {
    await editor.panel.send('Work.');
    assert.match(await editor.dialog.text(), /^Use echo of the MCP server tracker\n/);
    await editor.dialog.click('Allow');
    await hears('It was sent Bearer •••.');
    await editor.panel.waitForPhase('WaitingUser');
    assert.doesNotMatch(JSON.stringify(provider.requests.map(({ body }) => body)), /access-|refresh-/);
  });

  it('Sign Out ends it at the server', async () => {
    await editor.command('Towpath: MCP Servers…');
    await row('tracker').click();
    await row('Sign Out').click();
    await editor.told('Signed out of “tracker”.');
    assert.equal(issuer.requests('/revoke').length, 1);
    assert.equal(await (await fetch(server.url, { headers: { authorization: server.sent.at(-1)! } })).status, 401);
  });

  it('the browser comes back to the editor itself', async () => {
    issuer.behavior.acceptsRedirect = () => true;
    await editor.command('Towpath: MCP Servers…');
    await row('tracker').click();
    await row('Start').click();
    await (await editor.told('“tracker” requires a sign-in.')).getByRole('button', { name: 'Sign In…' }).click();
    await editor.dialog.text();
    const opened = editor.page.context().waitForEvent('page');
    await editor.dialog.click('Open Browser');
    await editor.told('Signed in to “tracker”.');
    await (await opened).close();
    const back = issuer.requests('/authorize').at(-1)!.parameters.get('redirect_uri')!;
    assert.match(back, /vscode-path=%2Fmcp-sign-in/);
    await editor.command('Towpath: MCP Servers…');
    await row('1 tool').waitFor();
    await editor.screenshot('mcp-signed-in');
    await editor.page.keyboard.press('Escape');
  });

  it('Cancel ends it, and the link leads nowhere any more', async () => {
    await editor.command('Towpath: MCP Servers…');
    await row('tracker').click();
    await row('Sign Out').click();
    await editor.told('Signed out of “tracker”.');
    await editor.command('Towpath: MCP Servers…');
    await row('tracker').click();
    await row('Start').click();
    await (await editor.told('“tracker” requires a sign-in.')).getByRole('button', { name: 'Sign In…' }).click();
    await editor.dialog.text();
    await editor.dialog.click('Copy Link');
    await (await editor.told('Waiting for sign-in')).getByRole('button', { name: 'Cancel' }).click();
    await eventually('it no longer waits', async () => {
      return (await editor.panel.frame.getByTestId('notice').filter({ hasText: 'Waiting for' }).count()) === 0;
    });
    await editor.command('Towpath: MCP Servers…');
    await row('Sign-in required').waitFor();
    await editor.screenshot('mcp-sign-in-row');
    await editor.page.keyboard.press('Escape');
  });

  it('a notification of the editor has the link and Cancel, too', async () => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('workbench.view.explorer');
      await vscode.env.clipboard.writeText('');
    });
    await editor.command('Towpath: MCP Servers…');
    await row('tracker').click();
    await row('Sign In…').click();
    await editor.dialog.text();
    await editor.dialog.click('Copy Link');
    const told = await editor.told('Waiting for sign-in to “tracker”: Copy Link');
    await eventually('the link is copied', async () => (await clipboard()) !== '');
    await editor.host.evaluate(async (vscode) => vscode.env.clipboard.writeText(''));
    await editor.screenshot('mcp-sign-in-notification');
    await told.getByText('Copy Link', { exact: true }).click();
    await eventually('the link is copied again', async () => (await clipboard()).startsWith(issuer.url));
    await told.getByRole('button', { name: 'Cancel' }).click();
    await told.waitFor({ state: 'hidden' });
  });
});
