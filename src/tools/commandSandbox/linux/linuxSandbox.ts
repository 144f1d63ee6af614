import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import * as paths from 'node:path';
import { onAbort, raceWithAbort } from '../../../protocol/values/abort.ts';
import { createConcurrencyLimiter } from '../../../protocol/values/concurrency.ts';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';
import { ToolError } from '../../core/tool.ts';
import { cacheFolderNames, cacheSettings, cacheVariables } from '../cacheVariables.ts';
import type { CommandSandbox, SandboxedCommand, SandboxedCommandRequest } from '../commandSandbox.ts';
import { createConnectionAnswers } from '../connectionAnswers.ts';
import { findGitFolders } from '../gitFolders.ts';
import { findHiddenPaths } from '../hiddenPaths.ts';
import { systemSecretPaths } from '../homeSecrets.ts';
import { findModuleCaches } from '../moduleCaches.ts';
import type { HiddenPath } from '../sandboxPolicy.ts';
import { findInstalledFolders } from '../workspacePaths.ts';
import { bwrapArguments } from './bwrapArguments.ts';
import { areCachesCurrent, type CacheLayers, createCacheLayers, installedBinds } from './cacheLayers.ts';
import { removeCommandFolder } from './commandFolder.ts';
import { createCommandOverlay } from './commandOverlay.ts';
import { removeLeftovers } from './leftovers.ts';
import { type PreparedStart, startDescriptors } from './preparedStart.ts';
import { createRunNetworks } from './runNetworks.ts';
import { watchSandboxedProcesses } from './sandboxedProcesses.ts';
import { createSeccompFilter, type SeccompArchitecture } from './seccompFilter.ts';
import { socketPaths } from './socketPaths.ts';
import { createStartStock } from './startStock.ts';
import { findSandboxPrograms, testSandbox } from './testSandbox.ts';

export interface LinuxSandboxOptions {
  /** Folder for overlays, caches and temporary files, absolute, on a disk that supports overlays. */
  store: string;
  /** Path of the built forwarder, `sandboxForwarder.cjs`. */
  forwarder: string;
  home: string;
  /** Folders that no command may read, absolute: storage of the editor and of its extensions. */
  hidden: readonly string[];
  /** Open folders for the test of the window, absolute and real. */
  folders(): Promise<readonly string[]>;
  log?(text: string): void;
}

/** Paths of a workspace that commands see in another form. */
interface KnownPaths {
  hidden: HiddenPath[];
  installed: string[];
  added: CacheLayers;
}

/** Milliseconds for which the paths of a workspace that commands see in another form are remembered. */
const pathsAge = 20_000;

/**
 * Sandbox of Linux. Bubblewrap confines a command to namespaces of its own, without capabilities; the open folders are overlays, so that
 * what a command writes is aside until it has ended.
 */
