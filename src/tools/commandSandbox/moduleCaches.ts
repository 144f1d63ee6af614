import { readdir } from 'node:fs/promises';
import * as paths from 'node:path';

/**
 * Folder in a `node_modules` that a tool writes at every run. Commands see a private folder of the workspace instead: a file in the real one
 * runs outside, too.
 */
export interface ModuleCache {
  /** Real path of the `node_modules`. */
  modules: string;
  name: string;
}

/** Names of caches, each with the packages that write it; without packages, any tool may. */
const writers: Readonly<Record<string, readonly string[]>> = {
  '.cache': [],
  '.tmp': [],
  '.vite': ['vite', 'vitest'],
  '.vite-temp': ['vite', 'vitest'],
  '.vitest': ['vitest'],
  '.astro': ['astro'],
  '.mf': ['miniflare', 'wrangler'],
  '.vue-global-types': ['vue-tsc', '@vue'],
};

/** A folder that exists is a cache by its name. Other hidden folders hold installed or generated code, such as `.bin` and `.prisma`. */
const cacheName = /^\.(?:[\w-]+[-_.])?(?:cache|caches|tmp|temp)$/;

const maxModules = 30; // each cache needs a mount

/** Returns the caches in the folders with installed code. */
export async function findModuleCaches(installed: readonly string[]): Promise<ModuleCache[]> {
  const all = installed.filter((path) => paths.basename(path) === 'node_modules').slice(0, maxModules);
  const found = await Promise.all(
    all.map(async (modules) => {
      const entries = await readdir(modules, { withFileTypes: true }).catch(() => []);
      const names = new Set(entries.map(({ name }) => name));
      const others = new Set(entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name));
      const caches = [...names].filter((name) => cacheName.test(name));
      for (const [name, packages] of Object.entries(writers))
        if (packages.length === 0 || packages.some((one) => names.has(one)) || names.has(name)) caches.push(name);
      return [...new Set(caches)].filter((name) => !others.has(name)).map((name) => ({ modules, name }));
    }),
  );
  return found.flat();
}
