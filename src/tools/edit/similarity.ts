import { editDistance } from '../core/didYouMean.ts';
import { leadingWhitespace } from './indent.ts';
import { normalizeLineForMatch } from './normalizeText.ts';

export const minLineSimilarity = 0.5;
// Short lines are also compared by letters; `nearlyAll` letters must be common.
const minWords = 2;
const shortLine = 80;
const nearlyAll = 0.75;
const maxUnequal = 0.99;
export const maxLineShift = 3;

/** Line prepared for comparison; an absent `indent` matches any indentation. */
export interface SimilarityLine {
  indent?: string;
  text: string;
  words: ReadonlySet<string>;
}

/**
 * Prepares a line for comparison.
 * @param anywhere ignores the indentation
 */
export function toSimilarityLine(line: string, anywhere = false): SimilarityLine {
  const text = normalizeLineForMatch(line);
  return {
    ...(!anywhere && { indent: leadingWhitespace(line) }),
    text,
    words: new Set(text.match(/[\p{L}\p{N}_]+/gu)),
  };
}

/** Returns the share of common words (0 to 1) of two lines with equal indentation; for short lines, of letters. */
export function lineSimilarity(one: SimilarityLine, other: SimilarityLine): number {
  if (one.text === '' || (one.indent ?? other.indent) !== other.indent) return 0;
  if (one.text === other.text) return 1;
  let common = 0;
  for (const word of one.words) if (other.words.has(word)) common++;
  const part = common / Math.max(1, one.words.size, other.words.size);
  if (part >= minLineSimilarity || one.words.size === 0 || one.words.size > minWords || other.words.size > minWords)
    return Math.min(maxUnequal, part);
  const [ours, theirs] = [one, other].map(({ words }) => [...words].join(' ')) as [string, string];
  const longest = Math.max(ours.length, theirs.length);
  if (longest > shortLine) return part;
  const letters = 1 - editDistance(ours, theirs) / longest;
  return letters >= nearlyAll ? letters : part;
}

export function lineSimilarityRow(line: SimilarityLine, own: readonly (SimilarityLine | undefined)[]): Float32Array {
  const row = new Float32Array(own.length);
  for (let at = 0; at < row.length; at++) if (own[at]) row[at] = lineSimilarity(line, own[at]!);
  return row;
}

export function nearbySimilarityMaxima(row: Float32Array): Float32Array {
  const most = new Float32Array(row.length);
  for (let at = 0; at < row.length; at++) {
    for (let near = Math.max(0, at - maxLineShift); near <= at + maxLineShift && near < row.length; near++) {
      if (row[near]! > most[at]!) most[at] = row[near]!;
    }
  }
  return most;
}

export function possibleEditStarts(line: number, row: Float32Array): number[] {
  const found: number[] = [];
  for (let at = 0; at < row.length; at++) if (row[at]! >= minLineSimilarity) found.push(at - line);
  return found;
}
