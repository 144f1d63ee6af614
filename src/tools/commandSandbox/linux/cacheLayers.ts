import { createHash } from 'node:crypto';
import { chmod, mkdir, realpath, stat, utimes } from 'node:fs/promises';
import * as paths from 'node:path';
import type { ModuleCache } from '../moduleCaches.ts';
import type { SandboxBind } from '../sandboxPolicy.ts';

/** `layers`: for open folders (absolute paths), the layer with places for the mounts of their caches. `binds`: private folders over caches. */
export interface CacheLayers {
  layers: ReadonlyMap<string, string>;
  binds: SandboxBind[];
}

/**
 * Creates private folders for the caches in installed packages, and layers for the overlays of the open folders in which these can be
 * mounted: the real ones may not exist.
 * @param layerStore folder for the layers, which commands cannot see
 * @param cacheStore folder for the private folders. Commands write in these, and must not replace one by a link: its target would be bound.
 */
export async function createCacheLayers(
  { layerStore, cacheStore, folders }: { layerStore: string; cacheStore: string; folders: readonly string[] },
  found: readonly ModuleCache[],
): Promise<CacheLayers> {
  const layers = new Map<string, string>();
  for (const folder of folders) {
    const below = found.filter((one) => nearest(folders, one.modules) === folder);
    if (below.length > 0) layers.set(folder, await createLayer(layerStore, folder, below));
  }
  const binds = found.map((one) => ({
    source: paths.join(cacheStore, hashOf(one.modules), one.name),
    target: paths.join(one.modules, one.name),
  }));
  await Promise.all(binds.map(({ source }) => mkdir(source, { recursive: true })));
  return { layers, binds };
}

const nearest = (folders: readonly string[], path: string): string | undefined =>
  [...folders]
    .filter((folder) => path === folder || path.startsWith(`${folder}/`))
    .sort((one, other) => other.length - one.length)[0];

/** Tests that the folders around the caches are still there, and that no link leads to one. */
export async function areCachesCurrent({ binds }: CacheLayers): Promise<boolean> {
  const modules = [...new Set(binds.map(({ target }) => paths.dirname(target)))];
  const real = await Promise.all(modules.map((path) => realpath(path).catch(() => undefined)));
  return real.every((path, at) => path === modules[at]);
}

/** Returns the read-only binds of folders with installed code; a folder with caches is shown with the places for them. */
export function installedBinds(
  installed: readonly string[],
  caches: readonly SandboxBind[],
  mounts: readonly { shown: string; merged: string }[],
): SandboxBind[] {
  const withCaches = new Set(caches.map(({ target }) => paths.dirname(target)));
  return installed.map((target) => {
    const shown =
      withCaches.has(target) &&
      nearest(
        mounts.map((mount) => mount.shown),
        target,
      );
    const merged = mounts.find((mount) => mount.shown === shown)?.merged;
    return { source: merged ? paths.join(merged, paths.relative(shown as string, target)) : target, target };
  });
}

/** Creates empty folders at which caches are mounted. The folders around have the permissions and times of the real ones. */
async function createLayer(store: string, folder: string, caches: readonly ModuleCache[]): Promise<string> {
  const around = new Set<string>();
  for (const { modules } of caches)
    for (let at = paths.relative(folder, modules); at !== '.'; at = paths.dirname(at)) around.add(at);
  const parents = await Promise.all(
    [...around].map(async (below) => ({ below, stats: await stat(paths.join(folder, below)) })),
  );
  const names = caches.map(({ modules, name }) => paths.join(paths.relative(folder, modules), name));
  const modes = parents.map(({ stats }) => stats.mode);
  const layer = paths.join(store, hashOf(JSON.stringify([folder, names, modes])));
  for (const name of names) await mkdir(paths.join(layer, name), { recursive: true });
  // Inner folders first: what is created in a folder changes its time.
  for (const { below, stats } of parents.sort((one, other) => other.below.length - one.below.length)) {
    await chmod(paths.join(layer, below), (stats.mode & 0o777) | 0o700);
    await utimes(paths.join(layer, below), stats.atime, stats.mtime);
  }
  const now = new Date();
  await utimes(layer, now, now); // it is in use
  return layer;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
