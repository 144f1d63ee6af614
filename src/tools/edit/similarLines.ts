import type { MatchedLines } from './lineMatches.ts';
import { normalizeLineForMatch } from './normalizeText.ts';
import {
  lineSimilarity,
  maxLineShift,
  minLineSimilarity,
  type SimilarityLine,
  toSimilarityLine,
} from './similarity.ts';

const maxLines = 32;
// A single line is always allowed to differ.
const maxChanged = 0.3;

/**
 * Returns the first line (from 0) of another run that an edit may mean despite a tolerant match at `found`: most lines are present with
 * changes, and the differences at `found` (blank lines, trailing blanks, typography, one similar line) match exactly there. The match at
 * `found` is then the twin.
 */
export function findCompetingLines(
  texts: readonly string[],
  old: readonly string[],
  found: MatchedLines,
): number | undefined {
  const differences = differencesOf(texts, old, found);
  return differences.length === 0 ? undefined : twinOf(texts, old, found.at, differences);
}

/** Returns the first line (from 0) of a run near `found` with most of these lines, some of them changed. */
export const findNearbySimilarLines = (
  texts: readonly string[],
  old: readonly string[],
  found: readonly number[],
): number | undefined => twinOf(texts, old, found, []);

function twinOf(
  texts: readonly string[],
  old: readonly string[],
  found: readonly number[],
  differences: readonly Difference[],
): number | undefined {
  const taken = new Set(found);
  const wanted = old.map((line, index) => toSimilarityLine(line, index === 0 && old.length > 1));
  const own = ownLines(texts, taken);
  const lines = [...old.keys()].filter((line) => old[line]!.trim() !== '').slice(0, maxLines);
  let best: { at: number; score: number } | undefined;
  for (const at of positions(lines, wanted, texts, own)) {
    const pairs = lines.map((line) => ({ line, ...nearest(wanted[line]!, own, at + line) }));
    const changed = pairs.filter(({ like }) => like < 1).length;
    const score = pairs.reduce((sum, { like }) => sum + like, 0) / pairs.length;
    if (changed > Math.max(1, pairs.length * maxChanged) || score < minLineSimilarity || score <= (best?.score ?? 0))
      continue;
    const indexOfLine = new Map(pairs.map(({ line, index }) => [line, index]));
    if (differences.every((difference) => difference(indexOfLine, texts))) best = { at, score };
  }
  return best && Math.max(0, best.at);
}

// Tests if a run matches the edit exactly where the found run does not. `indexOfLine` maps lines of the edit to lines of the run.
type Difference = (indexOfLine: ReadonlyMap<number, number>, texts: readonly string[]) => boolean;

function differencesOf(
  texts: readonly string[],
  old: readonly string[],
  { at, gaps, similar }: MatchedLines,
): Difference[] {
  const differences: Difference[] = [];
  for (const [line, written] of old.entries()) {
    const current = texts[at[line]!];
    if (current === undefined || written.trim() === '') continue;
    const differs = (of: (text: string) => string) => {
      if (of(written) === of(current)) return;
      differences.push((indexOfLine, texts) => of(texts[indexOfLine.get(line) ?? -1] ?? '\0') === of(written));
    };
    differs(trailingBlanks);
    if (similar.has(line)) differs(normalizeLineForMatch);
    else differs(typography);
  }
  for (const [before, after] of gaps) {
    const blanks = after - before - 1;
    differences.push((indexOfLine, texts) => {
      const isBlank = (index: number) => texts[index]?.trim() === '';
      const isGap = (start: number) =>
        !isBlank(start) &&
        Array.from({ length: blanks }, (_, index) => start + 1 + index).every(isBlank) &&
        !isBlank(start + blanks + 1);
      const [start, end] = [indexOfLine.get(before), indexOfLine.get(after)];
      return (start !== undefined && isGap(start)) || (end !== undefined && isGap(end - blanks - 1));
    });
  }
  return differences;
}

const trailingBlanks = (text: string) => /[ \t]*$/.exec(text)![0];
// Returns the characters that normalization replaces: typographic quotes, dashes, special blanks.
const typography = (text: string) =>
  text.trim() === normalizeLineForMatch(text) ? '' : text.replaceAll(/[\x20-\x7e\t]/g, '');

function positions(
  lines: readonly number[],
  wanted: readonly SimilarityLine[],
  texts: readonly string[],
  own: OwnLines,
): ReadonlySet<number> {
  const found = new Set<number>();
  const isSame = lines.length > 1;
  for (const [index, text] of texts.entries()) {
    const trimmed = isSame ? normalizeLineForMatch(text) : undefined;
    for (const line of lines) {
      if (isSame && wanted[line]!.text !== trimmed) continue;
      const words = own(index);
      if (words && lineSimilarity(wanted[line]!, words) >= (isSame ? 1 : minLineSimilarity)) found.add(index - line);
    }
  }
  return found;
}

// Lazily compared line of the file; undefined for lines of the found run.
type OwnLines = (index: number) => SimilarityLine | undefined;

function ownLines(texts: readonly string[], taken: ReadonlySet<number>): OwnLines {
  const known = new Map<number, SimilarityLine>();
  return (index) => {
    const text = texts[index];
    if (text === undefined || taken.has(index)) return undefined;
    const words = known.get(index) ?? toSimilarityLine(text);
    known.set(index, words);
    return words;
  };
}

function nearest(wanted: SimilarityLine, own: OwnLines, at: number): { like: number; index: number } {
  let best = { like: 0, index: at };
  for (let step = 0; step <= maxLineShift * 2; step++) {
    const index = at + (step % 2 === 0 ? -step / 2 : (step + 1) / 2);
    const words = own(index);
    const like = words ? lineSimilarity(wanted, words) : 0;
    if (like > best.like) best = { like, index };
  }
  return best;
}

export const isInexact = (texts: readonly string[], old: readonly string[], run: MatchedLines): boolean =>
  differencesOf(texts, old, run).length > 0;
