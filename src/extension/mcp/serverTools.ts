import * as vscode from 'vscode';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import type { McpServer } from '../../tools/mcp/server.ts';
import { plainLabel } from '../dialogs/plainLabel.ts';
import type { McpServices } from './mcp.ts';

/** Returns how many tools of a server models can use; empty if all. */
export function toolSelectionText({ servers }: McpServices, server: McpServer): string {
  const off = servers.deselectedTools(server).length;
  const all = server.tools.length;
  return off === 0 ? '' : t('{0} of {1}', all - off, localizedCount(all, 'tool'));
}

/** *Tools…*: selects the tools of a server that models can use. */
export async function selectServerTools({ servers }: McpServices, server: McpServer): Promise<void> {
  const waiting = new Set(servers.waitingTools(server).map(({ tool }) => tool));
  const off = new Set(servers.deselectedTools(server));
  const rows = server.tools.map((tool) => ({
    label: plainLabel(tool.name),
    description: waiting.has(tool)
      ? t('disabled until you allow it')
      : tool.annotations?.readOnlyHint
        ? t('reports that it is read-only')
        : '',
    detail: plainLabel((tool.description ?? tool.title ?? '').slice(0, maxDescription)),
    picked: !off.has(tool.name),
    name: tool.name,
  }));
  const selected = await vscode.window.showQuickPick(rows, {
    title: t('Tools of “{0}”', plainLabel(server.name)),
    placeHolder: t('Select the tools that models can use'),
    canPickMany: true,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (!selected) return;
  const names = new Set(selected.map(({ name }) => name));
  await servers.deselectTools(
    server,
    rows.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  );
}

const maxDescription = 300;
