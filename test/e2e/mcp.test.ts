import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { faultyServer } from '../support/mcp/servers.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const canary = 'sk-CANARYKEY1234567890';
const file = '.vscode/mcp.json';
const configuration = (env: object, ...inputs: object[]) =>
  JSON.stringify({ servers: { odd: { command: process.execPath, args: [faultyServer], env } }, inputs });
const faulty = (...args: string[]) =>
  JSON.stringify({ servers: { odd: { command: process.execPath, args: [faultyServer, ...args] } } });

describe('with an MCP server in the folder', () => {
  let provider: Provider;
  let editor: Towpath;
  const calls = [{ name: 'mcp_odd_work', args: { text: 'roses' } }];

  before(async () => {
    // One call of the server's tool where it is offered, then the end.
    provider = await startProvider(({ messages, tools = [] }) => {
      const newest = messages.at(-1);
      if (newest?.role === 'tool') return reply.text(`The tool said: ${newest.content}`);
      const offered = tools.some((tool) => tool.function.name === calls[0]!.name);
      return offered ? reply.call(calls[0]!.name, calls[0]!.args) : reply.text('There is no such tool.');
    });
    editor = await openTowpath({
      folder: writeWorkspace(temporaryFolder(), { 'a.txt': 'one\n', [file]: configuration({ COLOUR: 'green' }) }),
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

  const words = async () => (await editor.panel.transcript()).map((entry) => entry.text).join('\n');
  const hears = (text: string) => eventually(`the panel says "${text}"`, async () => (await words()).includes(text));

  it('a no starts nothing: the run goes on without it', async () => {
    await editor.panel.send('Work.');
    const question = await editor.dialog.text();
    assert.match(question, /^Start MCP server “odd”\?\n/);
    assert.ok(question.includes(`${process.execPath} ${faultyServer}\nwith the variables COLOUR=green\n`), question);
    assert.ok(
      question.includes(`In ${editor.folder} · configured in .vscode/mcp.json\nIt runs with your permissions.`),
      question,
    );
    assert.doesNotMatch(question, /⏎/);
    assert.equal(await editor.dialog.focused(), 'Review…', 'Enter never allows');
    await editor.dialog.click('Cancel');
    await editor.panel.hasTheKeys();
    await hears('There is no such tool.');
    await editor.panel.waitForPhase('WaitingUser');
  });

  it('after a reload it is asked about again; Allow, the question about the call, Allow, the result', async () => {
    await editor.reload();
    await editor.showPanel();
    await editor.panel.send('Work.');
    await editor.dialog.text();
    await editor.dialog.click('Start');
    const question = await editor.dialog.text();
    assert.match(question, /^Use work of the MCP server odd\n(.|\n)*"text": "roses"/);
    await editor.dialog.click('Allow');
    await hears('The tool said: {"ok":true,"data":{"text":"work: ');
    await editor.panel.waitForPhase('WaitingUser');
    const card = editor.panel.cards('mcp.odd.work').last();
    assert.deepEqual([await card.getAttribute('data-status'), await card.getAttribute('data-ok')], ['done', 'true']);
  });

  it('the servers are shown with their state, and what can be done', async () => {
    await editor.command('Towpath: MCP Servers…');
    const row = editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'odd' });
    await row.filter({ hasText: '2 tools' }).click();
    for (const action of [
      'Restart',
      'Stop',
      'Tools…',
      'Show Output',
      'Edit Configuration',
      'Trust Read-Only Tools',
      'Remove',
    ])
      await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: action }).first().waitFor();
    await editor.page.keyboard.press('Escape');
  });

  it('after a reload nothing is asked but the call', async () => {
    await editor.reload();
    await editor.showPanel();
    await editor.panel.send('Work.');
    assert.match(await editor.dialog.text(), /^Use work of the MCP server odd\n/);
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    await hears('TOOL_DENIED');
    await editor.panel.waitForPhase('WaitingUser');
  });

  it('another configuration is asked about again, and says so; a secret is asked for and shown nowhere', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own variable
    const env = { TOKEN: '${input:token}' };
    const token = { type: 'promptString', id: 'token', description: 'Token', password: true };
    writeFileSync(path.join(editor.folder, file), configuration(env, token));
    await editor.panel.send('Work.');
    const question = await editor.dialog.text();
    assert.match(question, /^Start MCP server “odd”\?\n[\s\S]*\nIt was configured differently when you allowed it/);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own variable
    assert.ok(question.includes('with the variables TOKEN (${input:token})'), question);
    await editor.dialog.click('Start');
    const box = editor.page.locator('.quick-input-widget input[type="password"]');
    await box.waitFor();
    await box.fill(canary);
    await editor.page.keyboard.press('Enter');
    assert.match(await editor.dialog.text(), /^Use work of the MCP server odd\n/);
    await editor.dialog.click('Allow');
    await hears('The tool said: {"ok":true');
    await editor.panel.waitForPhase('WaitingUser');
    assert.doesNotMatch(await words(), /CANARYKEY/);
    assert.ok(!JSON.stringify(provider.requests.map((request) => request.body)).includes(canary));
  });

  const row = (text: string) => editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const list = (...tools: object[]) =>
    writeFileSync(
      path.join(editor.folder, 'tools.json'),
      JSON.stringify(tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool }))),
    );
  const restart = async (state: string) => {
    await editor.command('Towpath: MCP Servers…');
    await row(state).click();
    await row('Restart').click();
  };

  it('an always allowed tool is bound to its server and its words, and the list of rules says so', async () => {
    list({ name: 'work', description: 'Does work.' });
    writeFileSync(path.join(editor.folder, file), faulty('changes', path.join(editor.folder, 'tools.json')));
    await editor.panel.send('Work.');
    await editor.dialog.text();
    await editor.dialog.click('Start');
    assert.match(await editor.dialog.text(), /^Use work of the MCP server odd\n/);
    await editor.dialog.click('Always Allow…');
    const starts = `${process.execPath} ${faultyServer} changes ${path.join(editor.folder, 'tools.json')}`;
    const words = `mcp.odd.work of “${starts.slice(0, 16)}…${starts.slice(-16)}”`;
    await row(`${words} as it is now`).filter({ hasText: 'in this workspace' }).first().click();
    await editor.panel.waitForPhase('WaitingUser');
    await editor.command('Towpath: Approvals…');
    await row(`Allow ${words} as it is now`).waitFor();
    await editor.page.keyboard.press('Escape');
  });

  it('tools that changed are asked about in one question, which shows what changed; what was allowed goes on', async () => {
    list({ name: 'work', description: 'Does work.\nGone: \u202enothing [x](command:y)' }, { name: 'extra' });
    await restart('1 tool');
    const question = await editor.dialog.text();
    assert.match(question, /^The MCP server odd has changed its tools\. Use them as they are now\?\nChanged: work\n/);
    assert.ok(question.includes('description was: “Does work.”\n'), question);
    assert.ok(
      question.includes('description is: “Does work. ⏎ Gone: ⟨U+202E⟩nothing [x](command:y)”\nNew: extra\n'),
      question,
    );
    assert.equal(await editor.dialog.focused(), 'Review…', 'Enter never allows');
    const toasts = editor.page.locator('.notification-toast', { hasText: 'has changed its tools' });
    assert.equal(await toasts.count(), 0, 'one question, in one place');
    assert.equal(await editor.panel.frame.getByTestId('notice').count(), 0, 'which is not told of besides');
    await editor.screenshot('mcp-changed-tools');
    await editor.dialog.click('Allow');
    const cards = editor.panel.cards('mcp.odd.work');
    const before = await cards.count();
    await editor.panel.send('Work.');
    await eventually('the model has called it', async () => (await cards.count()) > before);
    await editor.panel.waitForPhase('WaitingUser');
    const card = cards.last();
    assert.match(await card.innerText(), /Allowed by your rule for this workspace “odd: work of /);
  });

  it('what does not fit into the question is allowed only after its review, a diff; the next window asks nothing', async () => {
    list({ name: 'work', description: `Does work. ${'x'.repeat(100_000)}` }, { name: 'extra' });
    await restart('2 tools');
    await editor.dialog.text();
    assert.deepEqual((await editor.dialog.buttons()).sort(), ['Cancel', 'Review…']);
    await editor.dialog.click('Review…');
    await editor.page
      .locator('.monaco-diff-editor .view-line', { hasText: 'nothing [x](command:y)' })
      .first()
      .waitFor();
    await editor.screenshot('mcp-changed-tools-review');
    await (await editor.told('has changed its tools')).getByRole('button', { name: 'Answer…' }).click();
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.command('Towpath: MCP Servers…');
    await row('2 tools').waitFor(); // it is kept
    await editor.page.keyboard.press('Escape');
    await editor.reload();
    await editor.showPanel();
    await editor.panel.send('Work.');
    await editor.panel.waitForPhase('Running');
    await editor.panel.waitForPhase('WaitingUser');
    const card = editor.panel.cards('mcp.odd.work').last();
    assert.match(await card.innerText(), /Allowed by your rule for this workspace “odd: work of /);
  });

  it('after a no the changed tool is disabled, and the rule is listed as one that holds for nothing', async () => {
    list({ name: 'work', description: 'Does something else.' }, { name: 'extra' });
    await restart('2 tools');
    await editor.dialog.text();
    await editor.dialog.click('Cancel');
    await editor.panel.send('Work.');
    await hears('There is no such tool.');
    await editor.panel.waitForPhase('WaitingUser');
    await editor.command('Towpath: Approvals…');
    await row('no tool of its server has this definition').waitFor();
    await editor.screenshot('mcp-idle-rule');
    await editor.page.keyboard.press('Escape');
  });

  it('forgetting a server takes the rules for its tools with it', async () => {
    await editor.command('Towpath: MCP Servers…');
    await row('2 tools').click();
    await row('Remove').click();
    await editor.dialog.click('Remove');
    await eventually('the rule is gone', async () => {
      await editor.command('Towpath: Approvals…');
      await row('Add a Rule…').waitFor();
      const rules = await row('mcp.odd.work').count();
      await editor.page.keyboard.press('Escape');
      return rules === 0;
    });
  });

  it('a server that ends at its start is named, and the run goes on', async () => {
    writeFileSync(path.join(editor.folder, file), faulty('exits-at-once'));
    await editor.panel.send('Work.');
    await editor.dialog.text();
    await editor.dialog.click('Start');
    await hears('There is no such tool.');
    await editor.panel.waitForPhase('WaitingUser');
    const told = await editor.told('The MCP server "odd" ended on its own (code 3).');
    await told.getByRole('button', { name: 'Show Output' }).waitFor();
  });

  it('a wrong file is named with its key, and the run goes on', async () => {
    writeFileSync(path.join(editor.folder, file), '{ "servers": { "odd": { "command": 1 } } }');
    await editor.panel.send('Work.');
    await hears('There is no such tool.');
    await editor.panel.waitForPhase('WaitingUser');
    await editor.told('.vscode/mcp.json: servers.odd.command: expected string');
  });
});
