import { opendir, readdir, stat } from 'node:fs/promises';
import * as paths from 'node:path';

const maxWords = 500;
const maxNames = 20_000;
const maxBraces = 50;

/**
 * Expands braces (`{a,b}`, `{1..3}`) and globs (`*`, `?`, `[a-z]`) of one word on the current disk, relative to `folder` (absolute). A
 * backslash escapes the next character; quotes, variables and `~` are not supported. As in bash, a glob without a match stays literal, and
 * leading dots match only literally. Undefined above the limits.
 */
export async function expandWord(word: string, folder: string): Promise<string[] | undefined> {
  const words = expandBraces(word);
  if (!words) return undefined;
  const found: string[] = [];
  const budget = { names: maxNames };
  for (const one of words) {
    const matched = hasGlob(one) ? await matchesOf(one, folder, budget) : [];
    if (!matched || found.length + matched.length > maxWords) return undefined;
    found.push(...(matched.length > 0 ? matched : [unescapeShellWord(one)]));
  }
  return found;
}

export const hasGlob = (word: string): boolean => /^(?:[^\\]|\\.)*?(?:[*?]|\[[^/]+\])/s.test(word);

export const unescapeShellWord = (word: string): string => word.replace(/\\(.)/gs, '$1');

export function expandBraces(word: string): string[] | undefined {
  if (word.split('{').length > maxBraces) return undefined;
  const made: string[] = [];
  const rest = [word];
  for (let steps = 0; rest.length > 0; steps++) {
    if (steps > maxWords * 4 || made.length + rest.length > maxWords) return undefined;
    const one = rest.shift()!;
    const group = firstGroup(one);
    if (group) rest.unshift(...group);
    else made.push(one);
  }
  return made;
}

function firstGroup(word: string): string[] | undefined {
  for (let open = nextOf(word, 0, '{'); open >= 0; open = nextOf(word, open + 1, '{')) {
    if (word[open - 1] === '$') continue; // `${HOME}` is a variable
    const parts = partsFrom(word, open + 1);
    if (!parts) continue;
    const inside = word.slice(open + 1, parts.end);
    const choices = parts.choices.length > 1 ? parts.choices : sequenceOf(inside);
    if (choices) return choices.map((choice) => word.slice(0, open) + choice + word.slice(parts.end + 1));
  }
  return undefined;
}

function nextOf(word: string, from: number, letter: string): number {
  for (let at = from; at < word.length; at++) {
    if (word[at] === '\\') at++;
    else if (word[at] === letter) return at;
  }
  return -1;
}

function partsFrom(word: string, from: number): { choices: string[]; end: number } | undefined {
  const choices: string[] = [];
  let begin = from;
  let depth = 0;
  for (let at = from; at < word.length; at++) {
    const letter = word[at]!;
    if (letter === '\\') at++;
    else if (letter === '{') depth += 1;
    else if (letter === ',' && depth === 0) {
      choices.push(word.slice(begin, at));
      begin = at + 1;
    } else if (letter === '}' && depth-- === 0) return { choices: [...choices, word.slice(begin, at)], end: at };
  }
  return undefined;
}

function sequenceOf(inside: string): string[] | undefined {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$/.exec(inside);
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(inside);
  const found = numbers ?? letters;
  if (!found) return undefined;
  const [from, to] = [found[1]!, found[2]!].map((end) => (numbers ? Number(end) : end.charCodeAt(0))) as [
    number,
    number,
  ];
  const step = Math.max(1, Math.abs(Number(found[3] ?? 1)));
  const width = numbers && /^-?0\d/.test(found[1]! + found[2]!) ? Math.max(found[1]!.length, found[2]!.length) : 0;
  const count = Math.min(Math.floor(Math.abs(to - from) / step), maxWords); // one above the limit, to be detected as too many
  return Array.from({ length: count + 1 }, (_, index) => {
    const value = from + (from <= to ? 1 : -1) * step * index;
    return numbers ? String(value).padStart(width, '0') : String.fromCharCode(value);
  });
}

// Returns the paths that match a glob, in its spelling; undefined if the search is too long.
async function matchesOf(word: string, folder: string, budget: { names: number }): Promise<string[] | undefined> {
  const names = word.split('/');
  let found = [word.startsWith('/') ? '/' : ''];
  const begin = names.findIndex((name) => name !== '');
  for (const [index, name] of names.entries()) {
    if (index < begin || name === '') continue;
    const last = names.slice(index + 1).every((rest) => rest === '');
    const next: string[] = [];
    for (const parent of found) {
      const plain = unescapeShellWord(name);
      const matching = hasGlob(name) ? await namesIn(paths.resolve(folder, parent || '.'), name, budget) : [plain];
      if (!matching) return undefined;
      next.push(...matching.map((one) => parent + one + (last ? '' : '/')));
      if (next.length > maxWords) return undefined;
    }
    found = next;
  }
  const tail = /\/+$/.exec(word)?.[0] ?? '';
  const lastGlob = names.findLastIndex(hasGlob);
  const exist = names.slice(lastGlob + 1).some((name) => name !== '');
  return exist || tail !== '' ? existing(found, folder, tail) : found;
}

