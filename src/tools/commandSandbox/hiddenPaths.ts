import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { secretFileReason } from '../policy/secretFiles.ts';
import { homeSecretPaths, homeSettingsPaths, settingsFileNames } from './homeSecrets.ts';
import type { HiddenPath } from './sandboxPolicy.ts';
import { settingsContainSecrets } from './settingsSecrets.ts';

export interface HiddenPathOptions {
  /** Home folder of the user. */
  home: string;
  /** Open folders; they stay visible, without the secret files inside. */
  folders: readonly string[];
  /** More absolute paths to hide. A missing path is ignored. */
  extra?: readonly string[];
  /** Limit of names to read in the open folders. */
  maxNames?: number;
}

interface FoundHiddenPaths {
  /** Real paths, sorted, without paths below another one. */
  paths: HiddenPath[];
  /** False if the open folders have more names than the limit, so that a secret file in a deep folder may be missing. */
  isComplete: boolean;
}

/**
 * Finds the paths that commands must not read: secrets in the top levels of the home folder and in the open folders. A link is hidden by
 * its target, because a mount cannot cover the link itself. The homes of others need no entry: a command has no capabilities, as root too,
 * so that their permissions apply.
 */
export async function findHiddenPaths(options: HiddenPathOptions): Promise<FoundHiddenPaths> {
  const { extra = [], maxNames = 50_000 } = options;
  const home = await realpath(options.home).catch(() => options.home);
  const folders = (await Promise.all(options.folders.map(realPathOf))).filter((path) => path !== undefined);
  const found = new FoundPaths(home, folders);
  for (const path of extra) await found.add(path);
  await addHomeSecrets(home, folders, found);
  const budget = { names: maxNames };
  for (const folder of folders) await addFolderSecrets(folder, budget, found);
  return { paths: found.sorted(), isComplete: budget.names >= 0 };
}

/** Result of a search. Never contains the home, an open folder, or what a link names around them, such as `/`. */
class FoundPaths {
  readonly #kinds = new Map<string, HiddenPath['kind']>();
  readonly #home: string;
  readonly #folders: readonly string[];

  constructor(home: string, folders: readonly string[]) {
    this.#home = home;
    this.#folders = folders;
  }

  async add(path: string, isSettings = false): Promise<void> {
    const real = await realPathOf(path);
    const stats = real && (await stat(real).catch(() => undefined));
    if (!real || !stats || isInside(this.#home, real) || this.#folders.includes(real)) return;
    if (real !== path && this.#folders.some((folder) => isInside(folder, real))) return;
    if (stats.isDirectory()) this.#kinds.set(real, 'folder');
    else if (this.#kinds.get(real) !== 'file') this.#kinds.set(real, isSettings ? 'settings' : 'file');
  }

  async addSettings(path: string): Promise<void> {
    if (await settingsContainSecrets(path)) await this.add(path, true);
  }

  /** Omits a path below a hidden folder, unless an open folder between both shows it again. */
  sorted(): HiddenPath[] {
    const isCovered = (path: string) =>
      [...this.#kinds.keys()].some(
        (around) =>
          around !== path &&
          isInside(path, around) &&
          !this.#folders.some((folder) => isInside(folder, around) && isInside(path, folder)),
      );
    return [...this.#kinds]
      .filter(([path]) => !isCovered(path))
      .map(([path, kind]) => ({ path, kind }))
      .sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}

const homeDepth = 2;
const deeperFolders = ['.local/share'];
const maxHomeNames = 20_000;

async function addHomeSecrets(home: string, folders: readonly string[], found: FoundPaths): Promise<void> {
  const budget = { names: maxHomeNames };
  const visit = async (folder: string, depth: number) => {
    for (const entry of await entriesOf(folder, budget)) {
      const path = paths.join(folder, entry.name);
      if (folders.includes(path)) continue;
      const segments = paths.relative(home, path).split(paths.sep);
      if (isSecret(segments, entry)) await found.add(path);
      else if (entry.isDirectory() && depth > 1) await visit(path, depth - 1);
      else if (segments.length === 1 && entry.name.startsWith('.') && !entry.isDirectory())
        await found.addSettings(path);
    }
  };
  await visit(home, homeDepth);
  for (const folder of deeperFolders) await visit(paths.join(home, folder), 1);
  for (const path of homeSecretPaths) await found.add(paths.join(home, path));
  for (const path of homeSettingsPaths) await found.addSettings(paths.join(home, path));
}

/** Folders with code of others: their files are published, and their keys are examples. */
const skippedFolders: ReadonlySet<string> = new Set(
  'node_modules bower_components site-packages dist-packages __pycache__ .venv venv .tox .nox .yarn'.split(' '),
);

/** Searches the whole folder, upper levels first. Names in Git's own folder are not searched, except for the settings. */
async function addFolderSecrets(root: string, budget: { names: number }, found: FoundPaths): Promise<void> {
  const waiting = [root];
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    for (const entry of await entriesOf(folder, budget)) {
      const path = paths.join(folder, entry.name);
      if (entry.name === '.git') {
        await found.addSettings(paths.join(path, 'config'));
        await found.add(paths.join(path, 'credentials'));
      } else if (isSecret(paths.relative(root, path).split(paths.sep), entry)) await found.add(path);
      else if (entry.isDirectory() && !skippedFolders.has(entry.name)) waiting.push(path);
      else if (settingsFileNames.has(entry.name.toLowerCase())) await found.addSettings(path);
    }
  }
}

/** Tests the name. A folder is secret if any file inside would be. A link may lead to a folder. */
function isSecret(segments: readonly string[], entry: Dirent): boolean {
  if (settingsFileNames.has(entry.name.toLowerCase())) return false;
  return (
    (!entry.isDirectory() && secretFileReason(segments) !== undefined) ||
    (!entry.isFile() && secretFileReason([...segments, 'file']) !== undefined)
  );
}

/** Names of a folder within the budget, which becomes negative when they are more. None if the folder cannot be read. */
async function entriesOf(folder: string, budget: { names: number }): Promise<Dirent[]> {
  if (budget.names < 0) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const allowed = entries.slice(0, budget.names);
  budget.names -= entries.length;
  return allowed;
}

const realPathOf = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);

const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(paths.sep) ? folder : folder + paths.sep);
