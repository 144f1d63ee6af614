import type { EditFailureReason } from '../../protocol/text/codes.ts';
import type { TextSeenByModel } from '../core/tool.ts';
import { findAmbiguousMatch, maxMatchedFileLines, reindentedEditLines } from './ambiguousMatch.ts';
import { diffSequences } from './diff.ts';
import { type HunkLocation, matchAtHunkLocation } from './hunkLocation.ts';
import {
  isOnlyFirstLineUnindented,
  leadingWhitespace,
  reindentLine,
  restoreFirstLineIndent,
  smallestIndentUnit,
  usualIndentUnit,
} from './indent.ts';
import { findClosestLines, findLineMatches, type MatchedLines } from './lineMatches.ts';
import {
  convertLineEndings,
  lineEndingAt,
  lineNumberAtOffset,
  linesWithoutTrailingBlank,
  splitLines,
  type TextLine,
} from './lines.ts';
import { findMovedEditTarget } from './movedLines.ts';
import { replaceLines } from './replaceLines.ts';
import { applyReplacement, applyReplacements, narrowReplacement, type TextReplacement } from './replacements.ts';
import { findCompetingLines, isInexact } from './similarLines.ts';

/**
 * Replacement of `oldText`, which must occur exactly once, by `newText`. With `lines`, both texts are whole lines and parts of lines never
 * match; then `location` locates the match if the lines occur several times.
 */
export interface SearchReplaceEdit {
  oldText: string;
  newText: string;
  /** Both texts are whole lines; parts of lines never match. */
  lines?: true;
  location?: HunkLocation;
}

/** Result of edits. `tolerant`: at least one edit was matched by lines instead of exact text. `idle`: indexes of edits without effect. */
export type EditResult = { ok: true; text: string; matched: 'exact' | 'tolerant'; idle?: number[] } | EditFailure;

/**
 * Failure of the edit `index` (from 0). `lines` are first lines of all matches (from 1), or the first and last line of the nearest
 * candidate. `candidate` is the file's text there; `other` is a second candidate. `overlaps` is the number of the overlapping edit (from
 * 1).
 */
export interface EditFailure {
  ok: false;
  reason: EditFailureReason;
  index: number;
  lines: number[];
  candidate?: string;
  other?: { lines: number[]; candidate: string };
  overlaps?: number;
}

type Failed = Omit<EditFailure, 'ok' | 'index'>;
type Applied = TextReplacement & { exact: boolean };

/**
 * Applies all edits to the text, or none. An edit is matched by exact text, else by lines (`findLineMatches`); ambiguous, doubtful and overlapping
 * matches fail. An edit of text created by earlier edits is applied to their result. Edits without effect are dropped, unless all are.
 * @param seen lines last read by the model, if the file has changed since: a match must be at the position of the read text
 */
export function applyEdits(text: string, edits: readonly SearchReplaceEdit[], seen?: TextSeenByModel): EditResult {
  const all = edits.map((edit) => ({ ...edit, oldText: plain(edit.oldText), newText: plain(edit.newText) }));
  const idle = [...all.keys()].filter((index) => all[index]!.oldText === all[index]!.newText);
  const wanted = [...all.keys()].filter((index) => !idle.includes(index));
  if (wanted.length === 0)
    return { ok: false, index: 0, reason: all[0]?.oldText === '' ? 'EMPTY' : 'NO_CHANGE', lines: [] };

  const found: Applied[] = [];
  for (const index of wanted) {
    const result = applyEdit(text, all[index]!, seen);
    if (!('reason' in result)) found.push(result);
    else
      return (
        (result.reason === 'ABSENT' && inSequence(text, all, wanted, idle, seen)) || { ok: false, index, ...result }
      );
  }
  const made = applyReplacements(text, found);
  if (!('overlap' in made)) return done(made.text, found, idle);
  const [one, other] = made.overlap.map((at) => wanted[at]! + 1).sort((a, b) => a - b) as [number, number];
  const { from } = found[wanted.indexOf(other - 1)]!;
  return { ok: false, index: other - 1, reason: 'OVERLAP', lines: [lineNumberAtOffset(text, from)], overlaps: one };
}

function inSequence(
  text: string,
  edits: readonly SearchReplaceEdit[],
  wanted: readonly number[],
  idle: number[],
  seen?: TextSeenByModel,
): EditResult | undefined {
  const found: Applied[] = [];
  for (const index of wanted) {
    const result = applyEdit(text, edits[index]!, seen);
    if ('reason' in result) return undefined;
    found.push(result);
    text = applyReplacement(text, result);
  }
  return done(text, found, idle);
}

function done(text: string, found: readonly Applied[], idle: number[]): EditResult {
  const matched = found.every(({ exact }) => exact) ? 'exact' : 'tolerant';
  return { ok: true, text, matched, ...(idle.length > 0 && { idle }) };
}

