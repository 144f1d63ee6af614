import { diff } from './diff.ts';
import { indentLike, indentOf, isWrittenAsItStands, smallestUnit, usualUnit, withFirstIndented } from './indent.ts';

/** Whether a place is within its line's indentation: then the line shows less of itself to a match there than it has. */
export function indentationBefore(text: string, at: number): string {
  const prefix = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return prefix.trim() === '' ? prefix : '';
}

/**
 * The new text of an exact match after `prefix`, blanks that begin the file's line and were not given. It begins with its
 * own, in place of them, and lines that come in are indented as that line is. Undefined when that cannot be known.
 */
export function reindented(text: string, prefix: string, oldText: string, newText: string): string | undefined {
  if (newText === '' && oldText.endsWith('\n')) return ''; // the whole line goes
  const now = newText.split(/\r\n|\n/);
  const old = oldText.split(/\r\n|\n/);
  if (prefix === '' || (now.length === 1 && old.length === 1)) return prefix + newText;

  const to = prefix + indentOf(old[0]!);
  const single = old.slice(1).every((line) => line.trim() === '');
  if (single && isWrittenAsItStands(now, to)) return now[0]!.startsWith(to) ? newText : prefix + newText;
  const whole = withFirstIndented(old, now, (line) => (line === 0 ? to : indentOf(old[line]!)));
  if (whole) return whole.now.join('\n');
  const pairs = old
    .map((line, index) => ({ line: index, from: indentOf(line), to: index === 0 ? to : indentOf(line) }))
    .filter(({ line }) => line === 0 || old[line]!.trim() !== '');
  const indents = { pairs, fromUnit: smallestUnit([...old, ...now]), toUnit: usualUnit(text.split(/\r\n|\n/)) };
  const made = [...now];
  const hunks = diff(old, now);
  for (const hunk of hunks) {
    for (let index = hunk.toStart; index < hunk.toEnd; index++) {
      const line = hunk.fromStart + index - hunk.toStart;
      const replaced = line < hunk.fromEnd ? line : undefined;
      const indented = indentLike(now[index]!, indents, { replaced, after: Math.min(line, hunk.fromEnd) - 1 });
      if (indented === undefined) return undefined;
      made[index] = indented;
    }
  }
  // The first line, kept: wherever it is now, it needs its whole indentation.
  const first = hunks[0]?.fromStart === 0 ? hunks[0] : undefined;
  const kept = !first ? 0 : first.fromEnd === 0 ? first.toEnd : undefined;
  if (kept !== undefined) made[kept] = prefix + made[kept]!;
  return made.join('\n');
}
