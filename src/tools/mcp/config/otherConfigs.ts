import path from 'node:path';
import { readPlainConfigFile } from './config.ts';
import { type EnteredServer, parseServerInput } from './serverInput.ts';

/** File in which another program of the user has MCP servers. `program` is its product name. */
interface OtherMcpConfig {
  program: string;
  file: string;
}

/** `editorFolder`: the editor's `User` folder, absolute; `openUri`: the address of the open workspace file or folder. */
interface OtherConfigSystem {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  home: string;
  editorName: string;
  editorFolder?: string | undefined;
  openUri?: string | undefined;
}

/** Server of another program, not yet added. */
export interface ServerElsewhere extends EnteredServer {
  program: string;
}

/** Returns the servers that the user has in other programs. Unreadable files are left out. */
export async function findServersElsewhere(system: OtherConfigSystem): Promise<ServerElsewhere[]> {
  const files = await otherMcpConfigs(system);
  const found = files.map(async ({ program, file }) => {
    const text = await readPlainConfigFile(file).catch(() => '');
    const servers = text.trimStart().startsWith('{') ? parseServerInput(text) : [];
    return servers.filter(({ entry }) => entry.disabled !== true).map((server) => ({ ...server, program }));
  });
  return (await Promise.all(found)).flat();
}

async function otherMcpConfigs(system: OtherConfigSystem): Promise<OtherMcpConfig[]> {
  const { platform, env, home, editorName, editorFolder } = system;
  const join = platform === 'win32' ? path.win32.join : path.posix.join;
  const applications =
    platform === 'win32'
      ? (env.APPDATA ?? join(home, 'AppData', 'Roaming'))
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : (env.XDG_CONFIG_HOME ?? join(home, '.config'));
  const profile = editorFolder && (await profileFolder(editorFolder, system.openUri, join));
  return [
    ...(profile ? [{ program: editorName, file: join(profile, 'mcp.json') }] : []),
    { program: 'Claude Desktop', file: join(applications, 'Claude', 'claude_desktop_config.json') },
    { program: 'Cursor', file: join(home, '.cursor', 'mcp.json') },
  ];
}

/** Folder of the settings profile that the editor has assigned to the workspace; its default profile is the `User` folder itself. */
async function profileFolder(
  editorFolder: string,
  openUri: string | undefined,
  join: (...parts: string[]) => string,
): Promise<string> {
  try {
    const state = JSON.parse(await readPlainConfigFile(join(editorFolder, 'globalStorage', 'storage.json')));
    const profiles = new Map<string, unknown>(Object.entries(state.profileAssociations?.workspaces ?? {}));
    const id = profiles.get(openUri ?? '');
    return typeof id === 'string' && /^-?\w+$/.test(id) && !id.startsWith('__')
      ? join(editorFolder, 'profiles', id)
      : editorFolder;
  } catch {
    return editorFolder;
  }
}
