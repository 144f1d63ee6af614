import { type Brackets, type GlobPart, globParts, globTest } from '../core/glob.ts';

/** More spellings than this, of the groups in braces, are not written out. */
const mostSpellings = 64;

/** How ripgrep is kept from what a glob cannot match: by its options, and by the lines of one more ignore file. */
export interface GlobLimits {
  options: string[];
  ignored?: string[];
}

/**
 * What ripgrep need not look at for a glob: it neither reads it nor goes into its folders, and the workspace's own ignore files count as
 * before (a match of ripgrep's own `--glob` overrides them). Wider than the glob here and there, never narrower: what comes
 * is still to be tested. `prefix` is what the paths of the folder begin with in the workspace, or ''.
 */
export function globLimits(glob: string, prefix = '', brackets?: Brackets): GlobLimits {
  const names = prefix.split('/').filter(Boolean);
  const wanted = spelled(globParts(glob, brackets))
    ?.map(segmentsOf)
    .flatMap((own) => (names.length > 0 ? [own, ...names.reduce(below, [own])] : [own]))
    .filter((segments) => segments.length > 0);
  const isAnything = (segments: readonly string[]) =>
    segments[0] === '**' && segments.slice(1).every((one) => one === '**' || one === '*');
  if (!wanted || wanted.some(isAnything)) return { options: [] };
  // Where no folder can be left out, a name is what ripgrep calls a type: it is sooner done with that, and with lines about few files.
  if (wanted.every((segments) => segments[0] === '**' && !/^\*\*?$/.test(segments.at(-1)!))) {
    const last = [...new Set(wanted.map((segments) => segments.at(-1)!))];
    const options = [...last.map((name) => `--type-add=wanted:${name}`), '--type=wanted'];
    if (wanted.every((segments) => segments.length === 2)) return { options };
    const lines = wanted.map((segments) => `!/${segments.join('/')}`);
    return { options, ignored: [...last.flatMap((name) => [name, `!${name}/`]), ...new Set(lines)] };
  }
  return { options: [], ignored: ['*', ...new Set(wanted.flatMap(linesOf))] };
}

/** A glob without groups: letters, and what stands for others. */
type Spelling = Exclude<GlobPart, { kind: 'either' }>[];

/** Each choice of each group written out; undefined when they are too many. */
function spelled(parts: readonly GlobPart[]): Spelling[] | undefined {
  let all: Spelling[] = [[]];
  for (const part of parts) {
    const choices = part.kind === 'either' ? part.parts.map(spelled) : [[[part]]];
    if (choices.includes(undefined)) return undefined;
    all = all.flatMap((before) => choices.flatMap((ones) => ones!.map((one) => [...before, ...one])));
    if (all.length > mostSpellings) return undefined;
  }
  return all;
}

/** Letters that mean themselves in an ignore file wherever they are; any other, and a set of letters, may be anything here. */
const ordinary = /^[\p{L}\p{N}\p{M}_.@+=~-]$/u;

/** The names of a spelling from the top, `**` for any number of them; one that is not sure to be one name ends it as `**`. */
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

/** What is left of them below a folder of this name. */
function below(all: readonly string[][], name: string): string[][] {
  return all.flatMap(([first, ...rest]): string[][] => {
    if (first === undefined) return [];
    if (first === '**') return [[first, ...rest], ...below([rest], name)];
    return globTest(first)(name) ? [rest] : [];
  });
}

/** The folders on the way, then what is meant in them. */
function linesOf(segments: readonly string[]): string[] {
  const deep = segments.indexOf('**');
  const folders = segments.slice(0, deep < 0 ? -1 : deep + 1).map((_, at) => segments.slice(0, at + 1));
  return [...folders.map((names) => `!/${names.join('/')}/`), `!/${segments.join('/')}`];
}
