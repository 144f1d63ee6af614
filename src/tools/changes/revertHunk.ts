import { diff } from '../edit/diff.ts';

/** Lines `[start, end)` of a text, counted from 0 as an editor does, and what stands in their place. */
export interface LineEdit {
  start: number;
  end: number;
  lines: string[];
}

/**
 * What makes the change at this line of `now` what it was `before`, and nothing else; undefined where no change is. What was only removed
 * is between two lines, and is taken back from either.
 */
export function takenBackAt(line: number, before: string, now: string): LineEdit | undefined {
  const [from, to] = [editorLines(before), editorLines(now)];
  const isAt = ({ toStart, toEnd }: { toStart: number; toEnd: number }) =>
    toStart === toEnd ? line === toStart || line === toStart - 1 : line >= toStart && line < toEnd;
  const hunks = diff(from, to);
  // On a line that was changed, that change is meant, and not what was removed beside it.
  const hunk = hunks.find((one) => one.toStart < one.toEnd && isAt(one)) ?? hunks.find(isAt);
  return hunk && { start: hunk.toStart, end: hunk.toEnd, lines: from.slice(hunk.fromStart, hunk.fromEnd) };
}

/** Each change of `now`, as what makes it what it was `before`. */
export function changesSince(before: string, now: string): LineEdit[] {
  const [from, to] = [editorLines(before), editorLines(now)];
  return diff(from, to).map((one) => ({
    start: one.toStart,
    end: one.toEnd,
    lines: from.slice(one.fromStart, one.fromEnd),
  }));
}

/** As an editor counts them: after the last line end is a line, too. */
const editorLines = (text: string): string[] => text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
