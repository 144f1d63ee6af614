import { foldedLine } from './fold.ts';
import { indentOf } from './indent.ts';

/** Lines of a file in which rivals are looked for, and lines of the edit that are looked at. */
export const mostFileLines = 50_000;
const mostLines = 16;
/** How much of its words a place has to have, and from how many lines on one of them has to be the very same. */
const nearly = 0.5;
const linesForOneSame = 3;
/** Lines that somebody may have put in between, or taken away. */
const slack = 3;

/**
 * Another place that an edit may mean, which was found at `found` (a line of the file for each of its lines, -1 for none)
 * under another indentation (`isIndentedOtherwise`) than it was written with: nearly the same lines, indented as they were written. Somebody
 * changed them since, and what was found is their twin. Its first line, counted from 0; undefined: there is none.
 */
export function rivalOf(
  texts: readonly string[],
  old: readonly string[],
  found: readonly number[],
): number | undefined {
  const taken = new Set(found);
  const wanted = old.slice(0, mostLines).map((line, index) => read(line, index === 0 && old.length > 1));
  const own = texts.map((text, index) => (taken.has(index) ? undefined : read(text, false)));
  const rows = wanted.map((line) => rowOf(line, own));
  const near = rows.map(mostAround);
  const weights = wanted.map(weight);
  const all = weights.reduce((sum, one) => sum + one, 0);
  const telling = wanted.flatMap(({ words }, index) => (words.size > 0 ? [index] : []));
  let best: { at: number; score: number } | undefined;
  for (const at of beginnings(telling, rows)) {
    const like = (line: number) => near[line]![at + line] ?? 0;
    if (telling.length >= linesForOneSame && !telling.some((line) => like(line) === 1)) continue;
    const score = weights.reduce((sum, one, line) => sum + one * like(line), 0);
    if (score >= all * nearly && score > (best?.score ?? 0)) best = { at, score };
  }
  return best && Math.max(0, best.at);
}

/**
 * All of it stands deeper or less deep there. Lines that stand as written say that it is the place, and that the others
 * lost their indentation on the way. Of several the first says nothing: it may be written from where its words begin.
 */
export function isIndentedOtherwise(
  texts: readonly string[],
  old: readonly string[],
  found: readonly number[],
): boolean {
  const differs = [...old.keys()]
    .filter((line) => old[line]!.trim() !== '' && found[line] !== undefined && found[line]! >= 0)
    .map((line) => indentOf(old[line]!) !== indentOf(texts[found[line]!]!));
  return (differs.length > 1 ? differs.slice(1) : differs).every((other) => other);
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

/** Brackets and blank lines are alike everywhere. */
const weight = ({ text, words }: Words): number => (text === '' ? 0 : words.size === 0 ? 0.25 : 1);

/** From 0 to 1: which part of their words two lines of the same indentation have in common. */
function alike(one: Words, other: Words): number {
  if (one.text === '' || (one.indent ?? other.indent) !== other.indent) return 0;
  if (one.text === other.text) return 1;
  let common = 0;
  for (const word of one.words) if (other.words.has(word)) common++;
  return Math.min(0.99, common / Math.max(1, one.words.size, other.words.size));
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

/** Where the edit's first line would be, for each line of the file that is like one of these lines. */
function beginnings(lines: readonly number[], rows: readonly Float32Array[]): Set<number> {
  const found = new Set<number>();
  for (const line of lines) {
    const row = rows[line]!;
    for (let at = 0; at < row.length; at++) if (row[at]! >= nearly) found.add(at - line);
  }
  return found;
}
