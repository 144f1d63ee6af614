import { diffArrays } from 'diff';
import { type ComparableFileLines, linesForComparison } from '../notebook/comparedLines.ts';
import { linesWithoutEndings } from '../sandbox/fileText.ts';

/** Difference of two sequences: `[fromStart, fromEnd)` of the first became `[toStart, toEnd)` of the second. */
export interface DiffHunk {
  fromStart: number;
  fromEnd: number;
  toStart: number;
  toEnd: number;
}

// Maximum differences; above, the whole text is one hunk: correct but coarse.
const maximumDifferences = 2000;

export function diffSequences(from: readonly string[], to: readonly string[]): DiffHunk[] {
  const parts = diffArrays([...from], [...to], { maxEditLength: maximumDifferences });
  if (!parts) return [{ fromStart: 0, fromEnd: from.length, toStart: 0, toEnd: to.length }];
  const hunks: DiffHunk[] = [];
  let open: DiffHunk | undefined;
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

export function countChanges(before: readonly string[], after: readonly string[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of diffSequences(before, after)) {
    added += hunk.toEnd - hunk.toStart;
    removed += hunk.fromEnd - hunk.fromStart;
  }
  return { added, removed };
}

export function lineDiff(one: string, other: string, most: number): string {
  const [from, to] = [linesWithoutEndings(one), linesWithoutEndings(other)];
  const hunks = diffSequences(from, to).map(({ fromStart, fromEnd, toStart, toEnd }) =>
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

// An empty range is named by the line before.
const range = (start: number, end: number) => `${start === end ? start : start + 1},${end - start}`;

const longestLine = 500;

/**
 * Formats a change for display: hunk headers `@@ -1,2 +1,3 @@` with at most `most` lines, and `… 12` for the number of omitted lines. Empty
 * if only line endings change. Hunks of a notebook name the cell (`@@ -1,2 +1,3 @@ cell 4`), with line numbers of its source.
 */
export function formatFileChange(path: string, before: string | null, after: string | null, most: number): string {
  const { from, to } = linesForComparison(path, before, after);
  const shown: string[] = [];
  let left = 0;
  let budget = most;
  for (const hunk of diffSequences(from.lines, to.lines)) {
    const { fromStart, fromEnd, toStart, toEnd } = hunk;
    const goes = from.lines
      .slice(fromStart, Math.min(fromEnd, fromStart + budget))
      .map((line) => `-${line.slice(0, longestLine)}`);
    const comes = to.lines
      .slice(toStart, Math.min(toEnd, toStart + budget - goes.length))
      .map((line) => `+${line.slice(0, longestLine)}`);
    if (budget > 0) shown.push(headOf(hunk, from, to), ...goes, ...comes);
    budget -= goes.length + comes.length;
    left += fromEnd - fromStart + toEnd - toStart - goes.length - comes.length;
  }
  return [...shown, ...(left > 0 ? [`… ${left}`] : [])].join('\n');
}

function headOf(
  { fromStart, fromEnd, toStart, toEnd }: DiffHunk,
  from: ComparableFileLines,
  to: ComparableFileLines,
): string {
  const [was, now] = [from.cells?.[fromStart], to.cells?.[toStart]];
  const at = (position: typeof was, start: number, end: number) =>
    position ? `${position.line},${end - start}` : range(start, end);
  const cell = toEnd > toStart ? now?.cell : was?.cell;
  const ranges = `@@ -${at(was, fromStart, fromEnd)} +${at(now, toStart, toEnd)} @@`;
  return cell === undefined ? ranges : `${ranges} cell ${cell}`;
}

export const maxShownDiffLines = 2000;

const fewLines = 8;
const firstLines = 3;

export function formatShortFileChange(path: string, before: string | null, after: string | null): string {
  const short = formatFileChange(path, before, after, fewLines);
  return /\n… \d+$/.test(short) ? formatFileChange(path, before, after, firstLines) : short;
}
