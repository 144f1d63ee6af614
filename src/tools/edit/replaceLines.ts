import { type DiffHunk, diffSequences } from './diff.ts';
import {
  type IndentMapping,
  leadingWhitespace,
  reindentLine,
  restoreFirstLineIndent,
  smallestIndentUnit,
  usualIndentUnit,
} from './indent.ts';
import type { MatchedLines } from './lineMatches.ts';
import type { TextLine } from './lines.ts';
import { normalizeText } from './normalizeText.ts';

type Unsure = 'CHANGES_SIMILAR' | 'CHANGES_BLANKS' | 'INDENTATION';

/**
 * Applies the difference of `old` and `now` to the file's lines at a run. Unchanged parts stay as in the file: indentation, typography,
 * trailing blanks and line endings.
 */
export function replaceLines(
  lines: readonly TextLine[],
  run: MatchedLines,
  given: readonly string[],
  wanted: readonly string[],
): { text: string } | { unsure: Unsure } {
  const whole = restoreFirstLineIndent(given, wanted, (line) => leadingWhitespace(lines[run.at[line]!]?.text ?? ''));
  const { old, now } = whole ?? { old: given, now: wanted };
  const hunks = hunksOf(old.map(withoutEnd), now.map(withoutEnd));
  const unsure = replacementDoubt(run, hunks, old, now);
  if (unsure) return { unsure };

  const indents = indentsOf(lines, run, old, now);
  const first = run.at.find((index) => index >= 0)!;
  const changed = new Map<number, string | undefined>(); // undefined: removed
  const inserted = new Map<number, string[]>(); // after the line with this index
  for (const hunk of hunks) {
    const replaced = hunk.fromEnd - hunk.fromStart;
    const anchor = run.at.slice(0, hunk.fromEnd).findLast((index) => index >= 0) ?? first - 1;
    for (let line = hunk.fromStart; line < hunk.fromEnd; line++)
      if (run.at[line]! >= 0) changed.set(run.at[line]!, undefined);
    for (let index = 0; index < hunk.toEnd - hunk.toStart; index++) {
      const line = hunk.fromStart + index;
      const text = now[hunk.toStart + index]!;
      const own = index < replaced ? lines[run.at[line]!] : undefined;
      const after = Math.min(line, hunk.fromEnd) - 1;
      const made =
        (own && changedLine(own.text, old[line]!, text)) ??
        reindentLine(text, indents, own ? { replaced: line, after } : { after });
      if (made === undefined) return { unsure: 'INDENTATION' };
      if (own) changed.set(run.at[line]!, made);
      else inserted.set(anchor, [...(inserted.get(anchor) ?? []), made]);
    }
  }
  return { text: join(lines, changed, inserted, lines[first]!.ending || lines[first - 1]?.ending || '\n') };
}

// Returns the hunks of an edit. If lines are replaced in place, this interpretation wins over the diff's choice among equal lines.
function hunksOf(old: readonly string[], now: readonly string[]): DiffHunk[] {
  const hunks = diffSequences(old, now);
  const size = hunks.reduce((sum, one) => sum + one.fromEnd - one.fromStart + one.toEnd - one.toStart, 0);
  const changed = [...old.keys()].filter((line) => old[line] !== now[line]);
  if (old.length !== now.length || changed.length * 2 > size) return hunks;
  return changed.map((line) => ({ fromStart: line, fromEnd: line + 1, toStart: line, toEnd: line + 1 }));
}

const withoutEnd = (line: string) => line.trimEnd();

function replacementDoubt(
  run: MatchedLines,
  hunks: readonly DiffHunk[],
  old: readonly string[],
  now: readonly string[],
): Unsure | undefined {
  // The diff's choice among equal lines is arbitrary.
  const times = (lines: readonly string[], text: string) => lines.filter((line) => line.trim() === text.trim()).length;
  for (const line of run.similar) if (times(old, old[line]!) !== times(now, old[line]!)) return 'CHANGES_SIMILAR';
  for (const hunk of hunks) {
    for (let line = hunk.fromStart; line < hunk.fromEnd; line++) if (run.similar.has(line)) return 'CHANGES_SIMILAR';
    const lines = [...old.slice(hunk.fromStart, hunk.fromEnd), ...now.slice(hunk.toStart, hunk.toEnd)];
    const touches = run.gaps.some(([before, after]) => hunk.fromStart <= after && hunk.fromEnd > before);
    if (touches && lines.some((line) => line.trim() === '')) return 'CHANGES_BLANKS';
  }
  return undefined;
}

function indentsOf(
  lines: readonly TextLine[],
  run: MatchedLines,
  old: readonly string[],
  now: readonly string[],
): IndentMapping {
  const pairs = old.flatMap((text, line) =>
    text.trim() === ''
      ? []
      : [{ line, from: leadingWhitespace(text), to: leadingWhitespace(lines[run.at[line]!]!.text) }],
  );
  return {
    pairs,
    fromUnit: smallestIndentUnit([...old, ...now]),
    toUnit: usualIndentUnit(lines.map((line) => line.text)),
  };
}

function join(
  lines: readonly TextLine[],
  changed: ReadonlyMap<number, string | undefined>,
  inserted: ReadonlyMap<number, string[]>,
  ending: string,
): string {
  const made: TextLine[] = (inserted.get(-1) ?? []).map((text) => ({ text, ending }));
  for (const [index, line] of lines.entries()) {
    const text = changed.has(index) ? changed.get(index) : line.text;
    if (text !== undefined) made.push({ text, ending: line.ending });
    for (const text of inserted.get(index) ?? []) made.push({ text, ending: line.ending || ending });
  }
  // The last line stays without a line ending if the file had none.
  const lastHasNone = lines.at(-1)!.ending === '';
  return made
    .map(({ text, ending: own }, index) => text + (index === made.length - 1 && lastHasNone ? '' : own || ending))
    .join('');
}

/**
 * Applies the word difference of an old and a new line to the file's line. Undefined if the lines have little in common or the indentation
 * changed.
 */
function changedLine(own: string, old: string, now: string): string | undefined {
  const from = tokens(old.trim());
  const to = tokens(now.trim());
  const oldFolded = normalizeText(old.trim());
  const ownFolded = normalizeText(own.trim());
  if (leadingWhitespace(old) !== leadingWhitespace(now) || oldFolded.text !== ownFolded.text) return undefined;
  const hunks = diffSequences(from, to);
  const unchangedCount = from.length - hunks.reduce((sum, hunk) => sum + hunk.fromEnd - hunk.fromStart, 0);
  if (unchangedCount < Math.max(from.length, to.length) / 3) return undefined;

  const offsets = [0];
  for (const token of from) offsets.push(offsets.at(-1)! + token.length);
  // Maps a position in the old line to the file's line through the normalized text.
  const at = (token: number) => ownFolded.starts[oldFolded.starts.findIndex((start) => start >= offsets[token]!)]!;
  const line = own.trim();
  let made = '';
  let next = 0;
  for (const hunk of hunks) {
    made += line.slice(at(next), at(hunk.fromStart)) + to.slice(hunk.toStart, hunk.toEnd).join('');
    next = hunk.fromEnd;
  }
  made += line.slice(at(next));
  return leadingWhitespace(own) + made + own.slice(own.trimEnd().length);
}

const tokens = (line: string) => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
