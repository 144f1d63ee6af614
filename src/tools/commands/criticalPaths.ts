import { readdir, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { expandBraces, expandWord, hasGlob, unescapeShellWord } from '../shellSyntax/expandWord.ts';
import { type ShellWord, unknownShellTextPlaceholder, workingFolderPlaceholder } from '../shellSyntax/shellWords.ts';

/**
 * Paths that must not be destroyed, absolute, in their spelling and as real paths. `criticalFolders` holds the home folder, the open
 * folders and all their parents; `open` only the open folders.
 */
export interface CriticalPaths {
  criticalFolders: ReadonlySet<string>;
  open: ReadonlySet<string>;
  platform: string;
}

export async function collectCriticalPaths(
  home: string,
  open: readonly string[],
  platform: string,
): Promise<CriticalPaths> {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const real = (path: string) => realpath(path).catch(() => path);
  const withReal = async (all: readonly string[]) => [...all, ...(await Promise.all(all.map(real)))];
  const folders = await withReal(open);
  const criticalFolders = new Set<string>();
  for (const one of await withReal([home, ...open]))
    for (let path = style.resolve(one); !criticalFolders.has(path); path = style.dirname(path))
      criticalFolders.add(path);
  return { criticalFolders, open: new Set(folders), platform };
}

/**
 * Target of a word, seen from a folder. `paths` are absolute: the spelling and the real path. `contents` are folders whose whole contents
 * are meant: `build` for `build/*`. `unclear`: part of the target is known only at execution, or too large to check.
 */
export interface ShellWordTargets {
  paths: string[];
  contents: string[];
  unclear: boolean;
}

export async function resolveShellWordTargets(
  word: ShellWord,
  folder: string,
  platform: string,
): Promise<ShellWordTargets> {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const escapedFolder = folder.replace(/[\\*?[\]{},]/g, '\\$&');
  const pattern = word.replaceAll(
    workingFolderPlaceholder,
    platform === 'win32' ? folder.replaceAll('\\', '/') : escapedFolder,
  );
  if (pattern.includes(unknownShellTextPlaceholder)) return { paths: [], contents: [], unclear: true };
  const spellings = expandBraces(pattern);
  if (!spellings) return { paths: [], contents: [], unclear: true };
  const pointed: ShellWordTargets = { paths: [], contents: [], unclear: false };
  for (const spelling of spellings) {
    const names = spelling.replace(/\/+$/, '').split('/');
    const last = names.pop() ?? '';
    const parent = names.length > 0 ? names.join('/') || '/' : '.';
    if (hasGlob(last) && (await isAll(last, style.resolve(folder, unescapeShellWord(parent)))))
      pointed.contents.push(...(await pathsOfWord(parent, folder, style, true)));
    const found = await pathsOfWord(spelling, folder, style, /\/\.?$/.test(spelling));
    pointed.paths.push(...found);
    pointed.unclear ||= found.length === 0 || found.some((path) => path.startsWith('/proc/')); // another process sees other files there
  }
  return pointed;
}

async function isAll(glob: string, folder: string): Promise<boolean> {
  const sets = /\[[^\]]+\]/g;
  if (!glob.includes('*') || /[^*?.]/.test(glob.replace(sets, ''))) return false;
  if (!sets.test(glob)) return true;
  const matched = await expandWord(glob, folder);
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => !name.startsWith('.'));
  return matched === undefined || names.every((name) => matched.includes(name));
}

// Returns each path of a word and its link target; the last segment is followed only if `whole`.
async function pathsOfWord(word: string, folder: string, style: paths.PlatformPath, whole: boolean): Promise<string[]> {
  const all = (await expandWord(word, folder)) ?? [];
  const found = new Set<string>();
  for (const one of all) {
    const spelled = style.isAbsolute(one) ? one : `${folder}/${one}`;
    found.add(style.resolve(spelled));
    const trimmed = spelled.replace(/(.)\/+$/, '$1');
    const name = style.basename(trimmed);
    const follows = whole || name === '.' || name === '..';
    const real = await realpath(follows ? trimmed : style.dirname(trimmed)).catch(() => undefined);
    if (real !== undefined) found.add(follows ? real : style.join(real, name)); // `link/..` differs from its spelling
  }
  return [...found];
}

/** Tests for the root, its direct subfolders, a home, an open folder, a parent of these, or the Git history of an open folder. */
export function isCriticalPath(path: string, { criticalFolders, platform }: CriticalPaths): boolean {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const same = (one: string) => (platform === 'linux' ? one : one.toLowerCase());
  const all = platform === 'linux' ? criticalFolders : new Set([...criticalFolders].map(same));
  const parent = style.dirname(path);
  if (all.has(same(path)) || parent === path) return true;
  if (style.dirname(parent) === parent) return !/^(tmp|temp)$/i.test(style.basename(path));
  const history = /^(.*)[\\/]\.git(?:[\\/](?:objects|refs))?$/i.exec(path);
  return history !== null && all.has(same(history[1] || '/'));
}
