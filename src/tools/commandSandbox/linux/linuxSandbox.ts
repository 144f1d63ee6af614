import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import * as paths from 'node:path';
import { onAbort, raceWithAbort } from '../../../protocol/values/abort.ts';
import { createConcurrencyLimiter } from '../../../protocol/values/concurrency.ts';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';
import { ToolError } from '../../core/tool.ts';
import { type FolderSurroundings, findAllowableFolder, usableFolders } from '../allowedFolders.ts';
import { cacheFolderNames, cacheSettings, cacheVariables } from '../cacheVariables.ts';
import type { CommandLimits } from '../commandLimits.ts';
import type { CommandSandbox, SandboxedCommand, SandboxedCommandRequest } from '../commandSandbox.ts';
import { createConnectionAnswers } from '../connectionAnswers.ts';
import { findHiddenPaths } from '../hiddenPaths.ts';
import { systemSecretPaths } from '../homeSecrets.ts';
import { findModuleCaches, type ModuleCache } from '../moduleCaches.ts';
import type { HiddenPath } from '../sandboxPolicy.ts';
import { findInstalledFolders } from '../workspacePaths.ts';
import { bwrapArguments } from './bwrapArguments.ts';
import { areCachesCurrent, type CacheLayers, createCacheLayers, installedBinds } from './cacheLayers.ts';
import { removeCommandFolder } from './commandFolder.ts';
import { createCommandOverlay } from './commandOverlay.ts';
import { findKernelFiles } from './kernelFiles.ts';
import { removeLeftovers } from './leftovers.ts';
import { createLimitedCommands } from './limits/limitedCommands.ts';
import { ignoredTargets, installedTargets, openTargets, outsideTarget } from './overlayTargets.ts';
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
  /** Limits in place of those of the machine. */
  limits?: Partial<CommandLimits>;
}

