import { editDistance } from '../core/didYouMean.ts';
import { indentOf } from './indent.ts';
import { foldedLine } from './normalizeText.ts';

export const likeEnough = 0.5;
/** Short lines are also compared by letters; `nearlyAll` letters must be common. */
const fewWords = 2;
const shortLine = 80;
const nearlyAll = 0.75;
/** Maximum similarity of unequal lines; 1 means equal. */
const maxUnequal = 0.99;
export const slack = 3;

/** Line prepared for comparison; an absent `indent` matches any indentation. */
export interface ComparedLine {
  indent?: string;
  text: string;
  words: ReadonlySet<string>;
}

/**
 * Prepares a line for comparison.
 * @param anywhere ignores the indentation
 */
export function comparedLine(line: string, anywhere = false): ComparedLine {
  const text = foldedLine(line);
  return { ...(!anywhere && { indent: indentOf(line) }), text, words: new Set(text.match(/[\p{L}\p{N}_]+/gu)) };
}

/** Returns the share of common words (0 to 1) of two lines with equal indentation; for short lines, of letters. */
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

export function likenessRow(line: ComparedLine, own: readonly (ComparedLine | undefined)[]): Float32Array {
  const row = new Float32Array(own.length);
  for (let at = 0; at < row.length; at++) if (own[at]) row[at] = likeness(line, own[at]!);
  return row;
}

/** Returns the maximum similarity within `slack` lines, for each line. */
export function maxAround(row: Float32Array): Float32Array {
  const most = new Float32Array(row.length);
  for (let at = 0; at < row.length; at++) {
    for (let near = Math.max(0, at - slack); near <= at + slack && near < row.length; near++) {
      if (row[near]! > most[at]!) most[at] = row[near]!;
    }
  }
  return most;
}

/** Returns possible positions of the edit's first line, one for each file line similar to this line of the edit. */
export function starts(line: number, row: Float32Array): number[] {
  const found: number[] = [];
  for (let at = 0; at < row.length; at++) if (row[at]! >= likeEnough) found.push(at - line);
  return found;
}
