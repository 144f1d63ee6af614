import { createHash } from 'node:crypto';
import { lstat, mkdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import * as paths from 'node:path';
import { type FolderSurroundings, usableFolders } from '../allowedFolders.ts';
import { cacheFolderNames, cacheSettings } from '../cacheVariables.ts';
import type { SandboxedCommandRequest } from '../commandSandbox.ts';
import { findHiddenPaths } from '../hiddenPaths.ts';
import { systemSecretPaths } from '../homeSecrets.ts';
import { findModuleCaches, type ModuleCache } from '../moduleCaches.ts';
import type { HiddenPath } from '../sandboxPolicy.ts';
import { findInstalledFolders } from '../workspacePaths.ts';
import { bwrapArguments } from './bwrapArguments.ts';
import { areCachesCurrent, type CacheLayers, createCacheLayers, installedBinds } from './cacheLayers.ts';
import { mountsOf, type OverlayTarget } from './commandOverlay.ts';
import { findKernelFiles } from './kernelFiles.ts';
import { ignoredTargets, installedTargets, openTargets, outsideTarget } from './overlayTargets.ts';
import { type StartPlan, startDescriptors } from './preparedStart.ts';
import { createSeccompFilter, type SeccompArchitecture } from './seccompFilter.ts';
import { socketPaths } from './socketPaths.ts';

/** Files that a command sees and can change. Absolute real paths. */
interface CommandPlan extends StartPlan {
  /** Overlays, in the order of `targets`. */
  overlays: readonly OverlayTarget[];
  /** Paths of the real folders that the command does not see as they are. */
  unseen: ReadonlySet<string>;
  /** Folders that the command can write, and folders inside these that it cannot. */
  writable: readonly string[];
  readOnly: readonly string[];
  /** Private folder for the caches of tools. */
  caches: string;
}

interface CommandPlanOptions {
  store: string;
  home: string;
  hidden: readonly string[];
  log?(text: string): void;
}

/** Paths of a workspace that commands see in another form. */
interface KnownPaths {
  hidden: HiddenPath[];
  installed: string[];
  moduleCaches: ModuleCache[];
  added: CacheLayers;
  kernelFiles: string[];
}

/** Milliseconds for which the paths of a workspace that commands see in another form are remembered. */
const pathsAge = 20_000;

export const runtimeFolder = '.runtime';

/** Plans the sandboxes of commands, each by what is on the disk at that time. */
export function createCommandPlans({ store, home, hidden: hiddenFolders, log }: CommandPlanOptions) {
  let knownPaths: { key: string; until: number; paths: Promise<KnownPaths> } | undefined;
  let filterPath: Promise<string> | undefined;
  const prepared = new Set<string>();

  return {
    /** @param namespace process whose user and network namespaces the command joins */
    async planFor(request: SandboxedCommandRequest, namespace: number): Promise<CommandPlan> {
      const { runId, folders, allowed = [], isLive = false, hasInput = false, hasTerminal = false } = request;
      const tmp = paths.join(store, 'tmp', shortHash(runId));
      const caches = cachesOf(folders);
      const [within, filter, known, sockets, tmpTargets] = await Promise.all([
        isLive ? ignoredTargets(folders) : openTargets(folders),
        filterFile(),
        currentPaths(folders),
        outsideSockets(),
        temporaryFolders(),
        createFolders(caches),
        mkdir(paths.join(tmp, runtimeFolder), { recursive: true, mode: 0o700 }),
      ]);
      const outside = await usableFolders(allowed, surroundingsOf(folders, known.hidden));
      const modules = isLive ? installedTargets(folders, known.moduleCaches) : [];
      const changeable = [...within, ...outside.map(outsideTarget)];
      const overlays = [...within, ...modules, ...outside.map(outsideTarget)];
      const moduleFolders = modules.map(({ target }) => target);
      const added = isLive ? await layersOf(caches, moduleFolders, known.moduleCaches) : known.added;
      // A mount would create a path that has gone since.
      const [hidden, readOnly] = await Promise.all([
        existing([...known.hidden, ...sockets], ({ path }) => path),
        existing([...(isLive ? folders : []), ...known.installed], (path) => path),
      ]);
      const hiddenPaths = hidden.map(({ path }) => path);
      const cached = added.binds.map(({ target }) => target);
      return {
        namespace,
        targets: overlays.map(({ target }) => target),
        layers: added.layers,
        filter,
        hasInput,
        hasTerminal,
        options(layers) {
          const mounts = mountsOf(overlays, layers);
          return bwrapArguments({
            uid: process.getuid!(),
            gid: process.getgid!(),
            overlays: mounts,
            writable: [{ source: caches, target: caches }, ...added.binds],
            readOnly: installedBinds(readOnly, added.binds, mounts),
            hidden,
            tmp,
            kernelFiles: known.kernelFiles,
            tmpTargets,
            ...startDescriptors,
          });
        },
        mountPoints: [...hiddenPaths, ...readOnly, ...cached],
        overlays,
        unseen: new Set([...hiddenPaths, ...readOnly]),
        writable: [...changeable.map(({ target }) => target), ...cached, caches, '/tmp', '/var/tmp', '/dev', '/proc'],
        readOnly,
        caches,
      };
    },
    /** Reads the paths again for the next command. */
    forgetPaths(): void {
      knownPaths = undefined;
    },
    async surroundings(folders: readonly string[]): Promise<FolderSurroundings> {
      return surroundingsOf(folders, (await currentPaths(folders)).hidden);
    },
  };

  function surroundingsOf(folders: readonly string[], hidden: readonly HiddenPath[]): FolderSurroundings {
    const { env: environment } = process;
    return { home, folders, hidden: [...hidden.map(({ path }) => path), store], environment, uid: process.getuid!() };
  }

  function cachesOf(folders: readonly string[]): string {
    return paths.join(store, 'caches', shortHash(folders.join('\n')));
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
    const isRoot = process.getuid!() === 0;
    const [found, kernelFiles, ...installed] = await Promise.all([
      findHiddenPaths({ home, folders, extra: [...hiddenFolders, store, ...(isRoot ? systemSecretPaths : [])] }),
      findKernelFiles(),
      ...folders.map(findInstalledFolders),
    ]);
    if (!found.isComplete) log?.('The workspace has too many files to look for secrets in all of them.');
    const all = installed.flat();
    const moduleCaches = await findModuleCaches(all);
    const added = await layersOf(cachesOf(folders), folders, moduleCaches);
    return { hidden: found.paths, installed: all, moduleCaches, added, kernelFiles };
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
      const path = paths.join(store, `seccomp-${process.arch}-${shortHash(filter)}`);
      await writeFile(path, filter, { mode: 0o400, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      return path;
    })();
    return filterPath;
  }
}

const shortHash = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

/** Creates a folder, in place of a file or a link: a command may have replaced an earlier one. */
async function createRealFolder(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats && !stats.isDirectory()) await rm(path, { force: true });
  await mkdir(path, { recursive: true });
}

async function existing<One>(all: readonly One[], pathOf: (one: One) => string): Promise<One[]> {
  const isThere = (one: One) =>
    lstat(pathOf(one)).then(
      () => [one],
      () => [],
    );
  return (await Promise.all(all.map(isThere))).flat();
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
