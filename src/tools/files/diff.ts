import { diffArrays } from 'diff';
import { linesOf } from './text.ts';

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
