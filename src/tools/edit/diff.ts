import { diffArrays } from 'diff';
import { type ComparedLines, comparedLines } from '../notebook/comparedLines.ts';
import { linesOf } from '../sandbox/fileText.ts';

/** A place where two sequences differ: `[fromStart, fromEnd)` of the first became `[toStart, toEnd)` of the second. */
export interface Hunk {
  fromStart: number;
  fromEnd: number;
  toStart: number;
  toEnd: number;
}

/** Beyond this many differences everything is one hunk: correct, only coarser. */
const maximumDifferences = 2000;

/** The hunks between two sequences, in order. */
export function diff(from: readonly string[], to: readonly string[]): Hunk[] {
  const parts = diffArrays([...from], [...to], { maxEditLength: maximumDifferences });
  if (!parts) return [{ fromStart: 0, fromEnd: from.length, toStart: 0, toEnd: to.length }];
  const hunks: Hunk[] = [];
  let open: Hunk | undefined;
  let fromAt = 0;
  let toAt = 0;
  for (const { added, removed, count } of parts) {
    if (!added && !removed) {
      fromAt += count;
      toAt += count;
      open = undefined;
      continue;
    }
    if (!open) {
      open = { fromStart: fromAt, fromEnd: fromAt, toStart: toAt, toEnd: toAt };
      hunks.push(open);
    }
    if (removed) fromAt += count;
    else toAt += count;
    open.fromEnd = fromAt;
    open.toEnd = toAt;
  }
  return hunks;
}

/** How many lines a change adds and removes. */
export function countChanges(before: readonly string[], after: readonly string[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of diff(before, after)) {
    added += hunk.toEnd - hunk.toStart;
    removed += hunk.fromEnd - hunk.fromStart;
  }
  return { added, removed };
}

/** From one text to another, as a unified diff without context, of at most about `most` characters. */
export function lineDiff(one: string, other: string, most: number): string {
  const [from, to] = [linesOf(one), linesOf(other)];
  const hunks = diff(from, to).map(({ fromStart, fromEnd, toStart, toEnd }) =>
    [
      `@@ -${range(fromStart, fromEnd)} +${range(toStart, toEnd)} @@`,
      ...from.slice(fromStart, fromEnd).map((line) => `-${line}`),
      ...to.slice(toStart, toEnd).map((line) => `+${line}`),
    ].join('\n'),
  );
  const text = hunks.join('\n') || 'Only line endings changed.';
  if (text.length <= most) return text;
  return `${text.slice(0, most)}\n… (${text.length - most} more characters: read the file)`;
}

/** As in a unified diff: an empty range is named by the line before it. */
const range = (start: number, end: number) => `${start === end ? start : start + 1},${end - start}`;

/** Characters of a line that people are shown of a change. */
const longestLine = 500;

/**
 * A change for people: its hunks as `@@ -1,2 +1,3 @@` and their lines, at most `most` of these, and how many lines there are besides,
 * as a last line `… 12`. Empty where only line ends change. Hunks of a notebook name their cell (`@@ -1,2 +1,3 @@ cell 4`), in whose
 * source their lines are counted.
 */
export function shownChange(path: string, before: string | null, after: string | null, most: number): string {
  const { from, to } = comparedLines(path, before, after);
  const shown: string[] = [];
  let left = 0;
  let room = most;
  for (const hunk of diff(from.lines, to.lines)) {
    const { fromStart, fromEnd, toStart, toEnd } = hunk;
    const goes = from.lines
      .slice(fromStart, Math.min(fromEnd, fromStart + room))
      .map((line) => `-${line.slice(0, longestLine)}`);
    const comes = to.lines
      .slice(toStart, Math.min(toEnd, toStart + room - goes.length))
      .map((line) => `+${line.slice(0, longestLine)}`);
    if (room > 0) shown.push(headOf(hunk, from, to), ...goes, ...comes);
    room -= goes.length + comes.length;
    left += fromEnd - fromStart + toEnd - toStart - goes.length - comes.length;
  }
  return [...shown, ...(left > 0 ? [`… ${left}`] : [])].join('\n');
}

function headOf({ fromStart, fromEnd, toStart, toEnd }: Hunk, from: ComparedLines, to: ComparedLines): string {
  const [was, now] = [from.cells?.[fromStart], to.cells?.[toStart]];
  const at = (place: typeof was, start: number, end: number) =>
    place ? `${place.line},${end - start}` : range(start, end);
  const cell = toEnd > toStart ? now?.cell : was?.cell;
  const ranges = `@@ -${at(was, fromStart, fromEnd)} +${at(now, toStart, toEnd)} @@`;
  return cell === undefined ? ranges : `${ranges} cell ${cell}`;
}

/** Changed lines that a card shows when it is opened, or asks: more of them are for an editor. */
export const maxShownLines = 2000;

/** Up to this many changed lines stand on a card as they are; of more, the first. */
const fewLines = 8;
const firstLines = 3;

/** What a card shows of a change before anybody opens it. */
export function changeAtAGlance(path: string, before: string | null, after: string | null): string {
  const short = shownChange(path, before, after, fewLines);
  return /\n… \d+$/.test(short) ? shownChange(path, before, after, firstLines) : short;
}
