import { leadingWhitespace } from './indent.ts';
import type { MatchedLines } from './lineMatches.ts';
import { normalizeLineForMatch } from './normalizeText.ts';

/**
 * Location of a hunk from a patch. `headers` are the texts after `@@`: enclosing lines above the hunk, outermost first. `atEnd`: the hunk
 * ends at the end of the file.
 */
export interface HunkLocation {
  headers: readonly string[];
  atEnd?: true;
}

interface Region {
  from: number;
  to: number;
}

/** Returns the only run at the location that a patch names; undefined if there are none or several. */
export function matchAtHunkLocation(
  texts: readonly string[],
  runs: readonly MatchedLines[],
  location: HunkLocation,
): MatchedLines[] | undefined {
  if (location.atEnd) {
    const end = texts.findLastIndex((text) => text.trim() !== '');
    const last = runs.filter((run) => Math.max(...run.at) >= end);
    if (last.length === 1) return last;
  }
  if (location.headers.length === 0) return undefined;
  const regions = location.headers.reduce<Region[]>(
    (outer, header) => outer.flatMap((region) => regionsOf(texts, header, region)),
    [{ from: 0, to: texts.length }],
  );
  const inRegions = runs.filter((run) => regions.some(({ from, to }) => startOf(run) >= from && startOf(run) < to));
  return inRegions.length === 1 ? inRegions : undefined;
}

const startOf = (run: MatchedLines) => run.at.find((line) => line >= 0)!;

function regionsOf(texts: readonly string[], header: string, { from, to }: Region): Region[] {
  const wanted = normalizeLineForMatch(header);
  const lines = texts.slice(from, to).map(normalizeLineForMatch);
  const same = [...lines.keys()].filter((line) => lines[line] === wanted);
  const longer = () => [...lines.keys()].filter((line) => beginsWith(lines[line]!, wanted));
  return (same.length > 0 ? same : longer()).map((line) => ({
    from: from + line,
    to: blockEnd(texts, from + line, to) ?? to,
  }));
}

// Compares a header as a prefix: Git truncates long lines, also within a word, and models omit the opening bracket.
const beginsWith = (line: string, header: string) =>
  header !== '' &&
  line.startsWith(header) &&
  (header.length >= longHeader || !/^[\p{L}\p{N}_]/u.test(line.slice(header.length)));

// Minimum characters of a possibly truncated header. Git limits a line to 80 bytes.
const longHeader = 60;

// Returns the line after the block of a line; undefined if no deeper line follows.
function blockEnd(texts: readonly string[], line: number, to: number): number | undefined {
  const depth = leadingWhitespace(texts[line]!).length;
  let at = line + 1;
  let isDeeper = false;
  for (; at < to; at++) {
    const text = texts[at]!;
    if (text.trim() === '') continue;
    if (leadingWhitespace(text).length > depth) isDeeper = true;
    else if (isDeeper || !/^\s*[{([]+\s*$/.test(text)) break;
  }
  return isDeeper ? at : undefined;
}
