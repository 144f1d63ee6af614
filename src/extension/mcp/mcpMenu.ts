import path from 'node:path';
import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { McpServer } from '../../tools/mcp/server.ts';
import { serverCommandOrAddress, serverIdentity } from '../../tools/mcp/serverTool.ts';
import { createRequestedFile } from '../../tools/sandbox/writeFile.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import { type McpServices, mcpConfigFile } from './mcp.ts';
import { openMcpConfiguration } from './mcpQuestions.ts';
import { omittedMcpItemMessages } from './omittedTools.ts';

interface Choice extends vscode.QuickPickItem {
  run?(): unknown;
}

/** *MCP Servers…*: servers with their state, configuration problems and actions. */
export async function showMcpServers(mcp: McpServices, policies: ApprovalPolicies): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    notify(
      'info',
      t(
        'This workspace is not trusted, so no MCP server is started or reached. Trust it first (Manage Workspace Trust).',
      ),
    );
    return;
  }
  await mcp.servers.reload();
  const { servers, switchedOff, problems } = mcp.servers;
  await pick(t('Towpath: MCP servers'), [
    ...servers.map((server) => ({
      label: `${icons[server.state.phase]} ${escapeInvisibleInLine(server.name)}`,
      description: stateOf(mcp, server),
      detail: escapeInvisibleInLine(
        server.state.phase === 'failed'
          ? localize(server.failure ?? server.state.problem)
          : serverCommandOrAddress(server.definition),
      ),
      run: () => showServer(mcp, policies, server),
    })),
    ...switchedOff.map(({ name, source, place }) => ({
      label: `$(circle-slash) ${escapeInvisibleInLine(name)}`,
      description: t('switched off in {0}', escapeInvisibleInLine(source)),
      run: () => openMcpConfiguration({ place, name }),
    })),
    ...problems.map((problem) => ({
      label: `$(warning) ${escapeInvisibleInLine(problem)}`,
      run: openFirstConfiguration,
    })),
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: openLabel(), description: mcpConfigFile, run: openFirstConfiguration },
  ]);
}

const openLabel = () => `$(go-to-file) ${t('Open Configuration')}`;

const icons = { running: '$(pass)', starting: '$(sync~spin)', failed: '$(error)', stopped: '$(circle-outline)' };

function stateOf(mcp: McpServices, server: McpServer): string {
  const { phase } = server.state;
  if (server.signIn?.required) return t('Sign-in required');
  if (phase !== 'running') return t(phase);
  if (server.isUnresponsive) return t('Not responding; skipped in this run');
  const waiting = mcp.servers.waitingTools(server).length;
  return [
    t('running, {0}', localizedCount(server.tools.length, 'tool')),
    ...(waiting > 0 ? [t('{0} disabled until allowed', waiting)] : []),
    ...omittedMcpItemMessages(server),
    ...(mcp.servers.isTrusted(server) ? [t('read-only tools are trusted')] : []),
  ].join(', ');
}

async function showServer(mcp: McpServices, policies: ApprovalPolicies, server: McpServer): Promise<void> {
  const { servers } = mcp;
  const isRunning = server.state.phase === 'running' || server.state.phase === 'starting';
  const isTrusted = servers.isTrusted(server);
  const isSignedIn = (await mcp.signInOf(server)?.isSignedIn()) ?? false;
  const choices: (Choice | false)[] = [
    servers.waitingTools(server).length > 0 && {
      label: `$(question) ${t('Allow Changed Tools…')}`,
      run: () => servers.reviewTools(server),
    },
    server.signIn?.required !== undefined && {
      label: `$(sign-in) ${t('Sign In…')}`,
      run: () => mcp.signIn(server),
    },
    isSignedIn && { label: `$(sign-out) ${t('Sign Out')}`, run: () => mcp.signOut(server) },
    !isRunning && { label: `$(play) ${t('Start')}`, run: () => servers.start(server) },
    isRunning && { label: `$(debug-restart) ${t('Restart')}`, run: () => servers.restart(server) },
    isRunning && { label: `$(debug-stop) ${t('Stop')}`, run: () => servers.stop(server) },
    server.tools.length > 0 && { label: `$(tools) ${t('Show Tools')}`, run: () => showTools(mcp, server) },
    { label: `$(output) ${t('Show Log')}`, run: () => mcp.log(server.name).show() },
    servers.isAllowed(server) && {
      label: isTrusted ? `$(lock) ${t('Ask Before Every Tool Again')}` : `$(unlock) ${t('Trust Read-Only Tools')}`,
      description: isTrusted ? '' : t('read-only tools run without approval'),
      run: () => servers.trust(server, !isTrusted),
    },
    servers.isAllowed(server) && {
      label: `$(trash) ${t('Remove')}`,
      description: t('stops it and removes your permissions and rules for its tools and the values you entered'),
      run: async () => {
        await mcp.forget(server);
        await policies.forgetServer(serverIdentity(server.definition));
      },
    },
    { label: openLabel(), run: () => openMcpConfiguration(server.definition) },
  ];
  await pick(
    t('MCP server {0}: {1}', server.name, stateOf(mcp, server)),
    choices.filter((choice) => choice !== false),
  );
}

async function showTools(mcp: McpServices, server: McpServer): Promise<void> {
  const waiting = new Set(mcp.servers.waitingTools(server).map(({ tool }) => tool));
  await pick(
    t('Tools of the MCP server {0}', server.name),
    server.tools.map((tool) => ({
      label: escapeInvisibleInLine(tool.name),
      description: waiting.has(tool)
        ? t('disabled until you allow it')
        : tool.annotations?.readOnlyHint
          ? t('reports that it is read-only')
          : '',
      detail: escapeInvisibleInLine(tool.description ?? tool.title ?? '').slice(0, 300),
    })),
  );
}

/** Opens the folder's configuration file; creates a missing file. */
async function openFirstConfiguration(): Promise<void> {
  const [folder] = diskFolders();
  if (!folder) return openMcpConfiguration({ place: 'settings', name: '' });
  const file = vscode.Uri.joinPath(folder.uri, '.vscode', path.basename(mcpConfigFile));
  try {
    await vscode.workspace.fs.stat(file);
  } catch {
    const text =
      '{\n  // "name": { "command": "…", "args": ["…"] } or "name": { "url": "https://…" }\n  "servers": {}\n}\n';
    await createRequestedFile(file.fsPath, Buffer.from(text));
  }
  await openMcpConfiguration({ place: file.fsPath, name: 'servers' });
}

async function pick(title: string, choices: Choice[]): Promise<void> {
  const chosen = await vscode.window.showQuickPick(choices, { title, matchOnDescription: true, matchOnDetail: true });
  await chosen?.run?.();
}