export function createLinuxSandbox(options: LinuxSandboxOptions): CommandSandbox {
  const { store, home } = options;
  let tested: Promise<SandboxAvailability> | undefined;
  let isTested = false;
  let networks: ReturnType<typeof createRunNetworks> | undefined;
  let filterPath: Promise<string> | undefined;
  let swept: Promise<void> | undefined;
  const prepared = new Set<string>();
  const starts = createStartStock(paths.join(store, 'commands'));
  // Changes of two commands are judged one after the other: each sees what the other one has added.
  const inTurn = createTurns();
  let known: { key: string; until: number; paths: Promise<KnownPaths> } | undefined;

  return {
    availability,
    async begin(request) {
      const available = await availability();
      isTested = true;
      if (!available.isAvailable) throw new ToolError('TOOL_EXEC_FAILED', 'The sandbox is not available.');
      return prepare(request).catch((error: Error) => {
        throw setUpError(error);
      });
    },
    async close() {
      await starts.close();
      await networks?.close();
    },
  };

  function availability(): Promise<SandboxAvailability> {
    tested ??= testSandbox(options, prepare);
    return tested;
  }

  async function prepare({ runId, folder, folders, questions }: SandboxedCommandRequest): Promise<SandboxedCommand> {
    const programs = await findSandboxPrograms();
    networks ??= createRunNetworks({ bwrap: programs.bwrap, forwarder: options.forwarder, log: options.log });
    const connections = createConnectionAnswers(questions.mayConnect);
    const processes = watchSandboxedProcesses();
    const tmp = paths.join(store, 'tmp', createHash('sha256').update(runId).digest('hex').slice(0, 16));
    const caches = paths.join(
      store,
      'caches',
      createHash('sha256').update(folders.join('\n')).digest('hex').slice(0, 16),
    );
    await sweepOnce();
    const network = await networks.join(runId, connections.answer);
    let start: PreparedStart | undefined;
    try {
      const [git, filter, { hidden, installed, added }, sockets, tmpTargets] = await Promise.all([
        findGitFolders(folders),
        filterFile(),
        currentPaths(folders, caches),
        outsideSockets(),
        temporaryFolders(),
        createFolders(caches),
        mkdir(paths.join(tmp, runtimeFolder), { recursive: true, mode: 0o700 }),
      ]);
      const location = { namespace: network.pid, targets: [...folders, ...git], layers: added.layers, filter };
      // A mount would create a path that has gone since.
      const [taken, concealed, readOnly] = await Promise.all([
        starts.take(programs, location).then(async (one) => {
          start = one;
          return { ...one, since: await one.begin() };
        }),
        existing([...hidden, ...sockets], ({ path }) => path),
        existing(installed, (path) => path),
      ]);
      const { run, end } = taken;
      const overlay = createCommandOverlay(
        programs,
        { ...taken, remove: starts.remove },
        [
          ...folders.map((target) => ({ target, within: 'workspace' as const })),
          ...git.map((target) => ({ target, within: 'git' as const })),
        ],
        async (changes) => {
          const isKept = await questions.mayKeep(changes);
          if (isKept) known = undefined; // packages may have been installed
          return isKept;
        },
      );
      const args = bwrapArguments({
        uid: process.getuid!(),
        gid: process.getgid!(),
        overlays: overlay.mounts,
        writable: [{ source: caches, target: caches }, ...added.binds],
        readOnly: installedBinds(readOnly, added.binds, overlay.mounts),
        hidden: concealed,
        tmp,
        tmpTargets,
        folder,
        ...startDescriptors,
      });
      const places = [...folders, ...git, caches, '/tmp', '/var/tmp', '/dev', '/proc'];
      let isOver = false;
      return {
        spawn(program, environment) {
          try {
            const { child, information } = run(args, program, environment);
            processes.started(information);
            return child;
          } catch (error) {
            throw setUpError(error as Error);
          }
        },
        environment: {
          ...network.environment,
          ...cacheVariables(caches, { ...process.env, ...network.environment }),
          ...temporaryVariables,
        },
        async keep(signal) {
          isOver = true;
          network.release();
          await processes.end();
          const unseen = new Set([...concealed.map(({ path }) => path), ...readOnly]);
          const report = await inTurn(() => overlay.keep(unseen, signal), signal);
          if (isTested) void starts.prepare(programs, location); // the test has no next command
          const isBelow = (path: string) => (folder: string) => path === folder || path.startsWith(`${folder}/`);
          const isWritable = (path: string) =>
            added.binds.some(({ target }) => path.startsWith(`${target}/`)) ||
            (places.some(isBelow(path)) && !readOnly.some(isBelow(path)));
          return { ...report, blocked: connections.blocked(), isWritable };
        },
        async discard() {
          if (isOver) return;
          isOver = true;
          network.release();
          await Promise.all([processes.end(), end()]);
          await overlay.discard();
        },
      };
    } catch (error) {
      network.release();
      await start?.end();
      if (start) await removeCommandFolder(start.folder);
      throw error;
    }
  }

  /** Paths change rarely, and finding them reads many folders. */
  async function currentPaths(folders: readonly string[], caches: string): Promise<KnownPaths> {
    const key = JSON.stringify(folders);
    const isKnown =
      known?.key === key && known.until > Date.now() && (await areCachesCurrent((await known.paths).added));
    if (!known || !isKnown) known = { key, until: Date.now() + pathsAge, paths: readPaths(folders, caches) };
    return known.paths;
  }

  async function readPaths(folders: readonly string[], caches: string): Promise<KnownPaths> {
    const [found, ...installed] = await Promise.all([
      findHiddenPaths({
        home,
        folders,
        extra: [...options.hidden, store, ...(process.getuid!() === 0 ? systemSecretPaths : [])],
      }),
      ...folders.map(findInstalledFolders),
    ]);
    if (!found.isComplete) options.log?.('The workspace has too many files to look for secrets in all of them.');
    const all = installed.flat();
    const stores = {
      layerStore: paths.join(store, 'layers'),
      cacheStore: paths.join(store, 'modules', paths.basename(caches)),
    };
    const added = await createCacheLayers({ ...stores, folders }, await findModuleCaches(all));
    return { hidden: found.paths, installed: all, added };
  }

  async function createFolders(caches: string): Promise<void> {
    if (prepared.has(caches)) return;
    await Promise.all(cacheFolderNames.map((name) => mkdir(paths.join(caches, name), { recursive: true })));
    // A link may lead nowhere: tools ignore it. Settings with secrets are hidden where they are.
    for (const [source, link] of cacheSettings)
      await symlink(paths.join(home, source), paths.join(caches, link)).catch(() => undefined);
    prepared.add(caches);
  }

  function filterFile(): Promise<string> {
    filterPath ??= (async () => {
      const filter = createSeccompFilter(process.arch as SeccompArchitecture);
      const path = paths.join(
        store,
        `seccomp-${process.arch}-${createHash('sha256').update(filter).digest('hex').slice(0, 16)}`,
      );
      await writeFile(path, filter, { mode: 0o400, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      return path;
    })();
    return filterPath;
  }

  /** Removes what commands of ended windows have left. Nothing of it was kept. */
  function sweepOnce(): Promise<void> {
    swept ??= (async () => {
      await removeOldFolders(paths.join(store, 'tmp'));
      await removeOldFolders(paths.join(store, 'layers'));
      await removeLeftovers(paths.join(store, 'commands'));
    })();
    return swept;
  }
}

const setUpError = (error: Error): ToolError =>
  error instanceof ToolError
    ? error
    : new ToolError('TOOL_EXEC_FAILED', `The sandbox could not be set up: ${error.message}`);

const runtimeFolder = '.runtime';

/** Variables of folders for temporary files and sockets: the user's may name ones that are read-only or hidden. */
const temporaryVariables = {
  ...Object.fromEntries(['TMPDIR', 'TMP', 'TEMP', 'TMUX_TMPDIR'].map((name) => [name, '/tmp'])),
  ...Object.fromEntries(['XDG_RUNTIME_DIR', 'SCREENDIR'].map((name) => [name, `/tmp/${runtimeFolder}`])),
};

async function existing<One>(all: readonly One[], pathOf: (one: One) => string): Promise<One[]> {
  const isThere = (one: One) =>
    lstat(pathOf(one)).then(
      () => [one],
      () => [],
    );
  return (await Promise.all(all.map(isThere))).flat();
}

/** Milliseconds after their last use until the temporary files of a run, and layers, are removed. */
const maxTemporaryAge = 7 * 24 * 3_600_000;

async function removeOldFolders(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch((): string[] => [])) {
    const folder = paths.join(parent, name);
    const stats = await stat(folder).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > maxTemporaryAge) await removeCommandFolder(folder);
  }
}

