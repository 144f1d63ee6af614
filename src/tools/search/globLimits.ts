import { createGlobMatcher, type GlobBracketMeaning, type GlobPart, parseGlobParts } from '../core/glob.ts';

const maxSpellings = 64;

export interface RipgrepExclusions {
  options: string[];
  ignored?: string[];
}

/**
 * Returns exclusions of files and folders that a glob cannot match. The workspace's ignore files still apply (ripgrep's own `--glob` would
 * override them). The result is a superset of the matches, so matches must be tested. `prefix` is the folder's path prefix in the
 * workspace, or ''.
 */
export function globToRipgrepExclusions(glob: string, prefix = '', brackets?: GlobBracketMeaning): RipgrepExclusions {
  const names = prefix.split('/').filter(Boolean);
  const wanted = spelled(parseGlobParts(glob, brackets))
    ?.map(segmentsOf)
    .flatMap((own) => (names.length > 0 ? [own, ...names.reduce(below, [own])] : [own]))
    .filter((segments) => segments.length > 0);
  const isAnything = (segments: readonly string[]) =>
    segments[0] === '**' && segments.slice(1).every((one) => one === '**' || one === '*');
  if (!wanted || wanted.some(isAnything)) return { options: [] };
  // If no folder can be excluded, a file type of ripgrep is faster, and so are lines about few files.
  if (wanted.every((segments) => segments[0] === '**' && !/^\*\*?$/.test(segments.at(-1)!))) {
    const last = [...new Set(wanted.map((segments) => segments.at(-1)!))];
    const options = [...last.map((name) => `--type-add=wanted:${name}`), '--type=wanted'];
    if (wanted.every((segments) => segments.length === 2)) return { options };
    const lines = wanted.map((segments) => `!/${segments.join('/')}`);
    return { options, ignored: [...last.flatMap((name) => [name, `!${name}/`]), ...new Set(lines)] };
  }
  return { options: [], ignored: ['*', ...new Set(wanted.flatMap(linesOf))] };
}

type Spelling = Exclude<GlobPart, { kind: 'either' }>[];

function spelled(parts: readonly GlobPart[]): Spelling[] | undefined {
  let all: Spelling[] = [[]];
  for (const part of parts) {
    const choices = part.kind === 'either' ? part.parts.map(spelled) : [[[part]]];
    if (choices.includes(undefined)) return undefined;
    all = all.flatMap((before) => choices.flatMap((ones) => ones!.map((one) => [...before, ...one])));
    if (all.length > maxSpellings) return undefined;
  }
  return all;
}

// Literal characters of an ignore file; others may have a special meaning.
const ordinary = /^[\p{L}\p{N}\p{M}_.@+=~-]$/u;

function segmentsOf(spelling: Spelling): string[] {
  const segments: string[] = [];
  let name = '';
  for (const part of spelling) {
    if (part.kind === 'folders' && name === '') segments.push('**');
    else if (part.kind === 'letter' && part.letter === '/' && name !== '') {
      segments.push(name);
      name = '';
    } else if (part.kind === 'star' || (part.kind === 'letter' && part.letter !== '/')) {
      const letter = part.kind === 'letter' && ordinary.test(part.letter ?? '') ? part.letter! : '*';
      if (letter !== '*' || !name.endsWith('*')) name += letter;
    } else return [...segments, '**'];
  }
  return name === '' ? [...segments, '**'] : [...segments, name];
}

function below(all: readonly string[][], name: string): string[][] {
  return all.flatMap(([first, ...rest]): string[][] => {
    if (first === undefined) return [];
    if (first === '**') return [[first, ...rest], ...below([rest], name)];
    return createGlobMatcher(first)(name) ? [rest] : [];
  });
}

function linesOf(segments: readonly string[]): string[] {
  const deep = segments.indexOf('**');
  const folders = segments.slice(0, deep < 0 ? -1 : deep + 1).map((_, at) => segments.slice(0, at + 1));
  return [...folders.map((names) => `!/${names.join('/')}/`), `!/${segments.join('/')}`];
}
