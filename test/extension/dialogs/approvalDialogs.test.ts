// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are variables of a configuration
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  approvalBatchText,
  approvalButtonLabels,
  approvalButtons,
  approvalText,
} from '../../../src/extension/dialogs/approvalText.ts';
import { serverApprovalText } from '../../../src/extension/mcp/mcpQuestionText.ts';
import { setLanguage, t } from '../../../src/protocol/text/l10n.ts';
import { localize } from '../../../src/protocol/text/localized.ts';
import type { ApprovalRequest, Tool } from '../../../src/tools/core/tool.ts';
import { createEditorProvidedTool } from '../../../src/tools/editorTools/editorTool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import type { McpServerDefinition } from '../../../src/tools/mcp/config/config.ts';
import { loadMcpSdk } from '../../../src/tools/mcp/loadSdk.ts';
import { resourceTool } from '../../../src/tools/mcp/resources.ts';
import type { McpServer } from '../../../src/tools/mcp/server.ts';
import type { ServerApprovalRequest } from '../../../src/tools/mcp/servers.ts';
import { createServerTool } from '../../../src/tools/mcp/serverTool.ts';
import { alwaysAllowRuleChoices } from '../../../src/tools/policy/rules.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data } from '../../tools/conversation.ts';

/** Set, the files are written anew; the difference is what a reviewer reads. */
const writes = process.env.TOWPATH_SNAPSHOTS === 'write';
const german = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../src/l10n/bundle.l10n.de.json'), 'utf8'),
) as Record<string, string>;

