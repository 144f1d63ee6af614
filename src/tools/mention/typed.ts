import type { Mention } from '../../protocol/content/mention.ts';

type KindOf = (path: string) => Promise<'file' | 'folder' | undefined>;

const wholes = ['selection', 'problems', 'changes', 'terminal'] as const;
// Characters of code: arguments of a decorator, a version, a type, an address.
const code = /[@(){}<>[\]"'`=,;*?|\\]|:\/\//;
const punctuation = /[.,;:!?)\]}"'’”…]+$/u;
export const withoutPunctuation = (word: string): string => word.replace(punctuation, '');

const lines = /^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/;

/**
 * Returns the meaning of a word after `@`, as if picked from the list. `unknown`: a missing path below an existing folder, or a missing
 * file with a known extension. Undefined for plain text: a decorator, a package, a user name. An unknown mention is only marked, so a wrong
 * guess does not change the message.
 * @param extensions of files in the workspace, in lower case, without the dot
 */
export async function resolveTypedMention(
  word: string,
  kindOf: KindOf,
  extensions: (extension: string) => boolean,
): Promise<Mention | 'unknown' | undefined> {
  const typed = word.replace(/^@/, '');
  const bare = withoutPunctuation(typed);
  for (const name of new Set([typed, bare])) {
    const mention = await mentionOf(name, kindOf);
    if (mention) return mention;
  }
  return (await isMeant(bare, kindOf, extensions)) ? 'unknown' : undefined;
}

async function mentionOf(name: string, kindOf: KindOf): Promise<Mention | undefined> {
  const whole = wholes.find((one) => one === name);
  if (whole) return { kind: whole };
  if (!isPath(name) || !/[./]/.test(name)) return undefined; // a single word may be a decorator or a user name
  const path = name.replace(/\/$/, '');
  const kind = await kindOf(path);
  if (kind === 'folder' || (kind === 'file' && path === name)) return { kind, path };
  const [, file, from, to = from] = lines.exec(name) ?? [];
  if (file === undefined || Number(from) < 1 || Number(to) < Number(from)) return undefined;
  return (await kindOf(file)) === 'file'
    ? { kind: 'lines', path: file, from: Number(from), to: Number(to) }
    : undefined;
}

const isPath = (name: string): boolean =>
  name !== '' && !code.test(name) && !name.startsWith('/') && !/(^|\/)\.{0,2}(\/|$)/.test(name.replace(/\/$/, ''));

async function isMeant(name: string, kindOf: KindOf, extensions: (extension: string) => boolean): Promise<boolean> {
  if (!isPath(name)) return false;
  const path = lines.exec(name)?.[1] ?? name;
  const slash = path.indexOf('/');
  if (slash > 0) return (await kindOf(path.slice(0, slash))) === 'folder';
  const extension = /[^.]\.(\w{1,12})$/.exec(path)?.[1];
  return extension !== undefined && extensions(extension.toLowerCase());
}
