// Indentation of one line in the edit and in the file; `line` counts from 0.
interface IndentPair {
  line: number;
  from: string;
  to: string;
}

/** Indentations of an edit and of its file: one pair for each non-blank old line, in order, and one level of each. */
export interface IndentMapping {
  pairs: readonly IndentPair[];
  fromUnit: string;
  toUnit: string;
}

export const leadingWhitespace = (line: string) => /^[ \t]*/.exec(line)![0];

/**
 * Indents a new line like the file. An indentation that occurs in the old text maps to the file's; any other moves by levels from the
 * nearest known line. `replaced` is the old line at the same position, or `after` the line before. Undefined if the edit lost the levels of
 * the surrounding lines.
 */
export function reindentLine(
  line: string,
  { pairs, fromUnit, toUnit }: IndentMapping,
  range: { replaced?: number; after: number },
): string | undefined {
  const indent = leadingWhitespace(line);
  if (line.trim() === '' || pairs.every(({ from, to }) => from === to)) return line;
  const put = (to: string) => to + line.slice(indent.length);
  const replaced = pairs.find((pair) => pair.line === range.replaced);
  if (replaced?.from === indent) return put(replaced.to);

  const before = pairs.findLast((pair) => pair.line <= range.after);
  const after = pairs.find((pair) => pair.line > range.after);
  const same = pairs.filter((pair) => pair.from === indent);
  if (same.length > 0) {
    const around = [before, after].filter((pair) => pair?.from === indent) as IndentPair[];
    const known = new Set((levelsLost(same) && around.length > 0 ? around : same).map((pair) => pair.to));
    return known.size === 1 ? put([...known][0]!) : undefined;
  }
  const base = replaced ?? before ?? after!;
  // Levels are compared because one side may use tabs and the other blanks.
  const levels = Math.round(indent.length / fromUnit.length) - Math.round(base.from.length / fromUnit.length);
  const length = Math.max(0, base.to.length + levels * toUnit.length);
  return put(levels >= 0 ? base.to + toUnit.repeat(levels) : base.to.slice(0, length));
}

/**
 * Returns an edit with restored indentation, if only the first lines lost the indentation. If the old first line is removed, an old line of
 * lesser depth may come first and stays unchanged. `indentAt` is the file's indentation of an old line. Undefined for other edits, or if
 * the depth is unknown.
 */
export function restoreFirstLineIndent(
  old: readonly string[],
  now: readonly string[],
  indentAt: (line: number) => string,
): { old: readonly string[]; now: readonly string[] } | undefined {
  const [first = '', ...rest] = now;
  const [to, own] = [indentAt(0), leadingWhitespace(old[0]!)];
  const others = [...old.keys()].slice(1).filter((line) => old[line]!.trim() !== '');
  const standAsWritten = others.every((line) => leadingWhitespace(old[line]!) === indentAt(line));
  if (own === to || !to.endsWith(own) || !standAsWritten || first.trim() === '' || leadingWhitespace(first) !== own)
    return undefined;
  if (!isOnlyFirstLineUnindented(now, to, others.length > 0 ? old : [])) return undefined;
  const unchanged = first.trim() === old[0]!.trim() ? [] : others.filter((line) => old[line]!.trim() === first.trim());
  const [indent, another] = new Set(unchanged.map(indentAt));
  const isLessDeep = indent !== undefined && another === undefined && to.startsWith(indent) && to !== indent;
  const indented = (line: string) => to + line.slice(own.length);
  return {
    old: [indented(old[0]!), ...old.slice(1)],
    now: [isLessDeep ? indent + first.trimStart() : indented(first), ...rest],
  };
}

/** Tests if only the first line lacks its indentation: all others have at least the file's. */
export function isOnlyFirstLineUnindented(
  [first = '', ...rest]: readonly string[],
  indent: string,
  old: readonly string[] = [],
): boolean {
  const lines = rest.filter((line) => line.trim() !== '');
  const body = lines[0] ?? '';
  // A line after an opening bracket is deeper, so equal indentation means a lost level.
  const opens = /[{([:]\s*$|=>\s*$/.test(first);
  if (opens && leadingWhitespace(body) === indent) return false;
  const stands = (line: string) => leadingWhitespace(line).startsWith(indent) || old.includes(line);
  return lines.length === 0 || (old.length > 0 ? lines.every(stands) : lines.some(stands));
}

const levelsLost = (same: readonly IndentPair[]) => new Set(same.map((pair) => pair.to)).size > 1;

export function smallestIndentUnit(texts: readonly string[]): string {
  const indents = texts.filter((text) => text.trim() !== '').map(leadingWhitespace);
  if (indents.some((indent) => indent.includes('\t'))) return '\t';
  const widths = [...new Set([0, ...indents.map((indent) => indent.length)])].sort((a, b) => a - b);
  const steps = widths.slice(1).map((width, index) => width - widths[index]!);
  return ' '.repeat(steps.length > 0 ? Math.min(...steps) : 2);
}

export function usualIndentUnit(texts: readonly string[]): string {
  const indents = texts.filter((text) => text.trim() !== '').map(leadingWhitespace);
  const tabs = indents.filter((indent) => indent.startsWith('\t')).length;
  if (tabs * 2 > indents.filter((indent) => indent !== '').length) return '\t';
  const counts = new Map<number, number>();
  for (const [index, indent] of indents.entries()) {
    const step = indent.length - (indents[index - 1] ?? '').length;
    if (step > 1) counts.set(step, (counts.get(step) ?? 0) + 1); // a step of 1 is the star of a comment
  }
  const [usual] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [2];
  return ' '.repeat(usual);
}