async function existing(found: readonly string[], folder: string, tail: string): Promise<string[]> {
  const matches: string[] = [];
  for (const one of found) {
    const at = paths.resolve(folder, one);
    const siblings = await readdir(paths.dirname(at)).catch((): string[] => []);
    const dots = /(^|\/)\.\.?$/.test(one);
    if (!dots && !siblings.includes(paths.basename(at))) continue;
    if ((dots || tail !== '') && !(await isFolder(one.startsWith('/') ? one : `${folder}/${one}`))) continue;
    matches.push(one + tail);
  }
  return matches;
}

/** @param path not normalized: `a/..` does not exist if `a` is a file */
const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

async function namesIn(folder: string, glob: string, budget: { names: number }): Promise<string[] | undefined> {
  const names: string[] = [];
  const entries = await opendir(folder).catch(() => undefined);
  try {
    for await (const { name } of entries ?? []) {
      budget.names -= 1;
      if (budget.names < 0) return undefined;
      if (matchesBashGlob(glob, name)) names.push(name);
    }
  } catch {
    return []; // deleted, or no longer a folder
  }
  return names.sort();
}

/** Tests if a glob for one name matches like in bash, in time proportional to both lengths. */
export function matchesBashGlob(glob: string, name: string): boolean {
  if (name.startsWith('.') && !/^\\?\./.test(glob)) return false;
  const tests = testsOf(glob);
  const letters = [...name];
  let [at, test, star, marked] = [0, 0, -1, 0];
  while (at < letters.length) {
    const one = tests[test];
    if (one === 'many') [star, marked, test] = [test, at, test + 1];
    else if (one?.(letters[at]!)) [at, test] = [at + 1, test + 1];
    else if (star >= 0) [at, marked, test] = [marked + 1, marked + 1, star + 1];
    else return false;
  }
  return tests.slice(test).every((one) => one === 'many');
}

type LetterTest = ((letter: string) => boolean) | 'many';

function testsOf(glob: string): LetterTest[] {
  const tests: LetterTest[] = [];
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const set = /^\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]/s.exec(rest);
    const letter = String.fromCodePoint(rest.codePointAt(0)!);
    let length = letter.length;
    if (letter === '*') tests.push('many');
    else if (letter === '?') tests.push(() => true);
    else if (set) {
      const isIn = setTest(set[2]!);
      const wanted = set[1] === '';
      tests.push((one) => isIn(one) === wanted);
      length = set[0].length;
    } else {
      const meant = letter === '\\' && rest.length > 1 ? String.fromCodePoint(rest.codePointAt(1)!) : letter;
      if (letter === '\\' && rest.length > 1) length = 1 + meant.length;
      tests.push((one) => one === meant);
    }
    at += length;
  }
  return tests;
}

const classes: Record<string, RegExp> = {
  alpha: /\p{L}/u,
  digit: /[0-9]/,
  alnum: /[\p{L}\p{N}]/u,
  lower: /\p{Ll}/u,
  upper: /\p{Lu}/u,
  punct: /[\p{P}\p{S}]/u,
  space: /\s/,
  blank: /[ \t]/,
  xdigit: /[0-9a-f]/i,
  word: /\w/,
};

// Parses the inside of `[…]`: characters, ranges and classes. An unknown class matches every character.
function setTest(inside: string): (letter: string) => boolean {
  const tests: ((letter: string) => boolean)[] = [];
  const bare = inside.replace(/\[:(\w+):\]/g, (_, name: string) => {
    tests.push((letter) => classes[name]?.test(letter) ?? true);
    return '';
  });
  const letters = [...bare.replace(/\\(.)/gs, '$1')];
  const code = (letter: string) => letter.codePointAt(0)!;
  for (let at = 0; at < letters.length; at++) {
    const isRange = letters[at + 1] === '-' && letters[at + 2] !== undefined;
    const [from, to] = [letters[at]!, letters[isRange ? at + 2 : at]!].map(code) as [number, number];
    tests.push((letter) => from <= code(letter) && code(letter) <= to);
    if (isRange) at += 2;
  }
  return (letter) => tests.some((test) => test(letter));
}