/** Runs work one after the other. Work that waits for its turn ends on abort, and is called all the same, to clean up. */
function createTurns() {
  const limit = createConcurrencyLimiter(1);
  return async <Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> => {
    let hasBegun = false;
    const waiting = new AbortController();
    const stopListening = onAbort(signal, (reason) => !hasBegun && waiting.abort(reason));
    const done = limit(() => {
      hasBegun = true;
      return work();
    });
    return raceWithAbort(done, waiting.signal).finally(stopListening);
  };
}

/** Sockets outside of the folders that commands see empty. A read-only mount does not prevent a connection. */
async function outsideSockets(): Promise<HiddenPath[]> {
  const listed = socketPaths(await readFile('/proc/net/unix', 'utf8').catch(() => ''));
  const found = await Promise.all(
    listed.map(async (path) => {
      const real = await realpath(path).catch(() => undefined);
      const stats = real === undefined ? undefined : await stat(real).catch(() => undefined);
      return stats?.isSocket() ? [{ path: real!, kind: 'file' as const }] : [];
    }),
  );
  return [...new Map(found.flat().map((one) => [one.path, one])).values()];
}

async function temporaryFolders(): Promise<string[]> {
  const real = await Promise.all(['/tmp', '/var/tmp'].map((path) => realpath(path).catch(() => undefined)));
  return [...new Set(real.filter((path) => path !== undefined))];
}
