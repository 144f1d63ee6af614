import { readdir, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { bracesOf, expandWord, hasGlob, unescaped } from '../shellSyntax/expandWord.ts';
import { here, type ShellWord, unknown } from '../shellSyntax/shellWords.ts';

/** What nobody means to lose: each absolute, as it is spelled and as it really is. */
export interface Everything {
  /** The person's home, the open folders, and all folders that these are in. */
  kept: ReadonlySet<string>;
  /** The open folders themselves. */
  open: ReadonlySet<string>;
  platform: string;
}

export async function everythingOf(home: string, open: readonly string[], platform: string): Promise<Everything> {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const real = (path: string) => realpath(path).catch(() => path);
  const withReal = async (all: readonly string[]) => [...all, ...(await Promise.all(all.map(real)))];
  const folders = await withReal(open);
  const kept = new Set<string>();
  for (const one of await withReal([home, ...open]))
    for (let path = style.resolve(one); !kept.has(path); path = style.dirname(path)) kept.add(path);
  return { kept, open: new Set(folders), platform };
}

/** What a word points at, seen from a folder. */
export interface Pointed {
  /** Absolute, as far as that is known: as spelled, and as the disk has it. */
  paths: string[];
  /** Folders all of whose contents it means: those of `build/*`. */
  contents: string[];
  /** Some of it only a run can tell, or it is too much to be looked through. */
  unclear: boolean;
}

export async function pointedAt(word: ShellWord, folder: string, platform: string): Promise<Pointed> {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const escapedFolder = folder.replace(/[\\*?[\]{},]/g, '\\$&');
  const pattern = word.replaceAll(here, platform === 'win32' ? folder.replaceAll('\\', '/') : escapedFolder);
  if (pattern.includes(unknown)) return { paths: [], contents: [], unclear: true };
  const spellings = bracesOf(pattern);
  if (!spellings) return { paths: [], contents: [], unclear: true };
  const pointed: Pointed = { paths: [], contents: [], unclear: false };
  for (const spelling of spellings) {
    const names = spelling.replace(/\/+$/, '').split('/');
    const last = names.pop() ?? '';
    const parent = names.length > 0 ? names.join('/') || '/' : '.';
    if (hasGlob(last) && (await isAll(last, style.resolve(folder, unescaped(parent)))))
      pointed.contents.push(...(await placesOf(parent, folder, style, true)));
    const found = await placesOf(spelling, folder, style, /\/\.?$/.test(spelling));
    pointed.paths.push(...found);
    pointed.unclear ||= found.length === 0 || found.some((path) => path.startsWith('/proc/')); // another process sees others there
  }
  return pointed;
}

/** A glob that leaves out nothing: it has no letter of its own, and where it has a choice of letters they match all there is. */
async function isAll(glob: string, folder: string): Promise<boolean> {
  const sets = /\[[^\]]+\]/g;
  if (!glob.includes('*') || /[^*?.]/.test(glob.replace(sets, ''))) return false;
  if (!sets.test(glob)) return true;
  const matched = await expandWord(glob, folder);
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => !name.startsWith('.'));
  return matched === undefined || names.every((name) => matched.includes(name));
}

/** Each path of a word, with the one that it leads to when its links are followed; of the last one only when `whole`. */
async function placesOf(word: string, folder: string, style: paths.PlatformPath, whole: boolean): Promise<string[]> {
  const all = (await expandWord(word, folder)) ?? [];
  const found = new Set<string>();
  for (const one of all) {
    const spelled = style.isAbsolute(one) ? one : `${folder}/${one}`;
    found.add(style.resolve(spelled));
    const trimmed = spelled.replace(/(.)\/+$/, '$1');
    const name = style.basename(trimmed);
    const follows = whole || name === '.' || name === '..';
    const real = await realpath(follows ? trimmed : style.dirname(trimmed)).catch(() => undefined);
    if (real !== undefined) found.add(follows ? real : style.join(real, name)); // `link/..` is not what it is spelled
  }
  return [...found];
}

/** The root, a folder in it, a home, an open folder, what one of these is in, or the history of one. */
export function isEverything(path: string, { kept, platform }: Everything): boolean {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const same = (one: string) => (platform === 'linux' ? one : one.toLowerCase());
  const all = platform === 'linux' ? kept : new Set([...kept].map(same));
  const parent = style.dirname(path);
  if (all.has(same(path)) || parent === path) return true;
  if (style.dirname(parent) === parent) return !/^(tmp|temp)$/i.test(style.basename(path));
  const history = /^(.*)[\\/]\.git(?:[\\/](?:objects|refs))?$/i.exec(path);
  return history !== null && all.has(same(history[1] || '/'));
}
