import { indentOf } from './indent.ts';
import { comparedLine, likeEnough, likenessRow, maxAround, starts } from './similarity.ts';

/** Lines of a file in which rivals are looked for, and lines of the edit, of each kind, that are looked at. */
export const maxFileLines = 50_000;
const mostLines = 16;
const linesForOneSame = 2;
/** Of a line without words: brackets are alike everywhere. */
const lightWeight = 0.25;
/**
 * Another place that an edit may mean, which was found at `found` (a line of the file for each of its lines, -1 for none)
 * and of which these lines were `shifted` there: nearly the same lines, indented as they were written. Somebody changed them
 * since, and what was found is their twin. Its first line, counted from 0; undefined: there is none.
 */
export function rivalOf(
  texts: readonly string[],
  old: readonly string[],
  found: readonly number[],
  shifted: readonly number[],
): number | undefined {
  const taken = new Set(found);
  const own = texts.map((text, index) => (taken.has(index) ? undefined : comparedLine(text)));
  const standing = [...old.keys()].filter((line) => old[line]!.trim() !== '' && !shifted.includes(line));
  const lines = [...shifted.slice(0, mostLines), ...standing.slice(0, mostLines)];
  const wanted = lines.map((line) => {
    const words = comparedLine(old[line]!, line === 0 && old.length > 1);
    const row = likenessRow(words, own);
    const telling = words.words.size > 0 && shifted.includes(line);
    return { line, row, near: maxAround(row), weight: words.words.size > 0 ? 1 : lightWeight, telling };
  });
  const moved = wanted.filter(({ line }) => shifted.includes(line));
  const telling = wanted.filter((one) => one.telling);
  let best: { at: number; score: number } | undefined;
  for (const at of new Set(telling.flatMap(({ line, row }) => starts(line, row)))) {
    const like = ({ line, near }: Wanted) => near[at + line] ?? 0;
    if (telling.length >= linesForOneSame && !telling.some((one) => like(one) === 1)) continue;
    const part = (of: readonly Wanted[]) => sumOf(of, (one) => one.weight * like(one)) / sumOf(of, (one) => one.weight);
    const score = Math.min(part(moved), part(wanted));
    if (score >= likeEnough && score > (best?.score ?? 0)) best = { at, score };
  }
  return best && Math.max(0, best.at);
}

interface Wanted {
  line: number;
  /** How alike each line of the file is, and the most around each. */
  row: Float32Array;
  near: Float32Array;
  weight: number;
}

const sumOf = <One>(all: readonly One[], of: (one: One) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

/**
 * The lines of an edit that stand deeper or less deep where they were found, if all do. One that stands as written says that
 * it is the place, and that the others lost their indentation on the way; but not one at the margin (`#endif`). Of several
 * the first does not count: it may be written from where its words begin.
 */
export function shiftedLines(texts: readonly string[], old: readonly string[], found: readonly number[]): number[] {
  const indents = (line: number): [string, string] => [indentOf(old[line]!), indentOf(texts[found[line]!]!)];
  const lines = [...old.keys()].filter((line) => old[line]!.trim() !== '' && (found[line] ?? -1) >= 0);
  const inside = lines.filter((line) => indents(line).some((indent) => indent !== ''));
  const counted = lines.length > 1 ? inside.filter((line) => line !== lines[0]) : inside;
  const shifted = ([written, there]: [string, string]) => written !== there;
  return counted.length > 0 && counted.every((line) => shifted(indents(line))) ? inside : [];
}
