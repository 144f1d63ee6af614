import { diff } from './diff.ts';
import { indentLike, indentOf, isWrittenAsItStands, smallestUnit, usualUnit, withFirstIndented } from './indent.ts';

/** Returns the indentation before a position, if only blanks precede the position on its line. */
export function indentationBefore(text: string, at: number): string {
  const prefix = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return prefix.trim() === '' ? prefix : '';
}

/**
 * Returns the new text of a match after `prefix`, the indentation of the file that the edit omitted. The indentation of the new text is
 * replaced, and added lines are indented like the matched line. Undefined if the indentation is unknown.
 */
export function reindented(text: string, prefix: string, oldText: string, newText: string): string | undefined {
  if (newText === '' && oldText.endsWith('\n')) return ''; // the whole line is deleted
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
  // The unchanged first line needs its full indentation at its new position.
  const first = hunks[0]?.fromStart === 0 ? hunks[0] : undefined;
  const kept = !first ? 0 : first.fromEnd === 0 ? first.toEnd : undefined;
  if (kept !== undefined) made[kept] = prefix + made[kept]!;
  return made.join('\n');
}
