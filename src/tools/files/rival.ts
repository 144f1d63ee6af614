import { editDistance } from '../nearest.ts';
import { foldedLine } from './fold.ts';
import { indentOf } from './indent.ts';

/** Lines of a file in which rivals are looked for, and lines of the edit, of each kind, that are looked at. */
export const mostFileLines = 50_000;
const mostLines = 16;
/** How much of its words a place has to have, and from how many lines on one of them has to be the very same. */
const nearly = 0.5;
const linesForOneSame = 2;
/** Lines of few words are compared by their letters, too, of which nearly all have to be there. */
const fewWords = 2;
const shortLine = 80;
const nearlyAll = 0.75;
/** 1 is the very same. */
const mostUnequal = 0.99;
/** Of a line without words: brackets are alike everywhere. */
const lightWeight = 0.25;
/** Lines that somebody may have put in between, or taken away. */
const slack = 3;

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
  const own = texts.map((text, index) => (taken.has(index) ? undefined : read(text, false)));
  const standing = [...old.keys()].filter((line) => old[line]!.trim() !== '' && !shifted.includes(line));
  const lines = [...shifted.slice(0, mostLines), ...standing.slice(0, mostLines)];
  const wanted = lines.map((line) => {
    const words = read(old[line]!, line === 0 && old.length > 1);
    const row = rowOf(words, own);
    const telling = words.words.size > 0 && shifted.includes(line);
    return { line, row, near: mostAround(row), weight: words.words.size > 0 ? 1 : lightWeight, telling };
  });
  const moved = wanted.filter(({ line }) => shifted.includes(line));
  const telling = wanted.filter((one) => one.telling);
  let best: { at: number; score: number } | undefined;
  for (const at of new Set(telling.flatMap(({ line, row }) => beginnings(line, row)))) {
    const like = ({ line, near }: Wanted) => near[at + line] ?? 0;
    if (telling.length >= linesForOneSame && !telling.some((one) => like(one) === 1)) continue;
    const part = (of: readonly Wanted[]) => sumOf(of, (one) => one.weight * like(one)) / sumOf(of, (one) => one.weight);
    const score = Math.min(part(moved), part(wanted));
    if (score >= nearly && score > (best?.score ?? 0)) best = { at, score };
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

interface Words {
  /** Absent: any. */
  indent?: string;
  text: string;
  words: ReadonlySet<string>;
}

function read(line: string, anywhere: boolean): Words {
  const text = foldedLine(line);
  return { ...(!anywhere && { indent: indentOf(line) }), text, words: new Set(text.match(/[\p{L}\p{N}_]+/gu)) };
}

/** From 0 to 1: which part of their words two lines of the same indentation have in common; of a word or two, of their letters. */
function alike(one: Words, other: Words): number {
  if (one.text === '' || (one.indent ?? other.indent) !== other.indent) return 0;
  if (one.text === other.text) return 1;
  let common = 0;
  for (const word of one.words) if (other.words.has(word)) common++;
  const part = common / Math.max(1, one.words.size, other.words.size);
  if (part >= nearly || one.words.size === 0 || one.words.size > fewWords || other.words.size > fewWords)
    return Math.min(mostUnequal, part);
  const [mine, theirs] = [one, other].map(({ words }) => [...words].join(' ')) as [string, string];
  const longest = Math.max(mine.length, theirs.length);
  if (longest > shortLine) return part;
  const letters = 1 - editDistance(mine, theirs) / longest;
  return letters >= nearlyAll ? letters : part;
}

/** How alike a line of the edit is to each of the file. */
function rowOf(line: Words, own: readonly (Words | undefined)[]): Float32Array {
  const row = new Float32Array(own.length);
  for (let at = 0; at < row.length; at++) if (own[at]) row[at] = alike(line, own[at]!);
  return row;
}

/** The most of each place and of those around it. */
function mostAround(row: Float32Array): Float32Array {
  const most = new Float32Array(row.length);
  for (let at = 0; at < row.length; at++) {
    for (let near = Math.max(0, at - slack); near <= at + slack && near < row.length; near++) {
      if (row[near]! > most[at]!) most[at] = row[near]!;
    }
  }
  return most;
}

/** Where the edit's first line would be, for each line of the file that is like this one. */
function beginnings(line: number, row: Float32Array): number[] {
  const found: number[] = [];
  for (let at = 0; at < row.length; at++) if (row[at]! >= nearly) found.push(at - line);
  return found;
}
