import { editDistance } from '../core/didYouMean.ts';
import { indentOf } from './indent.ts';
import { foldedLine } from './normalizeText.ts';

/** Share of its words, from 0 to 1, that a line needs in common with another one to be like it. */
export const likeEnough = 0.5;
/** Lines of at most `fewWords` words are also compared by their letters, of which `nearlyAll` have to be there. */
const fewWords = 2;
const shortLine = 80;
const nearlyAll = 0.75;
/** Likeness of lines that are not the same; 1 is the same line. */
const maxUnequal = 0.99;
/** Lines that somebody may have inserted or removed. */
export const slack = 3;

/** A line, as it is compared with others. */
export interface ComparedLine {
  /** Absent: any indentation. */
  indent?: string;
  text: string;
  words: ReadonlySet<string>;
}

/** @param anywhere the indentation does not count */
export function comparedLine(line: string, anywhere = false): ComparedLine {
  const text = foldedLine(line);
  return { ...(!anywhere && { indent: indentOf(line) }), text, words: new Set(text.match(/[\p{L}\p{N}_]+/gu)) };
}

/** Returns the share of words, from 0 to 1, that two lines of the same indentation have in common; of short lines, of their letters. */
export function likeness(one: ComparedLine, other: ComparedLine): number {
  if (one.text === '' || (one.indent ?? other.indent) !== other.indent) return 0;
  if (one.text === other.text) return 1;
  let common = 0;
  for (const word of one.words) if (other.words.has(word)) common++;
  const part = common / Math.max(1, one.words.size, other.words.size);
  if (part >= likeEnough || one.words.size === 0 || one.words.size > fewWords || other.words.size > fewWords)
    return Math.min(maxUnequal, part);
  const [mine, theirs] = [one, other].map(({ words }) => [...words].join(' ')) as [string, string];
  const longest = Math.max(mine.length, theirs.length);
  if (longest > shortLine) return part;
  const letters = 1 - editDistance(mine, theirs) / longest;
  return letters >= nearlyAll ? letters : part;
}

/** Returns the likeness of a line of the edit to each line of the file. */
export function likenessRow(line: ComparedLine, own: readonly (ComparedLine | undefined)[]): Float32Array {
  const row = new Float32Array(own.length);
  for (let at = 0; at < row.length; at++) if (own[at]) row[at] = likeness(line, own[at]!);
  return row;
}

/** Returns, for each line, the largest likeness within `slack` lines. */
export function maxAround(row: Float32Array): Float32Array {
  const most = new Float32Array(row.length);
  for (let at = 0; at < row.length; at++) {
    for (let near = Math.max(0, at - slack); near <= at + slack && near < row.length; near++) {
      if (row[near]! > most[at]!) most[at] = row[near]!;
    }
  }
  return most;
}

/** Returns the positions of the edit's first line for each line of the file that is like this line of the edit. */
export function starts(line: number, row: Float32Array): number[] {
  const found: number[] = [];
  for (let at = 0; at < row.length; at++) if (row[at]! >= likeEnough) found.push(at - line);
  return found;
}