type Call = [tool: string, args: object];
/** How a dialog is shown besides: the title of another run or of a task, what the user made of it, or that it was read in a review. */
interface Shown {
  run?: string;
  task?: string;
  edited?: string;
  reviewed?: boolean;
  note?: string;
}
const run = (command: string, more: object = {}): Call => ['shell.run', { command, ...more }];
const kinds: [kind: string, ...calls: Call[]][] = [
  ['command', run('npx tool')],
  ['command that runs the project', run('npm test')],
  ['command that loads code of the project', run('yarn why left-pad')],
  ['command in a folder, with a limit', run('npx tool', { cwd: 'packages/api', timeoutSeconds: 1800 })],
  ['command in the background', run('npx tool', { background: true })],
  ['command that discards changes', run('git checkout -- .', { cwd: 'packages/api' })],
  ['command that deletes', run('rm new.txt')],
  ['command that moves changes', run('git stash')],
  ['command whose loss is unknown', run('git reflog expire --all')],
  ['command that changes a protected file', run('cp a.txt .vscode/tasks.json')],
  ['command whose output may be read', run('npx tool > /tmp/tool.log')],
  ['command of several lines with blanks', run('npx tool  a\n\nnpx tool b')],
  ['command that does not fit', run(Array.from({ length: 40 }, (_, at) => `npx tool ${at}`).join('\n'))],
  ['new file', ['fs.write', { path: 'made.txt', content: 'one\n\ntwo\n' }]],
  ['replaced file', ['fs.write', { path: 'a.txt', content: 'new\n' }]],
  ['edit', ['fs.edit', { path: 'packages/api/b.txt', edits: [{ oldText: 'one', newText: 'two' }] }]],
  ['edit of a protected file', ['fs.write', { path: '.vscode/settings.json', content: '{}\n' }]],
  ['edit of a configuration', ['fs.write', { path: 'jest.config.js', content: 'x\n' }]],
  ['patch', ['fs.apply_patch', { patch: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n' }]],
  ['move', ['fs.move', { from: 'a.txt', to: 'packages/c.txt' }]],
  ['deleted file', ['fs.delete', { path: 'a.txt' }]],
  ['deleted folder', ['fs.delete', { path: 'packages' }]],
  ['deleted link', ['fs.delete', { path: 'link' }]],
  ['secret', ['fs.read', { path: '.env' }]],
  ['page', ['web.fetch', { url: 'https://example.com/?q=1' }]],
  ['tool of an MCP server', ['mcp.odd.work', { n: 1 }]],
  ['tool that reports that it is read-only', ['mcp.odd.look', { n: 1 }]],
  ['tool that says it destroys', ['mcp.odd.drop', { n: 1 }]],
  ['resource of an MCP server', ['mcp.read_resource', { server: 'odd', uri: 'x://y' }]],
  ['tool of the editor', ['vscode.fetch', { n: 1 }]],
  ['several calls', run('npx tool', { cwd: 'packages/api' }), ['fs.edit', { path: 'a.txt', edits: [{ oldText: 'one', newText: '1' }] }], run('npx tool')],
]; // biome-ignore format: a table

/** The same as they are shown in other cases. */
const shownOtherwise: [kind: string, shown: Shown, call: Call][] = [
  ['command of a run that is not shown', { run: 'Fix the “tests”' }, run('npx tool', { cwd: 'packages/api' })],
  ['loss in a run that is not shown', { run: 'Clean up' }, run('git checkout -- .', { cwd: 'packages/api', timeoutSeconds: 60 })],
  ['command of a task', { task: 'Review tests' }, run('npx tool')],
  ['command of a task of a run that is not shown', { run: 'Fix the parser', task: 'Review tests' }, run('npx tool', { cwd: 'packages/api' })],
  ['command that the user changed', { edited: 'npx other' }, run('npx tool')],
  ['file that the user changed', { edited: 'mine\n' }, ['fs.write', { path: 'made.txt', content: 'one\n' }]],
  ['command that was read in a review', { reviewed: true }, run(Array.from({ length: 40 }, (_, at) => `npx tool ${at}`).join('\n'))],
  ['command that is asked about again', { note: 'The content has changed since it was shown.' }, run('rm new.txt', { cwd: 'packages/..' })],
]; // biome-ignore format: a table

const server = (more: object): ServerApprovalRequest =>
  ({ changed: false, ...more, definition: { name: 'odd', source: '.mcp.json', ...(more as { definition: object }).definition } }) as ServerApprovalRequest; // biome-ignore format: a call
const stdio = { type: 'stdio', command: 'node', args: ['server.js', '--all'], cwd: '/w', env: {} };
const servers: [kind: string, question: ServerApprovalRequest][] = [
  ['start of an MCP server', server({ definition: stdio })],
  ['start of an MCP server with variables', server({ definition: { ...stdio, env: { MODE: 'a b', TOKEN: '${env:T}' } } })],
  ['start of an MCP server that changed', server({ changed: true, meanwhile: true, definition: stdio })],
  ['connection to an MCP server', server({ definition: { type: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: '${input:key}' } } })],
]; // biome-ignore format: a table

describe('the dialog of every kind of approval', () => {
  let workspace: TemporaryWorkspace;
  before(async () => {
    workspace = await temporaryWorkspace({
      'a.txt': 'one\ntwo\n',
      'packages/api/b.txt': 'one\n',
      '.env': 'SECRET=1\n',
      'package.json': '{"scripts": {"test": "node --test"}}',
      'yarn.lock': '',
    });
    const { root } = workspace;
    symlinkSync('a.txt', path.join(root, 'link'));
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'ignore' });
    git('init');
    git('add', '-A');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', 'commit', '-m', 'all');
    workspace.write('packages/api/b.txt', 'one\nhours of work\n');
    workspace.write('new.txt', 'one\n');
  });
  after(() => {
    setLanguage('en');
    workspace.cleanup();
  });

  async function tools() {
    const sdk = await loadMcpSdk();
    const definition = {
      type: 'stdio',
      command: 'odd-server',
      args: ['--all'],
      inputs: [],
      hash: 'x',
      place: 'settings',
    } as unknown as McpServerDefinition;
    const server = { name: 'odd', definition, hasResources: true } as unknown as McpServer;
    const origin = { starts: 'odd-server', identity: 'x', definition: 'y', own: true, earlier: [] };
    const free = { sdk, hidden: false, refusal: () => undefined };
    const listed = [
      { name: 'work', annotations: undefined },
      { name: 'look', annotations: { readOnlyHint: true } },
      { name: 'drop', annotations: { destructiveHint: true } },
    ];
    const ofServer = listed.map(({ name, annotations }) =>
      createServerTool({
        server,
        listed: { name, inputSchema: { type: 'object' }, ...(annotations && { annotations }) },
        name: `mcp.odd.${name}`,
        trusted: false,
        origin: () => origin,
        ...free,
      }),
    );
    const ofEditor = createEditorProvidedTool({
      tool: { name: 'fetch', description: '', tags: [] },
      name: 'vscode.fetch',
      origin,
      invoke: async () => [],
      limitMs: 1000,
      ...free,
    });
    const own = builtinTools({ shell: { lossLimit: 60_000 } });
    return [...own, ...ofServer, resourceTool([{ server, as: 'odd' }], () => false), ofEditor];
  }

  async function dialogs(): Promise<string> {
    const given = await tools();
    const shown: string[] = [];
    for (const [kind, ...calls] of kinds) {
      const policy = { readOnlyCommands: true, preset: 'reads-free' as const };
      const { asked, reply } = conversation(workspace, { tools: given, policy, answer: 'deny', tell: localize });
      const outcomes = await reply(...calls);
      assert.equal(asked.length, calls.length, `${kind}: ${JSON.stringify(outcomes)}`);
      shown.push(...single(kind, asked[0]!, calls.length > 1 ? asked : undefined));
    }
    for (const [kind, how, call] of shownOtherwise) {
      const policy = { readOnlyCommands: true, preset: 'reads-free' as const };
      const { asked, reply } = conversation(workspace, { tools: given, policy, answer: 'deny', tell: localize });
      await reply(call);
      shown.push(...single(kind, { ...asked[0]!, ...(how.note && { note: how.note }) }, undefined, how));
    }
    for (const [kind, question] of servers) {
      const { message, detail, whole } = serverApprovalText(question);
      assert.ok(whole, kind);
      checkLines(kind, detail, detail.split('\n\n')[0]!);
      assert.doesNotMatch(detail, /^⏎$/m, `${kind}: a blank line of ours is none of the server`);
      shown.push(`## ${kind}`, message, '', detail, '');
    }
    const { own, stop } = await ownPage(given);
    shown.push(...single('page of a command of the run', own));
    await stop();
    return `${shown.join('\n').replaceAll(workspace.root, '/w')}\n`;
  }

  /** The question about a page that a command of the run serves; the numbers in it are others each time. */
  async function ownPage(given: readonly Tool[]) {
    const served =
      'require("http").createServer((_, answer) => answer.end("hi")).listen(0, "127.0.0.1", function () { console.log("port " + this.address().port) })';
    const talk = conversation(workspace, { tools: given, policy: { preset: 'reads-free' }, tell: localize });
    const started = await data<{ id: string; output: string }>(
      talk.call('shell.run', { command: `node -e '${served}'`, background: true }),
    );
    let said = started.output;
    for (let tries = 0; tries < 200 && !/port \d+/.test(said); tries++)
      said += (await data<{ output: string }>(talk.call('output.read', { id: started.id, waitSeconds: 1 }))).output;
    const port = /port (\d+)/.exec(said)![1]!;
    await talk.call('web.fetch', { url: `http://127.0.0.1:${port}/` });
    const request = talk.asked.at(-1)!;
    const text = JSON.stringify(request.plan, (_, value) => (typeof value === 'function' ? undefined : value));
    const plan = JSON.parse(text.replaceAll(port, '4000').replace(/\(\d{3,7}\)/g, '(1234)'));
    return { own: { ...request, plan } as ApprovalRequest, stop: () => talk.call('shell.stop', { id: started.id }) };
  }

  function single(
    kind: string,
    request: ApprovalRequest,
    all?: readonly ApprovalRequest[],
    { edited, reviewed = false, ...origin }: Shown = {},
  ): string[] {
    const { message, detail } = all
      ? approvalBatchText(all, all.length, new Set(), undefined)
      : approvalText(request, edited, reviewed, origin);
    const always = alwaysAllowRuleChoices(request).length > 0;
    const buttons = all
      ? [t(approvalButtonLabels.review), t('Allow All ({0})', all.length), t(approvalButtonLabels.oneByOne)]
      : approvalButtons(request, { edited, reviewed, always });
    // The editor adds Cancel.
    assert.ok(buttons.length <= 4 && buttons[0] === t(approvalButtonLabels.review), kind);
    const { command, details, change } = request.plan;
    const isText = all !== undefined || (!command && !details && change !== undefined && !/\n\n/.test(detail));
    if (!isText) checkLines(kind, detail, edited ?? command ?? details ?? '');
    return [`## ${kind}`, message, '', detail, '', buttons.map((one) => `[${one}]`).join(' '), ''];
  }

  /** Beside the text that is allowed a dialog has at most four lines with its title. */
  function checkLines(kind: string, detail: string, allowed: string): void {
    const last = detail.split('\n\n').at(-1)!;
    const isAllowed = last === allowed || (allowed === '' && /^[+−…]/m.test(last));
    const lines = last.split('\n');
    assert.ok(isAllowed || lines.length <= 4, `${kind}: ${lines.length} lines`);
    assert.ok(lines.length <= 20, kind);
  }

  for (const [language, words] of [
    ['en', {}],
    ['de', german],
  ] as const)
    it(`is as it was reviewed, in ${language}`, async () => {
      setLanguage(language, words);
      const file = path.join(import.meta.dirname, `approvalDialogs.${language}.txt`);
      const shown = await dialogs();
      if (writes) writeFileSync(file, shown);
      assert.ok(existsSync(file), 'it has been written');
      assert.equal(shown, readFileSync(file, 'utf8'));
    });
});
