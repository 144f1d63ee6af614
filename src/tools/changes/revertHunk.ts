import { diffSequences } from '../edit/diff.ts';
import { editorLines } from './lineHunks.ts';

/** Lines `[start, end)` of a text, counted from 0, and their replacement. */
export interface LineEdit {
  start: number;
  end: number;
  lines: string[];
}

/**
 * Returns the edit that reverts the change at one line of `now` to `before`; undefined if the line has no change. A pure removal lies
 * between two lines and is reverted from either.
 */
export function lineEditRevertingChange(line: number, before: string, now: string): LineEdit | undefined {
  const [from, to] = [editorLines(before), editorLines(now)];
  const isAt = ({ toStart, toEnd }: { toStart: number; toEnd: number }) =>
    toStart === toEnd ? line === toStart || line === toStart - 1 : line >= toStart && line < toEnd;
  const hunks = diffSequences(from, to);
  // A changed line takes precedence over a removal next to it.
  const hunk = hunks.find((one) => one.toStart < one.toEnd && isAt(one)) ?? hunks.find(isAt);
  return hunk && { start: hunk.toStart, end: hunk.toEnd, lines: from.slice(hunk.fromStart, hunk.fromEnd) };
}

export function lineEditsBetween(before: string, now: string): LineEdit[] {
  const [from, to] = [editorLines(before), editorLines(now)];
  return diffSequences(from, to).map((one) => ({
    start: one.toStart,
    end: one.toEnd,
    lines: from.slice(one.fromStart, one.fromEnd),
  }));
}
