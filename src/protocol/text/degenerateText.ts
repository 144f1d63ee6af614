import { type RepetitionSize, repeatedEnd } from './repeatedEnd.ts';

/** Minimum characters of a line that counts as copied from the instructions. */
const minCopiedLine = 40;
const loop: RepetitionSize = { characters: 64, times: 3 };
const maxChecked = 4000;

/**
 * Tests for an answer of a model that cannot be used: it copies a line of its instructions, or ends in a loop. Small models answer so when a
 * task is too hard for them.
 */
export const isDegenerateAnswer = (answer: string, instructions: string): boolean =>
  copiesLine(answer, instructions) || endsInLoop(answer);

function copiesLine(answer: string, instructions: string): boolean {
  const lines = new Set(linesOf(instructions).filter((line) => line.length >= minCopiedLine));
  return linesOf(answer).some((line) => lines.has(line));
}

const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim());

/** Tests if the last characters are the same words again and again, the last time in part; a ruled line is none. */
const endsInLoop = (text: string): boolean =>
  /[\p{L}\p{N}]/u.test(repeatedEnd(text.trimEnd().slice(-maxChecked), loop) ?? '');
