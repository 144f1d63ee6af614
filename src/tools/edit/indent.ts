/** How one line of the old text is indented there and in the file; `line` counts from 0. */
interface IndentPair {
  line: number;
  from: string;
  to: string;
}

/** What is known of the indentations of an edit and of the file it is for. */
export interface Indents {
  /** For every line of the old text that is not blank, in order. */
  pairs: readonly IndentPair[];
  /** One level of the edit and one of the file. */
  fromUnit: string;
  toUnit: string;
}

export const indentOf = (line: string) => /^[ \t]*/.exec(line)![0];

/**
 * A new line, indented as the file would have it. An indentation that the old text has too becomes what the file has
 * there; any other goes as many levels in or out from the nearest line that is known. `replaced` is the old line whose
 * place it takes, or `after` the one it follows. Undefined when the edit lost the levels of the lines around it, so that
 * this line's cannot be known.
 */
export function indentLike(
  line: string,
  { pairs, fromUnit, toUnit }: Indents,
  place: { replaced?: number; after: number },
): string | undefined {
  const indent = indentOf(line);
  if (line.trim() === '' || pairs.every(({ from, to }) => from === to)) return line;
  const put = (to: string) => to + line.slice(indent.length);
  const replaced = pairs.find((pair) => pair.line === place.replaced);
  if (replaced?.from === indent) return put(replaced.to);

  const before = pairs.findLast((pair) => pair.line <= place.after);
  const after = pairs.find((pair) => pair.line > place.after);
  const same = pairs.filter((pair) => pair.from === indent);
  if (same.length > 0) {
    const around = [before, after].filter((pair) => pair?.from === indent) as IndentPair[];
    const known = new Set((levelsLost(same) && around.length > 0 ? around : same).map((pair) => pair.to));
    return known.size === 1 ? put([...known][0]!) : undefined;
  }
  const base = replaced ?? before ?? after!;
  // Compared by levels, because one side may use tabs and the other blanks.
  const levels = Math.round(indent.length / fromUnit.length) - Math.round(base.from.length / fromUnit.length);
  const length = Math.max(0, base.to.length + levels * toUnit.length);
  return put(levels >= 0 ? base.to + toUnit.repeat(levels) : base.to.slice(0, length));
}

/**
 * An edit of which only the first lines were written without (all of) their indentation, with it. Where the old first line
 * goes, what comes first now may be an old line that is less deep than that: it stays as it is. `indentAt` is the file's
 * indentation of an old line. Undefined: it is not such an edit, or how deep its lines go cannot be told so.
 */
export function withFirstIndented(
  old: readonly string[],
  now: readonly string[],
  indentAt: (line: number) => string,
): { old: readonly string[]; now: readonly string[] } | undefined {
  const [first = '', ...rest] = now;
  const [to, own] = [indentAt(0), indentOf(old[0]!)];
  const others = [...old.keys()].slice(1).filter((line) => old[line]!.trim() !== '');
  const standAsWritten = others.every((line) => indentOf(old[line]!) === indentAt(line));
  if (own === to || !to.endsWith(own) || !standAsWritten || first.trim() === '' || indentOf(first) !== own)
    return undefined;
  if (!isWrittenAsItStands(now, to, others.length > 0 ? old : [])) return undefined;
  const kept = first.trim() === old[0]!.trim() ? [] : others.filter((line) => old[line]!.trim() === first.trim());
  const [indent, another] = new Set(kept.map(indentAt));
  const isLessDeep = indent !== undefined && another === undefined && to.startsWith(indent) && to !== indent;
  const indented = (line: string) => to + line.slice(own.length);
  return {
    old: [indented(old[0]!), ...old.slice(1)],
    now: [isLessDeep ? indent + first.trimStart() : indented(first), ...rest],
  };
}

/** Only the first line was written without its indentation: the others have at least what the file's line has. */
export function isWrittenAsItStands(
  [first = '', ...rest]: readonly string[],
  indent: string,
  old: readonly string[] = [],
): boolean {
  const lines = rest.filter((line) => line.trim() !== '');
  const body = lines[0] ?? '';
  // What follows an opening line is deeper than it, so a line that is not was meant to be deeper than the file's.
  const opens = /[{([:]\s*$|=>\s*$/.test(first);
  if (opens && indentOf(body) === indent) return false;
  const stands = (line: string) => indentOf(line).startsWith(indent) || old.includes(line);
  return lines.length === 0 || (old.length > 0 ? lines.every(stands) : lines.some(stands));
}

const levelsLost = (same: readonly IndentPair[]) => new Set(same.map((pair) => pair.to)).size > 1;

/** One level: a tab, or the smallest step between the indentations that occur. */
export function smallestUnit(texts: readonly string[]): string {
  const indents = texts.filter((text) => text.trim() !== '').map(indentOf);
  if (indents.some((indent) => indent.includes('\t'))) return '\t';
  const widths = [...new Set([0, ...indents.map((indent) => indent.length)])].sort((a, b) => a - b);
  const steps = widths.slice(1).map((width, index) => width - widths[index]!);
  return ' '.repeat(steps.length > 0 ? Math.min(...steps) : 2);
}

/** One level of a whole file: a tab, or the step in that is taken most often. */
export function usualUnit(texts: readonly string[]): string {
  const indents = texts.filter((text) => text.trim() !== '').map(indentOf);
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
