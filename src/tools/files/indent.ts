/** How one line of the old text is indented there and in the file; `line` counts from 0. */
export interface IndentPair {
  line: number;
  from: string;
  to: string;
}

export const indentOf = (line: string) => /^[ \t]*/.exec(line)![0];

/**
 * A new line, indented as the file would have it: an indentation that the old text has too becomes what the file has
 * there; any other goes as many levels in or out from the nearest line that is known.
 */
export function indentLike(line: string, pairs: readonly IndentPair[], near: number): string {
  if (line.trim() === '') return line;
  const indent = indentOf(line);
  const byDistance = pairs
    .map((pair) => ({ ...pair, distance: Math.abs(pair.line - near) }))
    .sort((a, b) => a.distance - b.distance);
  const same = byDistance.find((pair) => pair.from === indent);
  if (same) return same.to + line.slice(indent.length);

  const base = byDistance[0];
  if (!base || pairs.every((pair) => pair.from === pair.to)) return line;
  const fromUnit = unitOf(pairs.map((pair) => pair.from).concat(indent));
  const toUnit = unitOf(pairs.map((pair) => pair.to));
  // Compared by levels, because one side may use tabs and the other blanks.
  const levels = levelsOf(indent, fromUnit) - levelsOf(base.from, fromUnit);
  const to = levels >= 0 ? base.to + toUnit.repeat(levels) : base.to.slice(0, levels * toUnit.length || undefined);
  return to + line.slice(indent.length);
}

/** One level: a tab, or the smallest step between the indentations that occur. */
function unitOf(indents: readonly string[]): string {
  if (indents.some((indent) => indent.includes('\t'))) return '\t';
  const widths = [...new Set([0, ...indents.map((indent) => indent.length)])].sort((a, b) => a - b);
  const steps = widths.slice(1).map((width, index) => width - widths[index]!);
  return ' '.repeat(steps.length > 0 ? Math.min(...steps) : 2);
}

const levelsOf = (indent: string, unit: string) => Math.round(indent.length / unit.length);
