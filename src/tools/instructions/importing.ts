import { join } from 'node:path';
import { localizedCount, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { type Localizer, messageOf } from '../../protocol/text/localized.ts';
import { openFolderRoots, type WorkspaceRoot } from '../core/workspace.ts';
import {
  addServersToConfig,
  type ImportableMcpServer,
  parseImportableServers,
  serverNamesInConfig,
} from '../mcp/config/foreignConfig.ts';
import { changeServerConfig } from '../mcp/config/writeConfig.ts';
import { isNamedRoot, resolvePath } from '../sandbox/paths.ts';
import { type InstructionLookup, readInstructionFile } from './files.ts';
import { findOtherAgentInstructions } from './otherAgentInstructions.ts';

/**
 * Item of another agent that can be imported. `becomes` describes the result for the user; `not` is the reason why an import is impossible
 * or unnecessary. `text` is the content of a new file; `server` is a server for `to`.
 */
export interface ImportableAgentItem {
  from: string;
  to: string;
  becomes: string;
  not?: string;
  text?: string;
  server?: ImportableMcpServer;
}

const settings = [
  '.cursor/mcp.json',
  '.mcp.json',
  '.roo/mcp.json',
  '.gemini/settings.json',
  '.windsurf/mcp_config.json',
];
const ownSettings = '.vscode/mcp.json';

export async function findImportableItems(
  looking: InstructionLookup,
  localizer: Localizer = toEnglishText,
): Promise<ImportableAgentItem[]> {
  if (!looking.workspace.trusted) return [];
  const files = await Promise.all(
    (await findOtherAgentInstructions(looking)).map(async (one): Promise<ImportableAgentItem> => {
      const existing = await resolvePath(looking.workspace.roots, one.to, 'create').then(
        () => false,
        () => true,
      );
      const not = existing && { not: localizer(message('{0} already exists, or cannot be created', one.to)) };
      return { ...one, becomes: localizer(one.becomes), ...not };
    }),
  );
  const servers = await Promise.all(
    openFolderRoots(looking.workspace.roots).map((root) => serversIn(looking, root, localizer)),
  );
  return [...files, ...servers.flat()];
}

async function serversIn(
  looking: InstructionLookup,
  root: WorkspaceRoot,
  localizer: Localizer,
): Promise<ImportableAgentItem[]> {
  const prefix = isNamedRoot(looking.workspace.roots, root) ? `${root.name}/` : '';
  const own = await readInstructionFile(looking, join(root.path, ownSettings));
  const names = serverNamesInConfig(own?.text);
  const to = `${prefix}${ownSettings}`;
  const found: ImportableAgentItem[] = [...(names ?? [])].map((name) => ({
    from: to,
    to,
    becomes: localizer(message('server {0}', name)),
    not: localizer(message('server {0}: Towpath reads it there itself', name)),
  }));
  const known = new Set(names);
  for (const file of settings) {
    const { path: from, text } = (await readInstructionFile(looking, join(root.path, file))) ?? {};
    for (const server of parseImportableServers(text ?? '')) {
      const keys = localizedCount(server.inputs.length, 'key');
      const parts = [
        message('server {0}, which needs approval to start', server.name),
        ...(server.inputs.length > 0 ? [message('you are asked for {0} when it starts', keys)] : []),
        ...(server.left.length > 0 ? [message('not adopted: {0}', server.left.join(', '))] : []),
      ];
      const becomes = parts.map(localizer).join('; ');
      const not = !names
        ? localizer(message('{0} cannot be read. Fix it first', to))
        : known.has(server.name) && localizer(message('{0} already has a server {1}', to, server.name));
      known.add(server.name);
      found.push({ from: from!, to, becomes, ...(not ? { not } : { server }) });
    }
  }
  return found;
}

export async function importAgentItems(
  looking: InstructionLookup,
  chosen: readonly ImportableAgentItem[],
  localizer: Localizer = toEnglishText,
): Promise<{ written: string[]; problems: string[] }> {
  const { workspace } = looking;
  const written: string[] = [];
  const problems: string[] = [];
  const attempt = async (to: string, write: () => Promise<void>) => {
    try {
      await write();
      written.push(to);
    } catch (error) {
      problems.push(`${to}: ${localizer(messageOf(error))}`);
    }
  };
  for (const { to, text } of chosen)
    if (text !== undefined)
      await attempt(to, async () => {
        const file = await resolvePath(workspace.roots, to, 'create');
        await workspace.writeText(file.path, text, null);
      });
  for (const to of new Set(chosen.flatMap((one) => (one.server ? [one.to] : []))))
    await attempt(to, async () => {
      const servers = chosen.flatMap((one) => (one.server && one.to === to ? [one.server] : []));
      await changeServerConfig(workspace, to, (text) => addServersToConfig(text, servers));
    });
  return { written, problems };
}
