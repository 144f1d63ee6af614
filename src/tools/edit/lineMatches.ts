import { editDistance } from '../core/didYouMean.ts';
import { diffSequences } from './diff.ts';
import { normalizeLineForMatch } from './normalizeText.ts';

/**
 * Match of an edit's lines in a file. `at` holds the file line for each line of the edit, -1 for a blank line missing in the file.
 * `similar` are lines with small differences, which may stay but never change. `gaps` are neighbors with another number of blank lines in
 * between: [before, after].
 */
export interface MatchedLines {
  at: number[];
  similar: Set<number>;
  gaps: [number, number][];
}

// Minimum similarity of a differing line, and the lines required for each such line.
const similarity = 0.85;
const linesForOneSimilar = 10;

/**
 * Returns all possible matches of the best available kind: equal lines; lines equal except for trailing blanks, typography and blank lines
 * in between; lines of which a tenth is only similar.
 */
export function findLineMatches(texts: readonly string[], old: readonly string[]): MatchedLines[] {
  const wanted = old.map(normalizeLineForMatch);
  const own = texts.map(normalizeLineForMatch);
  const ours = indicesOfText(wanted);
  const theirs = indicesOfText(own);
  if (ours.length === 0) return [];
  const found = (allowed: number): MatchedLines[] => {
    const runs: MatchedLines[] = [];
    for (let first = 0; first + ours.length <= theirs.length; first++) {
      const similar = compare(wanted, own, ours, theirs, first, allowed);
      if (similar) runs.push({ ...align(wanted, own, ours, theirs, first), similar });
    }
    return runs;
  };
  const equal = found(0);
  const same = equal.filter(
    (run) => run.gaps.length === 0 && old.every((text, index) => text === texts[run.at[index]!]),
  );
  for (const runs of [same, equal]) if (runs.length > 0) return runs;
  const allowed = Math.floor(old.length / linesForOneSimilar);
  const near = allowed > 0 ? found(allowed) : [];
  // A possible twin makes another match ambiguous, but is no match itself.
  const [only] = near.length === 1 ? near : [];
  const slips = [...(only?.similar ?? [])].every((line) => differBySlips(wanted[line]!, own[only!.at[line]!]!));
  return slips ? near : [];
}

const indicesOfText = (lines: readonly string[]) => lines.flatMap((line, index) => (line === '' ? [] : [index]));

// Returns the lines that are only similar; undefined if the run does not match.
function compare(
  wanted: readonly string[],
  own: readonly string[],
  ours: readonly number[],
  theirs: readonly number[],
  first: number,
  allowed: number,
): Set<number> | undefined {
  const different: number[] = [];
  for (const [index, line] of ours.entries()) {
    if (wanted[line] === own[theirs[first + index]!]) continue;
    if (different.push(index) > allowed) return undefined;
  }
  if (!different.every((index) => areSimilar(wanted[ours[index]!]!, own[theirs[first + index]!]!))) return undefined;
  return new Set(different.map((index) => ours[index]!));
}

// Compares two lines; a pure difference of case is another name.
function areSimilar(a: string, b: string): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return false;
  const longest = Math.max(a.length, b.length);
  if (Math.abs(a.length - b.length) > longest * (1 - similarity)) return false;
  return 1 - distanceOf(a, b) / longest >= similarity;
}

/**
 * Tests for typing slips only. Another number, an extra word, a word with several other letters (`Uint16Array`, `readFileSync`) or several
 * other marks is no slip.
 */
function differBySlips(a: string, b: string): boolean {
  if (distanceOf(a, b) === 1) return a.replaceAll(/\p{N}/gu, '') !== b.replaceAll(/\p{N}/gu, '');
  const [ours = [], theirs = []] = [a, b].map((line): string[] => line.match(/[\p{L}\p{N}\p{M}_$]+|\S/gu) ?? []);
  const pairs = diffSequences(ours, theirs).flatMap((hunk) => {
    const words = ours.slice(hunk.fromStart, hunk.fromEnd);
    const others = theirs.slice(hunk.toStart, hunk.toEnd);
    return (words.length > others.length ? words : others).map((_, index) => [words[index], others[index]] as const);
  });
  const marks = pairs.filter((pair) => !isQuotes(pair) && pair.some((one) => one && !/[\p{L}\p{N}]/u.test(one)));
  return marks.length <= 1 && pairs.every((pair) => isSlip(...pair));
}

// Other quotes around the same text count as one slip, although two characters differ.
const isQuotes = (pair: readonly (string | undefined)[]) =>
  pair.every((one) => one !== undefined && /^['"`]$/.test(one));

function isSlip(a = '', b = ''): boolean {
  if (a === '' || b === '') return !/[\p{L}\p{N}]/u.test(a + b);
  const [ours, theirs] = [a, b].map((word) => word.replaceAll(/\p{N}/gu, ''));
  const distance = distanceOf(a, b);
  if (ours === theirs) return false; // only the number differs
  return distance <= (a.length < 8 ? 1 : 2) || (distance === 2 && [...a].sort().join() === [...b].sort().join());
}

function distanceOf(a: string, b: string): number {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return editDistance(a.slice(start, a.length - end), b.slice(start, b.length - end));
}

function align(
  wanted: readonly string[],
  own: readonly string[],
  ours: readonly number[],
  theirs: readonly number[],
  first: number,
): Pick<MatchedLines, 'at' | 'gaps'> {
  const at = wanted.map(() => -1);
  const gaps: MatchedLines['gaps'] = [];
  for (const [index, line] of ours.entries()) at[line] = theirs[first + index]!;
  for (let index = 1; index < ours.length; index++) {
    const [before, after] = [ours[index - 1]!, ours[index]!];
    const blanks = at[after]! - at[before]! - 1;
    for (let blank = 1; before + blank < after && blank <= blanks; blank++) at[before + blank] = at[before]! + blank;
    if (blanks !== after - before - 1) gaps.push([before, after]);
  }
  const top = ours[0]!;
  for (let line = top - 1; line >= 0 && own[at[line + 1]! - 1] === ''; line--) at[line] = at[line + 1]! - 1;
  if (at.slice(0, top).includes(-1)) gaps.push([-1, top]);
  const end = ours.at(-1)!;
  for (let line = end + 1; line < wanted.length && own[at[line - 1]! + 1] === ''; line++) at[line] = at[line - 1]! + 1;
  if (at.slice(end).includes(-1)) gaps.push([end, wanted.length]);
  return { at, gaps };
}

/** Returns the start of the lines with most of the wanted words, for the error message; undefined if few match. */
export function findClosestLines(texts: readonly string[], old: readonly string[]): number | undefined {
  if (texts.length > 50_000) return undefined;
  const words = (line: string) =>
    new Set(
      normalizeLineForMatch(line)
        .toLowerCase()
        .match(/[\p{L}\p{N}_]+/gu) ?? [],
    );
  const wanted = old.slice(0, 20).map(words);
  const own = texts.map(words);
  let best: { at: number; score: number } | undefined;
  for (let at = 0; at < own.length; at++) {
    let score = 0;
    for (const [index, ours] of wanted.entries()) {
      const theirs = own[at + index];
      if (!theirs || ours.size === 0) continue;
      let common = 0;
      for (const word of ours) if (theirs.has(word)) common += 1;
      score += common / Math.max(ours.size, theirs.size);
    }
    if (score > 0.3 && score > (best?.score ?? 0)) best = { at, score };
  }
  return best?.at;
}
