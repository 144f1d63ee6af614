import path from 'node:path';
import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import type { McpServer } from '../../tools/mcp/server.ts';
import { serverCommandOrAddress, serverIdentity } from '../../tools/mcp/serverTool.ts';
import { createRequestedFile } from '../../tools/sandbox/writeFile.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import { plainLabel } from '../dialogs/plainLabel.ts';
import { addMcpServer } from './addServer.ts';
import { type McpServices, mcpConfigFile } from './mcp.ts';
import { openMcpConfiguration } from './mcpQuestions.ts';
import { removeServerConfig } from './serverConfigs.ts';
import { serverStateText } from './serverState.ts';
import { selectServerTools, toolSelectionText } from './serverTools.ts';

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
  const rows: Choice[] = [
    ...servers.map((server) => ({
      label: `${icons[server.state.phase]} ${plainLabel(server.name)}`,
      description: plainLabel(serverStateText(mcp, server)),
      detail: plainLabel(serverCommandOrAddress(server.definition)),
      run: () => showServer(mcp, policies, server),
    })),
    ...switchedOff.map(({ name, source, place }) => ({
      label: `$(circle-slash) ${plainLabel(name)}`,
      description: t('switched off in {0}', escapeInvisibleInLine(source)),
      run: () => openMcpConfiguration({ place, name }),
    })),
    ...problems.map((problem) => ({
      label: `$(warning) ${plainLabel(problem)}`,
      run: openFirstConfiguration,
    })),
  ];
  const isEmpty = rows.length === 0;
  const add: Choice = {
    label: `$(add) ${t('Add Server…')}`,
    ...(isEmpty && {
      detail: t('No MCP servers. A server gives models more tools, such as a browser or an issue tracker.'),
    }),
    run: () => addMcpServer(mcp),
  };
  const separator: Choice = { label: '', kind: vscode.QuickPickItemKind.Separator };
  const open: Choice = { label: configurationLabel(), description: mcpConfigFile, run: openFirstConfiguration };
  await pick(t('MCP Servers'), isEmpty ? [add] : [add, separator, ...rows, separator, open]);
}

const configurationLabel = () => `$(go-to-file) ${t('Edit Configuration')}`;

const icons = { running: '$(pass)', starting: '$(sync~spin)', failed: '$(error)', stopped: '$(circle-outline)' };

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
    server.tools.length > 0 && {
      label: `$(tools) ${t('Tools…')}`,
      description: toolSelectionText(mcp, server),
      run: () => selectServerTools(mcp, server),
    },
    { label: `$(output) ${t('Show Output')}`, run: () => mcp.log(server.name).show() },
    {
      label: configurationLabel(),
      description: escapeInvisibleInLine(server.definition.source),
      run: () => openMcpConfiguration(server.definition),
    },
    servers.isAllowed(server) && {
      label: isTrusted ? `$(lock) ${t('Ask Before Every Tool Again')}` : `$(unlock) ${t('Trust Read-Only Tools')}`,
      description: isTrusted ? '' : t('read-only tools run without approval'),
      run: () => servers.trust(server, !isTrusted),
    },
    ...(await sandboxChoice(mcp, server)),
    {
      label: `$(trash) ${t('Remove')}`,
      description: t('from {0}, with your permissions and the values you entered', server.definition.source),
      run: () => removeServer(mcp, policies, server),
    },
  ];
  await pick(
    plainLabel(`${server.name}: ${serverStateText(mcp, server)}`),
    choices.filter((choice) => choice !== false),
  );
}

/** Choice between the sandbox and the user's permissions for a local server, unless its configuration decides. */
async function sandboxChoice({ servers, sandbox }: McpServices, server: McpServer): Promise<Choice[]> {
  const { definition } = server;
  if (definition.type !== 'stdio' || definition.sandboxEnabled || !servers.isAllowed(server)) return [];
  if (servers.isSandboxed(server))
    return [
      {
        label: `$(shield) ${t('Run with Your Permissions')}`,
        description: t('It runs in the sandbox.'),
        run: () => servers.setSandboxed(server, false),
      },
    ];
  const availability = await sandbox.availability();
  const reason = availability.isAvailable ? undefined : localize(availability.reason);
  return [
    {
      label: `$(shield) ${t('Run in Sandbox')}`,
      description:
        reason === undefined
          ? t('each host asks, and it can write only ignored folders')
          : t('Not available: {0}', reason),
      ...(reason === undefined && { run: () => servers.setSandboxed(server, true) }),
    },
  ];
}

async function removeServer(mcp: McpServices, policies: ApprovalPolicies, server: McpServer): Promise<void> {
  const { definition } = server;
  const remove = t('Remove');
  const answer = await mcp.modals.ask({
    text: t('Remove MCP server “{0}”?', escapeInvisibleInLine(definition.name)),
    detail: t(
      'Its entry in {0}, your permissions and rules for its tools, and the values that you entered for it are removed.',
      escapeInvisibleInLine(definition.source),
    ),
    buttons: [remove],
  });
  if (answer !== remove) return;
  try {
    await mcp.forget(server);
    await policies.forgetServer(serverIdentity(definition));
    await removeServerConfig(mcp.workspace, definition);
    await mcp.servers.reload();
  } catch (error) {
    notify('error', localize(messageOf(error)));
  }
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
  const options = { title, matchOnDescription: true, matchOnDetail: true };
  const chosen = await vscode.window.showQuickPick(choices, options);
  await chosen?.run?.();
}
