import { leadingWhitespace } from './indent.ts';
import {
  lineSimilarityRow,
  minLineSimilarity,
  nearbySimilarityMaxima,
  possibleEditStarts,
  toSimilarityLine,
} from './similarity.ts';

/**
 * Maximum lines of a file to search for a rival, maximum lines of an edit to compare (of each kind), and lines of evidence per changed
 * line.
 */
export const maxMatchedFileLines = 50_000;
const maxLines = 16;
const linesForOneSame = 2;
// Weight of lines without words: brackets look alike everywhere.
const lightWeight = 0.25;
/**
 * Returns another position that an edit may mean: nearly the same lines with the written indentation, changed since. The match at `found`
 * (file line per edit line, -1 for none) with `shifted` lines is then only a twin. Returns the first line, counted from 0; undefined if
 * there is none.
 */
export function findAmbiguousMatch(
  texts: readonly string[],
  old: readonly string[],
  found: readonly number[],
  shifted: readonly number[],
): number | undefined {
  const taken = new Set(found);
  const own = texts.map((text, index) => (taken.has(index) ? undefined : toSimilarityLine(text)));
  const standing = [...old.keys()].filter((line) => old[line]!.trim() !== '' && !shifted.includes(line));
  const lines = [...shifted.slice(0, maxLines), ...standing.slice(0, maxLines)];
  const wanted = lines.map((line) => {
    const words = toSimilarityLine(old[line]!, line === 0 && old.length > 1);
    const row = lineSimilarityRow(words, own);
    const isDistinctive = words.words.size > 0 && shifted.includes(line);
    return {
      line,
      row,
      near: nearbySimilarityMaxima(row),
      weight: words.words.size > 0 ? 1 : lightWeight,
      telling: isDistinctive,
    };
  });
  const moved = wanted.filter(({ line }) => shifted.includes(line));
  const isDistinctive = wanted.filter((one) => one.telling);
  let best: { at: number; score: number } | undefined;
  for (const at of new Set(isDistinctive.flatMap(({ line, row }) => possibleEditStarts(line, row)))) {
    const like = ({ line, near }: Wanted) => near[at + line] ?? 0;
    if (isDistinctive.length >= linesForOneSame && !isDistinctive.some((one) => like(one) === 1)) continue;
    const part = (of: readonly Wanted[]) => sumOf(of, (one) => one.weight * like(one)) / sumOf(of, (one) => one.weight);
    const score = Math.min(part(moved), part(wanted));
    if (score >= minLineSimilarity && score > (best?.score ?? 0)) best = { at, score };
  }
  return best && Math.max(0, best.at);
}

interface Wanted {
  line: number;
  row: Float32Array;
  near: Float32Array;
  weight: number;
}

const sumOf = <One>(all: readonly One[], of: (one: One) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

/**
 * Returns the edit's lines with another indentation in the file, if all lines differ. A line with the written indentation proves the
 * position, except at the margin (`#endif`). The first of several lines is ignored: the text may be written without indentation.
 */
export function reindentedEditLines(
  texts: readonly string[],
  old: readonly string[],
  found: readonly number[],
): number[] {
  const indents = (line: number): [string, string] => [
    leadingWhitespace(old[line]!),
    leadingWhitespace(texts[found[line]!]!),
  ];
  const lines = [...old.keys()].filter((line) => old[line]!.trim() !== '' && (found[line] ?? -1) >= 0);
  const inside = lines.filter((line) => indents(line).some((indent) => indent !== ''));
  const counted = lines.length > 1 ? inside.filter((line) => line !== lines[0]) : inside;
  const shifted = ([written, current]: [string, string]) => written !== current;
  return counted.length > 0 && counted.every((line) => shifted(indents(line))) ? inside : [];
}