export const areEditsApplied = (text: string, edits: readonly SearchReplaceEdit[]): boolean =>
  edits.every((edit) => {
    const result = applyEdits(text, [edit]);
    if (result.ok) return false;
    return result.reason === 'DONE_ALREADY' || (result.reason === 'NO_CHANGE' && text.includes(edit.oldText));
  });

const plain = (text: string) => text.replace(/^\ufeff/, '');

function applyEdit(text: string, edit: SearchReplaceEdit, seen?: TextSeenByModel): Applied | Failed {
  const { oldText, newText, lines } = edit;
  if (oldText === '') return { reason: 'EMPTY', lines: [] };
  const exact = lines ? [] : exactMatches(text, oldText);
  if (exact.length > 1)
    return { reason: 'NOT_UNIQUE', lines: [...new Set(exact.map(({ at }) => lineNumberAtOffset(text, at)))] };
  const found = exact[0] ? linesAround(text, exact[0]) : onlyRun(text, edit);
  const moved = seen && found && movedFailure(text, oldText, found, seen);
  if (moved) return moved;
  if (exact[0]) return applyExact(text, exact[0], oldText, newText);
  return applyByLines(text, edit);
}

function movedFailure(
  text: string,
  oldText: string,
  found: readonly number[],
  seen: TextSeenByModel,
): Failed | undefined {
  const texts = splitLines(text).map(textOf);
  if (texts.length > maxMatchedFileLines) return undefined;
  const meant = findMovedEditTarget(texts, oldText, found, seen);
  if (meant === undefined) return undefined;
  const count = linesWithoutTrailingBlank(oldText).length;
  return {
    reason: 'MOVED',
    ...shown(texts, found[0]!, found.at(-1)! + 1),
    other: shown(texts, meant, Math.min(texts.length, meant + count)),
  };
}

function linesAround(text: string, { at, length }: TextRange): number[] {
  const [first, last] = [lineNumberAtOffset(text, at), lineNumberAtOffset(text, at + Math.max(1, length) - 1)];
  return Array.from({ length: last - first + 1 }, (_, index) => first - 1 + index);
}

function onlyRun(text: string, edit: SearchReplaceEdit): number[] | undefined {
  const [run, more] = runsOf(splitLines(text).map(textOf), edit);
  return run && !more ? run.at.filter((line) => line >= 0) : undefined;
}

function runsOf(texts: readonly string[], { oldText, location }: SearchReplaceEdit): MatchedLines[] {
  const runs = findLineMatches(texts, linesWithoutTrailingBlank(oldText));
  return runs.length > 1 && location ? (matchAtHunkLocation(texts, runs, location) ?? runs) : runs;
}

interface TextRange {
  at: number;
  length: number;
}

// Finds exact matches with any line ending: `\n` of a model also matches `\r\n`.
function exactMatches(text: string, oldText: string): TextRange[] {
  const spellings = new Set([oldText, convertLineEndings(oldText, '\n'), convertLineEndings(oldText, '\r\n')]);
  const ranges: TextRange[] = [];
  for (const spelling of spellings) {
    for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + 1)) {
      ranges.push({ at, length: spelling.length });
    }
  }
  return ranges;
}

function applyExact(text: string, { at, length }: TextRange, oldText: string, newText: string): Applied | Failed {
  const end = at + length;
  const failed = (reason: Failed['reason']): Failed => {
    return { reason, lines: [lineNumberAtOffset(text, at)], candidate: wholeLinesAround(text, at, end) };
  };
  if (cutsWord(text, at, end, oldText, newText)) return failed('CUTS_WORD');
  const prefix = indentationBefore(text, at);
  const start = at - prefix.length;
  // The lines lack their indentation or are parts of lines, so equal lines elsewhere count too.
  const isPart = !isWholeLines(text, at, end);
  const runs =
    prefix === '' && !isPart ? [] : findLineMatches(splitLines(text).map(textOf), linesWithoutTrailingBlank(oldText));
  const found = new Set([...runs.map(firstLineOf), ...(isPart ? [lineNumberAtOffset(text, at)] : [])]);
  if (found.size > 1) return { reason: 'NOT_UNIQUE', lines: [...found].sort((one, other) => one - other) };
  const twin =
    runs[0] && !isPart
      ? twinFailure(splitLines(text).map(textOf), linesWithoutTrailingBlank(oldText), runs[0])
      : undefined;
  if (twin) return twin;
  const rest = restOfLine.exec(text.slice(end))?.[0];
  if (newText === '' && rest !== undefined && !oldText.endsWith('\n') && /(^|[\r\n])$/.test(text.slice(0, start)))
    return { from: start, to: end + rest.length, made: '', exact: true }; // deleting a line leaves no blank line
  const made = reindented(text, prefix, oldText, newText);
  if (made === undefined) return failed('INDENTATION');
  const whole = made + (losesEnding(oldText, newText) && end < text.length ? '\n' : '');
  const blanks = /^[ \t]*(?=[\r\n]|$)/.exec(text.slice(end))?.[0] ?? '';
  const after = blanks === '' ? undefined : withBlanks(whole, oldText, blanks);
  const to = after === undefined ? end : end + blanks.length;
  return { from: start, to, made: convertLineEndings(after ?? whole, lineEndingAt(text, at)), exact: true };
}