/** Paths of a workspace that commands see in another form. */
interface KnownPaths {
  hidden: HiddenPath[];
  installed: string[];
  moduleCaches: ModuleCache[];
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
  let limitCommand: ReturnType<typeof createLimitedCommands> | undefined;
  const prepared = new Set<string>();
  const starts = createStartStock(paths.join(store, 'commands'));
  // Changes of two commands are judged one after the other: each sees what the other one has added.
  const inTurn = createTurns();
  let knownPaths: { key: string; until: number; paths: Promise<KnownPaths> } | undefined;

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
    async allowableFolder(path, folders) {
      const { hidden } = await currentPaths(folders);
      return findAllowableFolder(path, surroundingsOf(folders, hidden));
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

  async function prepare({
    runId,
    folder,
    folders,
    allowed = [],
    isLive = false,
    hasInput = false,
    questions,
  }: SandboxedCommandRequest): Promise<SandboxedCommand> {
    const programs = await findSandboxPrograms();
    networks ??= createRunNetworks({ bwrap: programs.bwrap, forwarder: options.forwarder, log: options.log });
    const connections = createConnectionAnswers(questions.mayConnect);
    const processes = watchSandboxedProcesses();
    const tmp = paths.join(store, 'tmp', createHash('sha256').update(runId).digest('hex').slice(0, 16));
    const caches = cachesOf(folders);
    await sweepOnce();
    limitCommand ??= createLimitedCommands({ folder: store, shell: programs.sh, limits: options.limits });
    const limited = await limitCommand();
    const network = await networks.join(runId, connections.answer).catch(async (error) => {
      await limited.remove();
      throw error;
    });
    let start: PreparedStart | undefined;
    try {
      const [within, filter, known, sockets, tmpTargets, kernelFiles] = await Promise.all([
        isLive ? ignoredTargets(folders) : openTargets(folders),
        filterFile(),
        currentPaths(folders),
        outsideSockets(),
        temporaryFolders(),
        findKernelFiles(),
        createFolders(caches),
        mkdir(paths.join(tmp, runtimeFolder), { recursive: true, mode: 0o700 }),
      ]);
      const { hidden, installed, moduleCaches } = known;
      const outside = await usableFolders(allowed, surroundingsOf(folders, hidden));
      const modules = isLive ? installedTargets(folders, moduleCaches) : [];
      const targets = [...within, ...modules, ...outside.map(outsideTarget)];
      const added = isLive
        ? await layersOf(
            caches,
            modules.map(({ target }) => target),
            moduleCaches,
          )
        : known.added;
      const location = {
        namespace: network.pid,
        targets: targets.map(({ target }) => target),
        layers: added.layers,
        filter,
        hasInput,
      };
      // A mount would create a path that has gone since.
      const [taken, concealed, readOnly] = await Promise.all([
        starts.take(programs, location).then(async (one) => {
          start = one;
          return { ...one, since: await one.begin() };
        }),
        existing([...hidden, ...sockets], ({ path }) => path),
        existing([...(isLive ? folders : []), ...installed], (path) => path),
      ]);
      const { pid, run, end } = taken;
      const layers = { ...taken, remove: starts.remove };
      const overlay = createCommandOverlay(programs, layers, targets, async (changes) => {
        const isKept = await questions.mayKeep(changes);
        if (isKept) knownPaths = undefined; // packages may have been installed
        return isKept;
      });
      const args = bwrapArguments({
        uid: process.getuid!(),
        gid: process.getgid!(),
        overlays: overlay.mounts,
        writable: [{ source: caches, target: caches }, ...added.binds],
        readOnly: installedBinds(readOnly, added.binds, overlay.mounts),
        hidden: concealed,
        tmp,
        kernelFiles,
        tmpTargets,
        folder,
        ...startDescriptors,
      });
      const changeable = [...within, ...outside.map(outsideTarget)].map(({ target }) => target);
      const cached = added.binds.map(({ target }) => target);
      const writable = [...changeable, ...cached, caches, '/tmp', '/var/tmp', '/dev', '/proc'];
      let isOver = false;
      return {
        spawn(program, environment) {
          try {
            if (pid !== undefined) limited.enter(pid);
            const { child, information } = run(args, program, environment);
            processes.started(information);
            limited.started(processes.first(), () => void processes.end());
            return child;
          } catch (error) {
            throw setUpError(error as Error);
          }
        },
        exceededLimit: limited.exceeded,
        network,
        environment: {
          ...network.environment,
          ...cacheVariables(caches, { ...process.env, ...network.environment }),
          ...temporaryVariables,
        },
        async keep(signal) {
          isOver = true;
          network.release();
          limited.end();
          await processes.end();
          await limited.remove();
          const unseen = new Set([...concealed.map(({ path }) => path), ...readOnly]);
          const report = await inTurn(() => overlay.keep(unseen, signal), signal);
          if (isTested && !isLive) void starts.prepare(programs, location); // the test has no next command
          return {
            ...report,
            blocked: connections.blocked(),
            isWritable: (path) => isBelowAny(path, writable, readOnly),
          };
        },
        async discard() {
          if (isOver) return;
          isOver = true;
          network.release();
          limited.end();
          await Promise.all([processes.end(), end()]);
          await limited.remove();
          await overlay.discard();
        },
      };
    } catch (error) {
      network.release();
      await start?.end();
      await limited.remove();
      if (start) await removeCommandFolder(start.folder);
      throw error;
    }
  }

  function surroundingsOf(folders: readonly string[], hidden: readonly HiddenPath[]): FolderSurroundings {
    const { env: environment } = process;
    return { home, folders, hidden: [...hidden.map(({ path }) => path), store], environment, uid: process.getuid!() };
  }

  function cachesOf(folders: readonly string[]): string {
    return paths.join(store, 'caches', createHash('sha256').update(folders.join('\n')).digest('hex').slice(0, 16));
  }

  function layersOf(
    caches: string,
    folders: readonly string[],
    moduleCaches: readonly ModuleCache[],
  ): Promise<CacheLayers> {
    const stores = {
      layerStore: paths.join(store, 'layers'),
      cacheStore: paths.join(store, 'modules', paths.basename(caches)),
    };
    return createCacheLayers({ ...stores, folders }, moduleCaches);
  }

  /** Paths change rarely, and finding them reads many folders. */
  async function currentPaths(folders: readonly string[]): Promise<KnownPaths> {
    const key = JSON.stringify(folders);
    const isKnown =
      knownPaths?.key === key &&
      knownPaths.until > Date.now() &&
      (await areCachesCurrent((await knownPaths.paths).added));
    if (!knownPaths || !isKnown) knownPaths = { key, until: Date.now() + pathsAge, paths: readPaths(folders) };
    return knownPaths.paths;
  }

  async function readPaths(folders: readonly string[]): Promise<KnownPaths> {
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
    const moduleCaches = await findModuleCaches(all);
    const added = await layersOf(cachesOf(folders), folders, moduleCaches);
    return { hidden: found.paths, installed: all, moduleCaches, added };
  }

  async function createFolders(caches: string): Promise<void> {
    if (prepared.has(caches)) return;
    await mkdir(caches, { recursive: true });
    await Promise.all(cacheFolderNames.map((name) => createRealFolder(paths.join(caches, name))));
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

/** Creates a folder, in place of a file or a link: a command may have replaced an earlier one. */
async function createRealFolder(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats && !stats.isDirectory()) await rm(path, { force: true });
  await mkdir(path, { recursive: true });
}

const setUpError = (error: Error): ToolError =>
  error instanceof ToolError
    ? error
    : new ToolError('TOOL_EXEC_FAILED', `The sandbox could not be set up: ${error.message}`);

/** Tests if the nearest of the folders above a path is one of the first ones. */
function isBelowAny(path: string, folders: readonly string[], others: readonly string[]): boolean {
  const nearest = (all: readonly string[]) =>
    Math.max(-1, ...all.filter((one) => path === one || path.startsWith(`${one}/`)).map((one) => one.length));
  return nearest(folders) > nearest(others);
}

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
