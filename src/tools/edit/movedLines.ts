import type { TextSeenByModel } from '../core/tool.ts';
import { diffSequences } from './diff.ts';
import { findLineMatches } from './lineMatches.ts';
import { linesWithoutTrailingBlank, splitLines } from './lines.ts';
import { findNearbySimilarLines } from './similarLines.ts';

/**
 * Returns the first line (from 0) of the run that an edit really means if the match at `found` is only a twin: the file has changed since
 * the model's read, and the lines at the read position changed slightly. Undefined if the text was not read, is still at the read position,
 * or no other run is close.
 */
export function findMovedEditTarget(
  texts: readonly string[],
  oldText: string,
  found: readonly number[],
  seen: TextSeenByModel,
): number | undefined {
  const seenLines = linesOf(seen.text);
  const starts = seenStarts(seen.text, seenLines, oldText);
  if (starts.length === 0) return undefined;
  const count = linesWithoutTrailingBlank(oldText).length;
  const [start] = starts;
  if (starts.length === 1 && standsAt(texts, seenLines, seen, start!, count) === found[0]) return undefined;
  return findNearbySimilarLines(texts, seenLines.slice(start, start! + count), found);
}

export function areSeenLinesUnchanged(
  texts: readonly string[],
  seen: TextSeenByModel,
  start: number,
  count: number,
): boolean {
  const seenLines = linesOf(seen.text);
  return standsAt(texts, seenLines, seen, start - seen.startLine, count) === start - 1;
}

const linesOf = (text: string) => splitLines(text).map((line) => line.text);

function seenStarts(text: string, lines: readonly string[], oldText: string): number[] {
  const starts: number[] = [];
  const wanted = linesWithoutTrailingBlank(oldText).join('\n');
  const whole = lines.join('\n');
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + 1))
    starts.push(linesOf(whole.slice(0, at + 1)).length - 1);
  if (starts.length > 0) return starts;
  return findLineMatches(linesOf(text), linesWithoutTrailingBlank(oldText)).map(
    ({ at }) => at.find((index) => index >= 0)!,
  );
}

// Returns the file line (from 0) of `count` seen lines; undefined after a change of any line.
function standsAt(
  texts: readonly string[],
  seenLines: readonly string[],
  { startLine, isWhole }: TextSeenByModel,
  start: number,
  count: number,
): number | undefined {
  if (!isWhole) {
    const at = startLine - 1 + start;
    return seenLines.slice(start, start + count).every((line, index) => texts[at + index] === line) ? at : undefined;
  }
  let shift = 0;
  for (const { fromStart, fromEnd, toStart, toEnd } of diffSequences(seenLines, texts)) {
    if (fromStart < start + count && fromEnd > start) return undefined;
    if (fromStart > start && fromStart < start + count) return undefined; // lines were inserted in between
    if (fromEnd <= start) shift += toEnd - toStart - (fromEnd - fromStart);
  }
  const at = start + shift;
  return hasSameNeighbor(texts, seenLines, at, start, count) ? at : undefined;
}

// Checks an adjacent line: a diff can map changed lines to a copy elsewhere.
function hasSameNeighbor(
  texts: readonly string[],
  seenLines: readonly string[],
  at: number,
  start: number,
  count: number,
): boolean {
  const before = (lines: readonly string[], index: number) =>
    lines.slice(0, index).findLast((line) => line.trim() !== '');
  const after = (lines: readonly string[], index: number) =>
    lines.slice(index + count).find((line) => line.trim() !== '');
  return before(texts, at) === before(seenLines, start) || after(texts, at) === after(seenLines, start);
}
