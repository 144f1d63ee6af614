import { diff } from './diff.ts';
import { indentLike, indentOf, smallestUnit, usualUnit } from './indent.ts';

/**
 * The new text of an exact match. Where the match begins within a line's indentation, its first line shows less than the
 * file has, and lines that come in are indented as the file's line is. Undefined when that cannot be known.
 */
export function reindented(text: string, at: number, oldText: string, newText: string): string | undefined {
  const prefix = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  const now = newText.split(/\r\n|\n/);
  const old = oldText.split(/\r\n|\n/);
  if (prefix === '' || prefix.trim() !== '' || (now.length === 1 && old.length === 1)) return newText;

  const to = prefix + indentOf(old[0]!);
  const single = old.slice(1).every((line) => line.trim() === '');
  if (single && isWrittenAsItStands(now, to)) {
    const whole = now[0]!.startsWith(to);
    return whole ? newText.slice(prefix.length) : newText;
  }
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
    // What was the first line comes after what is put before it, and then needs its whole indentation.
    if (hunk.fromEnd === 0 && hunk.toEnd < now.length) made[hunk.toEnd] = prefix + now[hunk.toEnd]!;
  }
  if (hunks[0]?.fromStart === 0) made[0] = withoutPrefix(made[0]!, prefix); // else it is as short as the old one
  return made.join('\n');
}

/** The match begins after the file's own blanks, so that the first line must not bring them again. */
const withoutPrefix = (line: string, prefix: string) => (line.startsWith(prefix) ? line.slice(prefix.length) : line);

/** Only the first line was written without its indentation: the others have at least what the file's line has. */
function isWrittenAsItStands([first = '', ...rest]: readonly string[], indent: string): boolean {
  const lines = rest.filter((line) => line.trim() !== '');
  const body = lines[0] ?? '';
  // What follows an opening line is deeper than it, so a line that is not was meant to be deeper than the file's.
  const opens = /[{([:]\s*$|=>\s*$/.test(first);
  if (opens && indentOf(body) === indent) return false;
  return lines.length === 0 || lines.some((line) => indentOf(line).startsWith(indent));
}
