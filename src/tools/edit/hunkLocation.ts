import { indentOf } from './indent.ts';
import type { MatchedLines } from './lineMatches.ts';
import { foldedLine } from './normalizeText.ts';

/** A statement of a patch about the place of a hunk. */
export interface HunkLocation {
  /** Lines above the hunk that enclose each other, from the outermost: the text behind each `@@`. */
  headers: readonly string[];
  /** The hunk ends where the file ends. */
  atEnd?: true;
}

/** Lines of a file, from 0, up to and without `to`. */
interface Region {
  from: number;
  to: number;
}

/** The only run at the place that a patch names; undefined: none, or not surely one. */
export function runsAt(
  texts: readonly string[],
  runs: readonly MatchedLines[],
  place: HunkLocation,
): MatchedLines[] | undefined {
  if (place.atEnd) {
    const end = texts.findLastIndex((text) => text.trim() !== '');
    const last = runs.filter((run) => Math.max(...run.at) >= end);
    if (last.length === 1) return last;
  }
  if (place.headers.length === 0) return undefined;
  const regions = place.headers.reduce<Region[]>(
    (outer, header) => outer.flatMap((region) => regionsOf(texts, header, region)),
    [{ from: 0, to: texts.length }],
  );
  const inRegions = runs.filter((run) => regions.some(({ from, to }) => startOf(run) >= from && startOf(run) < to));
  return inRegions.length === 1 ? inRegions : undefined;
}

const startOf = (run: MatchedLines) => run.at.find((line) => line >= 0)!;

/** What the lines with this text in a region begin: their blocks; of lines without a block, all that follows in the region. */
function regionsOf(texts: readonly string[], header: string, { from, to }: Region): Region[] {
  const wanted = foldedLine(header);
  const lines = texts.slice(from, to).map(foldedLine);
  const same = [...lines.keys()].filter((line) => lines[line] === wanted);
  const longer = () => [...lines.keys()].filter((line) => beginsWith(lines[line]!, wanted));
  return (same.length > 0 ? same : longer()).map((line) => ({
    from: from + line,
    to: blockEnd(texts, from + line, to) ?? to,
  }));
}

/** A header may lack the end of its line: Git cuts long ones, also within a word, and models leave out what opens the block. */
const beginsWith = (line: string, header: string) =>
  header !== '' &&
  line.startsWith(header) &&
  (header.length >= longHeader || !/^[\p{L}\p{N}_]/u.test(line.slice(header.length)));

/** Characters from which on a header may be a cut one. Git has at most 80 bytes of a line. */
const longHeader = 60;

/** The line behind the block that a line begins; undefined: nothing below it is indented deeper. */
function blockEnd(texts: readonly string[], line: number, to: number): number | undefined {
  const depth = indentOf(texts[line]!).length;
  let at = line + 1;
  let isDeeper = false;
  for (; at < to; at++) {
    const text = texts[at]!;
    if (text.trim() === '') continue;
    if (indentOf(text).length > depth) isDeeper = true;
    else if (isDeeper || !/^\s*[{([]+\s*$/.test(text)) break;
  }
  return isDeeper ? at : undefined;
}
