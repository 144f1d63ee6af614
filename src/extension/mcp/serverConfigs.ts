import { join } from 'node:path';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { openFolderRoots, type Workspace } from '../../tools/core/workspace.ts';
import type { McpServerDefinition } from '../../tools/mcp/config/config.ts';
import {
  addServersToConfig,
  type ImportableMcpServer,
  removeServerFromConfig,
} from '../../tools/mcp/config/foreignConfig.ts';
import { changeServerConfig } from '../../tools/mcp/config/writeConfig.ts';
import { isNamedRoot } from '../../tools/sandbox/paths.ts';
import { saveSetting, settings } from '../settings/settings.ts';

/** Configuration of servers in an open folder. `file`: its path for tools, with the folder's name if several are open; `place`: absolute. */
export interface ServerConfigFile {
  file: string;
  place: string;
}

export const serverConfigFiles = ({ roots }: Workspace): ServerConfigFile[] =>
  openFolderRoots(roots).map((root) => ({
    file: `${isNamedRoot(roots, root) ? `${root.name}/` : ''}.vscode/mcp.json`,
    place: join(root.path, '.vscode', 'mcp.json'),
  }));

export const addToConfigFile = (
  workspace: Workspace,
  file: string,
  servers: readonly ImportableMcpServer[],
): Promise<void> => changeServerConfig(workspace, file, (text) => addServersToConfig(text, servers));

export const addToUserSetting = (servers: readonly ImportableMcpServer[]): Promise<void> =>
  changeUserSetting((text) => addServersToConfig(text, servers));

/** Removes a server from the file or the setting that defines it. */
export async function removeServerConfig(
  workspace: Workspace,
  { place, name }: Pick<McpServerDefinition, 'place' | 'name'>,
): Promise<void> {
  if (place === 'settings') return changeUserSetting((text) => removeServerFromConfig(text, name));
  const config = serverConfigFiles(workspace).find((one) => one.place === place);
  if (config) await changeServerConfig(workspace, config.file, (text) => text && removeServerFromConfig(text, name));
}

async function changeUserSetting(change: (text: string) => string | undefined): Promise<void> {
  const after = change(JSON.stringify(settings()['mcp.servers']));
  if (after === undefined) throw new UserFacingError(message('The setting towpath.mcp.servers is damaged.'));
  await saveSetting('mcp.servers', JSON.parse(after));
}
