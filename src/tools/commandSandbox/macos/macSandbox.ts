import { spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';
import { ToolError } from '../../core/tool.ts';
import { isPrivateNetworkAddress } from '../../network/addresses.ts';
import { cacheFolderNames, cacheSettings, cacheVariables } from '../cacheVariables.ts';
import type { CommandSandbox, SandboxedCommand, SandboxedCommandRequest, SandboxedProcess } from '../commandSandbox.ts';
import { createConnectionAnswers } from '../connectionAnswers.ts';
import { findHiddenPaths } from '../hiddenPaths.ts';
import { removeCommandFolder } from '../linux/commandFolder.ts';
import { removeLeftovers } from '../linux/leftovers.ts';
import { startSandboxProxy } from '../network/proxy.ts';
import { isExpectedAddress } from '../network/proxyConnection.ts';
import { proxyEnvironment } from '../network/proxyEnvironment.ts';
import { upstreamProxy } from '../network/upstreamProxy.ts';
import { protectedPatterns } from './protectedPatterns.ts';
import { seatbeltProfile } from './seatbeltProfile.ts';
import { testMacSandbox } from './testMacSandbox.ts';

interface MacSandboxOptions {
  /** Folder for profiles and caches, absolute. */
  store: string;
  home: string;
  /** Folders that no command may read, absolute: storage of the editor and of its extensions. */
  hidden: readonly string[];
  /** Path of `sandbox-exec`. */
  program?: string;
  log?(text: string): void;
}

/**
 * Sandbox of macOS, a preview: nobody has run it on a Mac. Seatbelt confines a command by a profile. There is no overlay: a command writes
 * the open folders directly, so that protected names and everything of Git are denied, and a stopped command may have changed something.
 */
export function createMacSandbox(options: MacSandboxOptions): CommandSandbox {
  const { store, home, program = '/usr/bin/sandbox-exec' } = options;
  const proxies = new Set<{ close(): Promise<void> }>();
  const temporary = new Map<string, Promise<string>>();
  let swept: Promise<void> | undefined;
  let tested: Promise<SandboxAvailability> | undefined;
  const availability = () => (tested ??= testMacSandbox({ store, home, program }, prepare));

  return {
    availability,
    async begin(request) {
      const available = await availability();
      if (!available.isAvailable) throw new ToolError('TOOL_EXEC_FAILED', 'The sandbox is not available.');
      return prepare(request).catch((error: Error) => {
        throw new ToolError('TOOL_EXEC_FAILED', `The sandbox could not be set up: ${error.message}`);
      });
    },
    allowableFolder: async () => undefined,
    async close() {
      await Promise.all([...proxies].map((proxy) => proxy.close()));
      for (const folder of temporary.values()) await removeCommandFolder(await folder);
    },
  };

  async function prepare({
    runId,
    folder,
    folders,
    hasInput,
    questions,
  }: SandboxedCommandRequest): Promise<SandboxedCommand> {
    const connections = createConnectionAnswers(questions.mayConnect);
    const credentials = `towpath:${randomBytes(16).toString('hex')}`;
    const real = await realpath(tmpdir());
    const tmp = await temporaryFolder(real, runId);
    const caches = paths.join(store, 'caches', shortHash(folders.join('\n')));
    const profile = paths.join(store, 'profiles', `${process.pid}-${randomUUID().slice(0, 8)}.sb`);
    const [{ paths: hidden, isComplete }] = await Promise.all([
      findHiddenPaths({ home, folders, extra: [...options.hidden, store] }),
      ...cacheFolderNames.map((name) => mkdir(paths.join(caches, name), { recursive: true })),
      mkdir(paths.dirname(profile), { recursive: true, mode: 0o700 }),
    ]);
    for (const [source, link] of cacheSettings)
      await symlink(paths.join(home, source), paths.join(caches, link)).catch(() => undefined); // it exists
    if (!isComplete) options.log?.('The workspace has too many files to look for secrets in all of them.');
    const proxy = await startSandboxProxy({
      credentials,
      access: async (target, signal) => ((await connections.answer(target, signal)) ? 'allow' : 'deny'),
      isAllowedAddress: async (address, target, signal) =>
        isExpectedAddress(address, target) ||
        (isPrivateNetworkAddress(address) && (await connections.answer({ host: address, port: target.port }, signal))),
      upstream: (target, isTunnel) => upstreamProxy(process.env, target, isTunnel),
      log: options.log,
    });
    proxies.add(proxy);
    const close = async () => {
      proxies.delete(proxy);
      await Promise.all([proxy.close(), rm(profile, { force: true })]);
    };
    try {
      const others = [...new Set([real, '/private/tmp', '/private/var/tmp'])];
      const text = seatbeltProfile({ folders, tmp, caches, temporary: others, hidden, proxyPort: proxy.port });
      await writeFile(profile, text, { mode: 0o600 });
      const network = proxyEnvironment(proxy.port, process.env, credentials);
      return {
        spawn: (command, env) =>
          spawn(program, ['-f', profile, ...command], {
            cwd: folder,
            env,
            stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
            detached: true, // own process group, to be ended together
          }) as SandboxedProcess,
        leavesProcesses: true,
        exceededLimit: async () => undefined,
        environment: {
          ...network,
          ...cacheVariables(caches, { ...process.env, ...network }),
          ...Object.fromEntries(['TMPDIR', 'TMP', 'TEMP'].map((name) => [name, tmp])),
        },
        async keep() {
          await close();
          const isWritable = (path: string) => isWritablePath(path, [tmp, caches, ...folders]);
          return { ...nothingPending, blocked: connections.blocked(), isWritable };
        },
        discard: close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Returns the folder of a run for temporary files. Paths of sockets in it are short. */
  async function temporaryFolder(parent: string, runId: string): Promise<string> {
    swept ??= removeLeftovers(parent, temporaryPrefix);
    await swept;
    const folder = temporary.get(runId) ?? mkdtemp(paths.join(parent, `${temporaryPrefix}${process.pid}-`));
    temporary.set(runId, folder);
    return folder;
  }
}

const temporaryPrefix = 'towpath-run-';

const nothingPending = { discarded: [], conflicts: [], special: [], failed: [], changed: 0 };

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

function isWritablePath(path: string, folders: readonly string[]): boolean {
  const folder = folders.find((one) => path.startsWith(`${one}/`));
  if (folder === undefined) return path.startsWith('/dev/'); // terminals, which nobody needs to allow
  return !protectedPatterns().some((form) => new RegExp(`^${form}`, 's').test(path.slice(folder.length)));
}