const restOfLine = /^[ \t]*(?:\r\n|\n|\r|$)/;

const isWholeLines = (text: string, at: number, end: number) =>
  (/[\r\n]/.test(text[at]!) || text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '') &&
  (text[end - 1] === '\n' || /^[ \t]*(?=[\r\n]|$)/.test(text.slice(end)));

// Returns the new text with the trailing blanks of the file on an unchanged last line; undefined if appended at the end.
function withBlanks(newText: string, oldText: string, blanks: string): string | undefined {
  const lines = newText.split('\n');
  const last = oldText.slice(oldText.lastIndexOf('\n') + 1).trim();
  const lastEqual = lines.findLastIndex((line) => line.trim() === last);
  if (last === '' || lastEqual < 0 || lastEqual === lines.length - 1) return undefined;
  return lines.map((line, index) => (index === lastEqual ? line.trimEnd() + blanks : line)).join('\n');
}

const textOf = (line: TextLine) => line.text;
const firstLineOf = (run: MatchedLines) => run.at.find((index) => index >= 0)! + 1;

// Deleting a line ending alone means joining two lines.
const losesEnding = (oldText: string, newText: string) =>
  /\n$/.test(oldText) && newText !== '' && !/\n[ \t]*$/.test(newText) && !oldText.startsWith(newText);

/**
 * Tests if the match starts or ends inside of a word that the edit changes: `total = 1` matches in `total = 10`, but the author did not see
 * the 10.
 */
function cutsWord(text: string, at: number, end: number, oldText: string, newText: string): boolean {
  let same = 0;
  while (same < oldText.length && oldText[same] === newText[same]) same += 1;
  let sameAtEnd = 0;
  while (sameAtEnd < oldText.length && oldText.at(-1 - sameAtEnd) === newText.at(-1 - sameAtEnd)) sameAtEnd += 1;
  const first = firstWord.exec(oldText)?.[0].length ?? 0;
  const last = lastWord.exec(oldText)?.[0].length ?? 0;
  const cutAtStart = first > 0 && lastWord.test(text.slice(Math.max(0, at - 2), at));
  const cutAtEnd = last > 0 && firstWord.test(text.slice(end, end + 2));
  return (cutAtStart && same < first) || (cutAtEnd && sameAtEnd < last);
}

// Letters of scripts with blanks between words; a combining mark belongs to its letter.
const letter = '[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}\\p{M}_$]';
const firstWord = new RegExp(`^${letter}+`, 'u');
const lastWord = new RegExp(`${letter}+$`, 'u');

// Maximum characters to show of a line: longer lines occur only in generated files.
const maxAroundMatch = 200;

function wholeLinesAround(text: string, at: number, end: number): string {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const newline = text.indexOf('\n', end);
  const to = newline < 0 ? text.length : newline;
  const [start, stop] = [Math.max(from, at - maxAroundMatch), Math.min(to, end + maxAroundMatch)];
  return `${start > from ? '…' : ''}${text.slice(start, stop).trimEnd()}${stop < to ? '…' : ''}`;
}

// Splits the new text. If the old text has no final line ending, a final line ending of the new text is a blank line.
function newLines(oldText: string, newText: string): string[] {
  return newText === '' || /[\r\n][ \t]*$/.test(oldText)
    ? linesWithoutTrailingBlank(newText)
    : newText.split(/\r\n|\n|\r/);
}

