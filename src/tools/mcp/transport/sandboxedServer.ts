import { realpath } from 'node:fs/promises';
import { message } from '../../../protocol/text/l10n.ts';
import type { CommandSandbox, SandboxedCommand } from '../../commandSandbox/commandSandbox.ts';
import { siteOfTarget } from '../../commandSandbox/networkSite.ts';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';
import type { StdioServerConfig } from '../config/config.ts';
import { McpServerFault } from './stdio.ts';

/** Sandbox for servers: that of commands. */
export interface ServerSandbox extends Pick<CommandSandbox, 'begin'> {
  availability(): Promise<SandboxAvailability>;
}

interface ConfineOptions {
  /** Identity of the server: servers of another identity have other networks and temporary folders. */
  key: string;
  /** Absolute paths of the open folders. */
  folders: readonly string[];
  sandbox: ServerSandbox | undefined;
  mayConnect(site: string, signal: AbortSignal): Promise<boolean>;
}

/**
 * Prepares the start of a server in the sandbox. It sees each later change of the open folders and can write only in folders that Git
 * ignores; changes of protected files are not kept, because a server has no call that could ask.
 * Throws a `McpServerFault` if there is no sandbox: a server never starts outside instead.
 *
 * @invariant sandboxed-server-stays-inside: A server that must run in the sandbox runs in it or not at all.
 */
export async function confineServer(
  { cwd }: StdioServerConfig,
  { key, folders, sandbox, mayConnect }: ConfineOptions,
): Promise<SandboxedCommand> {
  const availability = await sandbox?.availability();
  if (!sandbox || !availability?.isAvailable) {
    const reason = availability?.isAvailable === false ? availability.reason : message('not supported on this system');
    throw new McpServerFault(message('was not started: the sandbox is not available ({0})', reason));
  }
  const [folder, ...real] = await Promise.all([cwd, ...folders].map((path) => realpath(path)));
  return sandbox
    .begin({
      runId: `mcp ${key}`,
      folder: folder!,
      folders: real,
      isLive: true,
      hasInput: true,
      questions: {
        mayConnect: (target, signal) => mayConnect(siteOfTarget(target), signal),
        mayKeep: async () => false,
      },
    })
    .catch((error: Error) => {
      throw new McpServerFault(message('was not started in the sandbox: {0}', error.message));
    });
}
