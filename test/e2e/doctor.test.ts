import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { oneWindow } from '../support/editor/oneWindow.ts';
import { writeFiles } from '../support/editor/sample.ts';
import type { Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { createIdentity } from '../support/identity.ts';
import { faultyServer } from '../support/mcp/servers.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';
import { startReadingProxy } from '../support/readingProxy.ts';

const key = 'sk-CANARYKEY1234567890';

describe('Doctor', () => {
  const start = oneWindow();
  let provider: Provider;
  let editor: Towpath;
  /** It can what an agent needs: a tool that is offered is called, and what it gives back is used. */
  beforeEach(async () => {
    provider = await startProvider(({ messages, tools = [] }) => {
      const result = messages.find(({ role }) => role === 'tool')?.content;
      if (result) return reply.text(`It said ${/"(?:word|text)":"(\w+)"/.exec(result)?.[1]}.`);
      const names = tools.map((tool) => tool.function.name);
      if (names.includes('towpath_echo')) return reply.call('towpath_echo', { word: 'rope' });
      if (names.includes('mcp_odd_work')) return reply.call('mcp_odd_work', { text: 'roses' });
      return reply.text('rea').text('dy');
    });
    editor = await start({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    });
  });
  afterEach(() => provider?.close());

  const reportText = () =>
    editor.host.evaluate(
      (vscode) => vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'towpath-doctor')?.getText() ?? '',
    );
  const isPreview = () =>
    editor.host.evaluate((vscode) => {
      const { activeTab } = vscode.window.tabGroups.activeTabGroup;
      return activeTab?.label.startsWith('Preview') === true && activeTab.input instanceof vscode.TabInputWebview;
    });
  /** What is open already is the page of before: it says so and so once it is the one of now. */
  const examine = async (says: RegExp) => {
    await editor.host.evaluate((vscode) => {
      void vscode.commands.executeCommand('towpath.doctor');
    });
    await eventually(`the report says ${says}`, async () => says.test(await reportText()));
    await eventually('it is shown as a preview', isPreview);
    return reportText();
  };
  /** `null`: as nobody has set it. */
  const set = (values: Record<string, unknown>) =>
    editor.host.evaluate(async (vscode, wanted) => {
      for (const [name, value] of Object.entries(wanted))
        await vscode.workspace.getConfiguration().update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
    }, values);

  it('tries a model behind an endpoint: streaming, a tool, the context window; a key in an error is not told', async () => {
    const well = await examine(/✅ It streams: the answer arrived in 2 parts/);
    for (const line of [/✅ It called the tool/, /✅ It used the result/, /32,768 tokens/]) assert.match(well, line);
    provider.listing = () => reply.status(404, { detail: 'Not Found' });
    provider.script = () => reply.status(401, { error: { message: `Wrong key ${key}` } });
    const badly = await examine(/❌ .*OpenAI-compatible/);
    assert.match(badly, /did not list its models: .* answered 404: Not Found/);
    assert.match(
      badly,
      /^2 problems, .*\n\n- ❌ The model, Tool calls\n/m,
      'a list is nothing that an endpoint must have',
    );
    assert.ok(!badly.includes(key), badly);
  });

  it('examines and writes a report without keys and without the home folder', async () => {
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.useDemo'));
    await eventually('the demo model is picked', () =>
      editor.host.evaluate((vscode) => vscode.workspace.getConfiguration('towpath').get('model') === 'local/demo'),
    );
    const report = await examine(/local\/demo answers/);
    const titles = report.match(/^## .+$/gm);
    assert.deepEqual(titles, [
      '## This machine',
      '## The model',
      '## Providers',
      '## Network',
      '## Tool calls',
      '## Context window',
      '## The local engine',
      '## MCP servers',
      '## Rules',
      '## Runs',
      '## Search',
    ]);
    assert.match(report, /^0 problems, /m);
    assert.match(report, /✅ local\/demo answers: first token after/);
    assert.match(report, /✅ The demo model was loaded in its own process on the CPU and answered/);
    assert.match(report, /Local models run on the CPU \(/);
    assert.match(report, /✅ ripgrep /);
    assert.match(report, /- ✅ OpenAI-compatible endpoint at http:\/\/127\.0\.0\.1:\d+$/m);
    assert.match(report, /- None is configured, or the workspace is not trusted$/m);
    assert.match(report, /- The editor names no proxy \(http\.proxy\)$/m);
    assert.match(report, /- Approvals: “Auto-approve reads”; 0 rules hold in this workspace$/m);
    assert.match(report, /- \d+ runs? (is|are) stored, /);
    assert.ok(!report.includes(homedir()), 'the home folder is not named');
    await editor.page.keyboard.press('x');
    assert.equal(await reportText(), report, 'it is only read');
    assert.ok(!report.includes('CANARY'));
  });

  it('finds a rule that cannot be used, MCP servers as they are, how much is kept, and the company that reads along', async () => {
    const { panel, dialog, folder } = editor;
    const odd = { command: process.execPath, args: [faultyServer] };
    const wrong = { command: 1 };
    writeFiles(folder, { '.vscode/mcp.json': JSON.stringify({ servers: { odd, wrong } }) });
    const company = await startReadingProxy(
      createIdentity('far.invalid', { issuer: createIdentity('Acme Inspection') }),
      provider.port,
    );
    try {
      await panel.send('Work.');
      assert.match(await dialog.text(), /^Start MCP server “odd”\?\n/);
      await dialog.click('Start');
      assert.match(await dialog.text(), /^Use work of the MCP server odd\n/);
      await dialog.click('Allow');
      await panel.waitForPhase('WaitingUser');

      await set({
        'http.proxy': `http://ada:${key}@127.0.0.1:${company.port}`,
        'towpath.providers': { 'openai-compatible': { baseUrl: 'https://far.invalid/v1' } },
        'towpath.approvals.rules': [{ effect: 'allow', tool: 'fs.write' }, { effect: 'permit' }],
      });
      const badly = await examine(/Acme Inspection/);
      assert.match(badly, /^4 problems, 0 warnings\..*\n\n- ❌ The model, Tool calls, MCP servers, Rules\n\n## /m);
      const refused = 'The certificate of OpenAI-compatible endpoint (far.invalid) was not accepted';
      const lines = [
        `- ❌ ${refused}`,
        `- The editor’s proxy is http://127.0.0.1:${company.port} (http.proxy)\n`,
        '- The certificate of far.invalid was issued by “Acme Inspection” until 2',
        '- ✅ odd (.vscode/mcp.json) runs, with 2 tools\n',
        '- ❌ .vscode/mcp.json: servers.wrong.command: expected string',
        '- Approvals: “Auto-approve reads”; 2 rules hold in this workspace\n',
        '- ❌ The rule {"effect":"permit"} is invalid (effect: ',
      ];
      for (const line of lines) assert.ok(badly.includes(line), `${line} in\n${badly}`);
      assert.match(badly, /^- \d+ runs? (is|are) stored, [\d.]+ kB$/m);
      assert.ok(!badly.includes('CANARY') && !badly.includes('ada'), badly);
      await editor.screenshot('doctor-finds');
      await set({ 'http.proxyStrictSSL': false });
      const open = await examine(/⚠️ The editor’s own requests accept every certificate/);
      assert.ok(open.includes(refused), open);
      assert.deepEqual([...new Set(company.asked.map(({ target }) => target))], ['far.invalid:443']);
    } finally {
      await set({ 'http.proxy': null, 'http.proxyStrictSSL': null });
      company.close();
    }
  });
});