function applyByLines(text: string, edit: SearchReplaceEdit): Applied | Failed {
  const { oldText, newText } = edit;
  const lines = splitLines(text);
  const texts = lines.map(textOf);
  const old = linesWithoutTrailingBlank(oldText);
  const runs = runsOf(texts, edit);
  if (runs.length > 1) return { reason: 'NOT_UNIQUE', lines: runs.map(firstLineOf) };
  const candidate = (reason: Failed['reason'], from: number, to: number): Failed => ({
    reason,
    ...shown(texts, from, to),
  });
  if (runs[0]) {
    const twin = twinFailure(texts, old, runs[0]);
    if (twin) return twin;
    const made = replaceLines(lines, runs[0], old, newLines(oldText, newText));
    if ('unsure' in made) return candidate(made.unsure, firstLineOf(runs[0]) - 1, endOf(runs[0]));
    const sizeOf = (part: readonly TextLine[]) =>
      part.reduce((sum, line) => sum + line.text.length + line.ending.length, 0);
    const from = sizeOf(lines.slice(0, firstLineOf(runs[0]) - 1));
    const to = from + sizeOf(lines.slice(firstLineOf(runs[0]) - 1, endOf(runs[0])));
    return { ...narrowReplacement(text, made.text, from, to), exact: false };
  }
  const now = newText.trim();
  if (now.length > 20 && exactMatches(text, now).length === 1) {
    const line = lineNumberAtOffset(text, exactMatches(text, now)[0]!.at);
    return { reason: 'DONE_ALREADY', lines: [line] };
  }
  const near = findClosestLines(texts, old);
  return near === undefined
    ? { reason: 'ABSENT', lines: [] }
    : candidate('ABSENT', near, Math.min(texts.length, near + old.length));
}

const endOf = (run: MatchedLines) => Math.max(...run.at) + 1;

const shown = (texts: readonly string[], from: number, to: number) => ({
  lines: from + 1 === to ? [to] : [from + 1, to],
  candidate: texts.slice(from, Math.min(to, from + 12)).join('\n'),
});

/**
 * Returns the failure if a tolerant match is ambiguous: another run is equally close, and matches exactly where the found run does not.
 * Very long files are not searched.
 */
function twinFailure(texts: readonly string[], old: readonly string[], run: MatchedLines): Failed | undefined {
  const shifted = reindentedEditLines(texts, old, run.at);
  const inexact = isInexact(texts, old, run);
  if (shifted.length === 0 && !inexact) return undefined;
  const found = shown(texts, firstLineOf(run) - 1, endOf(run));
  if (texts.length > maxMatchedFileLines) return { reason: shifted.length > 0 ? 'INDENTATION' : 'INEXACT', ...found };
  const other = (at: number) => shown(texts, at, Math.min(texts.length, at + old.length));
  const rival = shifted.length > 0 ? findAmbiguousMatch(texts, old, run.at, shifted) : undefined;
  if (rival !== undefined) return { reason: 'OTHER_INDENTATION', ...found, other: other(rival) };
  const twin = inexact ? findCompetingLines(texts, old, run) : undefined;
  return twin === undefined ? undefined : { reason: 'NEAR_TWIN', ...found, other: other(twin) };
}

function indentationBefore(text: string, at: number): string {
  const prefix = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return prefix.trim() === '' ? prefix : '';
}

/**
 * Returns the new text of a match after `prefix`, the indentation of the file that the edit omitted. The indentation of the new text is
 * replaced, and added lines are indented like the matched line. Undefined if the indentation is unknown.
 */
function reindented(text: string, prefix: string, oldText: string, newText: string): string | undefined {
  if (newText === '' && oldText.endsWith('\n')) return ''; // the whole line is deleted
  const now = newText.split(/\r\n|\n/);
  const old = oldText.split(/\r\n|\n/);
  if (prefix === '' || (now.length === 1 && old.length === 1)) return prefix + newText;

  const to = prefix + leadingWhitespace(old[0]!);
  const single = old.slice(1).every((line) => line.trim() === '');
  if (single && isOnlyFirstLineUnindented(now, to)) return now[0]!.startsWith(to) ? newText : prefix + newText;
  const whole = restoreFirstLineIndent(old, now, (line) => (line === 0 ? to : leadingWhitespace(old[line]!)));
  if (whole) return whole.now.join('\n');
  const pairs = old
    .map((line, index) => ({
      line: index,
      from: leadingWhitespace(line),
      to: index === 0 ? to : leadingWhitespace(line),
    }))
    .filter(({ line }) => line === 0 || old[line]!.trim() !== '');
  const indents = {
    pairs,
    fromUnit: smallestIndentUnit([...old, ...now]),
    toUnit: usualIndentUnit(text.split(/\r\n|\n/)),
  };
  const made = [...now];
  const hunks = diffSequences(old, now);
  for (const hunk of hunks) {
    for (let index = hunk.toStart; index < hunk.toEnd; index++) {
      const line = hunk.fromStart + index - hunk.toStart;
      const replaced = line < hunk.fromEnd ? line : undefined;
      const indented = reindentLine(now[index]!, indents, { replaced, after: Math.min(line, hunk.fromEnd) - 1 });
      if (indented === undefined) return undefined;
      made[index] = indented;
    }
  }
  // The unchanged first line needs its full indentation at its new position.
  const first = hunks[0]?.fromStart === 0 ? hunks[0] : undefined;
  const unchangedLines = !first ? 0 : first.fromEnd === 0 ? first.toEnd : undefined;
  if (unchangedLines !== undefined) made[unchangedLines] = prefix + made[unchangedLines]!;
  return made.join('\n');
}
