/** Minimum characters of a line that counts as copied from the instructions. */
const minCopiedLine = 40;
/** Minimum characters of a repeated end, and how often its text stands there. */
const [minRepeated, minTimes] = [60, 3];
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

/** Tests if the last characters are the same words again and again, the last time in part. */
function endsInLoop(text: string): boolean {
  const end = text.trimEnd().slice(-maxChecked);
  const characters = [...end].reverse();
  const same = lengthsOfSameStart(characters);
  return same.some((length, period) => {
    const all = period + length;
    if (period === 0 || all < minRepeated || all < minTimes * period) return false;
    return /[\p{L}\p{N}]/u.test(characters.slice(0, period).join('')); // a ruled line is none
  });
}

/** Z-function: for each index, how many items from there on equal those at the start. */
function lengthsOfSameStart(items: readonly string[]): number[] {
  const lengths = items.map(() => 0);
  let [from, to] = [0, 0];
  for (let at = 1; at < items.length; at++) {
    let length = at < to ? Math.min(to - at, lengths[at - from]!) : 0;
    while (at + length < items.length && items[length] === items[at + length]) length++;
    lengths[at] = length;
    if (at + length > to) [from, to] = [at, at + length];
  }
  return lengths;
}
