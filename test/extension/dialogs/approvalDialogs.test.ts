import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { batchText, buttonsOf, labels, questionText } from '../../../src/extension/dialogs/questionText.ts';
import { speak, t } from '../../../src/protocol/l10n.ts';
import { toPeople } from '../../../src/protocol/sentence.ts';
import { defaultTools } from '../../../src/tools/default.ts';
import { rulesFor } from '../../../src/tools/gate/rules.ts';
import { lentTool } from '../../../src/tools/lent/lentTool.ts';
import type { Definition } from '../../../src/tools/mcp/config.ts';
import { loadSdk } from '../../../src/tools/mcp/load.ts';
import { resourceTool } from '../../../src/tools/mcp/resources.ts';
import type { McpServer } from '../../../src/tools/mcp/server.ts';
import { serverTool } from '../../../src/tools/mcp/serverTool.ts';
import type { ApprovalRequest } from '../../../src/tools/tool.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../../tools/conversation.ts';

/** Set, the files are written anew; the difference is what a reviewer reads. */
const writes = process.env.TOWPATH_SNAPSHOTS === 'write';
const german = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../src/l10n/bundle.l10n.de.json'), 'utf8'),
) as Record<string, string>;

type Call = [tool: string, args: object];
const run = (command: string, more: object = {}): Call => ['shell.run', { command, ...more }];
const kinds: [kind: string, ...calls: Call[]][] = [
  ['command', run('npx tool')],
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
  ['move', ['fs.move', { from: 'a.txt', to: 'packages/c.txt' }]],
  ['deleted file', ['fs.delete', { path: 'a.txt' }]],
  ['deleted folder', ['fs.delete', { path: 'packages' }]],
  ['deleted link', ['fs.delete', { path: 'link' }]],
  ['secret', ['fs.read', { path: '.env' }]],
  ['page', ['web.fetch', { url: 'https://example.com/?q=1' }]],
  ['tool of an MCP server', ['mcp.odd.work', { n: 1 }]],
  ['tool that says it only reads', ['mcp.odd.look', { n: 1 }]],
  ['tool that says it destroys', ['mcp.odd.drop', { n: 1 }]],
  ['resource of an MCP server', ['mcp.read_resource', { server: 'odd', uri: 'x://y' }]],
  ['tool of the editor', ['vscode.fetch', { n: 1 }]],
  ['several calls', run('npx tool', { cwd: 'packages/api' }), ['fs.edit', { path: 'a.txt', edits: [{ oldText: 'one', newText: '1' }] }], run('npx tool')],
]; // biome-ignore format: a table

describe('the dialog of every kind of approval', () => {
  let workspace: TemporaryWorkspace;
  before(async () => {
    workspace = await temporaryWorkspace({
      'a.txt': 'one\ntwo\n',
      'packages/api/b.txt': 'one\n',
      '.env': 'SECRET=1\n',
      'package.json': '{}',
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
    speak('en');
    workspace.cleanup();
  });

  async function tools() {
    const sdk = await loadSdk();
    const definition = {
      type: 'stdio',
      command: 'odd-server',
      args: ['--all'],
      inputs: [],
      hash: 'x',
      place: 'settings',
    } as unknown as Definition;
    const server = { name: 'odd', definition, hasResources: true } as unknown as McpServer;
    const origin = { starts: 'odd-server', identity: 'x', definition: 'y', own: true, earlier: [] };
    const free = { sdk, hidden: false, refusal: () => undefined };
    const listed = [
      { name: 'work', annotations: undefined },
      { name: 'look', annotations: { readOnlyHint: true } },
      { name: 'drop', annotations: { destructiveHint: true } },
    ];
    const ofServer = listed.map(({ name, annotations }) =>
      serverTool({
        server,
        listed: { name, inputSchema: { type: 'object' }, ...(annotations && { annotations }) },
        name: `mcp.odd.${name}`,
        trusted: false,
        origin: () => origin,
        ...free,
      }),
    );
    const ofEditor = lentTool({
      tool: { name: 'fetch', description: '', tags: [] },
      name: 'vscode.fetch',
      origin,
      invoke: async () => [],
      limitMs: 1000,
      ...free,
    });
    const own = defaultTools({ shell: { lossLimit: 60_000 } });
    return [...own, ...ofServer, resourceTool([{ server, as: 'odd' }], () => false), ofEditor];
  }

  async function dialogs(): Promise<string> {
    const given = await tools();
    const shown: string[] = [];
    for (const [kind, ...calls] of kinds) {
      const policy = { readOnlyCommands: true, preset: 'reads-free' as const };
      const { asked, reply } = conversation(workspace, { tools: given, policy, answer: 'deny', tell: toPeople });
      const outcomes = await reply(...calls);
      assert.equal(asked.length, calls.length, `${kind}: ${JSON.stringify(outcomes)}`);
      shown.push(...single(kind, asked[0]!, calls.length > 1 ? asked : undefined));
    }
    return `${shown.join('\n').replaceAll(workspace.root, '/w')}\n`;
  }

  function single(kind: string, request: ApprovalRequest, all: readonly ApprovalRequest[] | undefined): string[] {
    const { message, detail } = all ? batchText(all, all.length, new Set(), undefined) : questionText(request);
    const always = rulesFor(request).length > 0;
    const buttons = all
      ? [t(labels.review), t('Allow All ({0})', all.length), t(labels.oneByOne)]
      : buttonsOf(request, { reviewed: false, always });
    const [first] = buttons;
    assert.ok(buttons.length <= 4 && first === t(labels.review), kind);
    const lines = detail.split('\n\n').at(-1)!.split('\n');
    assert.ok(all || lines.length <= 20, kind);
    return [`## ${kind}`, message, '', detail, '', buttons.map((one) => `[${one}]`).join(' '), ''];
  }

  for (const [language, words] of [
    ['en', {}],
    ['de', german],
  ] as const)
    it(`is as it was reviewed, in ${language}`, async () => {
      speak(language, words);
      const file = path.join(import.meta.dirname, `approvalDialogs.${language}.txt`);
      const shown = await dialogs();
      if (writes) writeFileSync(file, shown);
      assert.ok(existsSync(file), 'it has been written');
      assert.equal(shown, readFileSync(file, 'utf8'));
    });
});
