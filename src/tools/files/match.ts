import type { EditReason } from '../../protocol/codes.ts';
import type { SeenText } from '../tool.ts';
import { indentationBefore, reindented } from './exact.ts';
import { endingAt, type Line, lineAt, splitLines, wholeLines, withEndings } from './lines.ts';
import { movedFrom } from './moved.ts';
import { isInexact, nearTwin } from './nearTwin.ts';
import { replaceLines } from './replace.ts';
import { mostFileLines, rivalOf, shiftedLines } from './rival.ts';
import { findRuns, nearestRun, type Run } from './runs.ts';

/** Replace `oldText`, which must be in the text exactly once, by `newText`. */
export interface Edit {
  oldText: string;
  newText: string;
  /** Both are whole lines, so that a part of a line is never meant. */
  lines?: true;
}

/** `tolerant`: at least one edit was found by its lines, not by its very text. */
export type EditResult = { ok: true; text: string; matched: 'exact' | 'tolerant' } | EditFailure;

export interface EditFailure {
  ok: false;
  reason: EditReason;
  /** Which edit, counted from 0. */
  index: number;
  /** The 1-based first lines of what was found too often, or the first and the last of the nearest candidate. */
  lines: number[];
  /** The file's own text at the nearest candidate. */
  candidate?: string;
  /** A second candidate, in the same form. */
  other?: { lines: number[]; candidate: string };
}

type Failed = Omit<EditFailure, 'ok' | 'index'>;
type Applied = { text: string; exact: boolean };

/**
 * Applies all edits, each to the result of the one before, or none. An edit is found by its exact text, else by its lines
 * (`findRuns`); what is found twice, or not surely, is a failure.
 * @param seen the lines that the model has read, if the file has changed since: the edit is for where its text stood there
 */
export function applyEdits(text: string, edits: readonly Edit[], seen?: SeenText): EditResult {
  let matched: 'exact' | 'tolerant' = 'exact';
  for (const [index, edit] of edits.entries()) {
    const result = applyEdit(text, { ...edit, oldText: plain(edit.oldText), newText: plain(edit.newText) }, seen);
    if ('reason' in result) return { ok: false, index, ...result };
    text = result.text;
    if (!result.exact) matched = 'tolerant';
  }
  return { ok: true, text, matched };
}

/** What these edits would make is there already: what each would replace is not, or is the same. */
export const isMade = (text: string, edits: readonly Edit[]): boolean =>
  edits.every((edit) => {
    const result = applyEdits(text, [edit]);
    if (result.ok) return false;
    return result.reason === 'DONE_ALREADY' || (result.reason === 'NO_CHANGE' && text.includes(edit.oldText));
  });

/** The byte order mark belongs to the encoding, not to the text. */
const plain = (text: string) => text.replace(/^\ufeff/, '');

function applyEdit(text: string, { oldText, newText, lines }: Edit, seen?: SeenText): Applied | Failed {
  if (oldText === '') return { reason: 'EMPTY', lines: [] };
  if (oldText === newText) return { reason: 'NO_CHANGE', lines: [] };
  const exact = lines ? [] : exactPlaces(text, oldText);
  if (exact.length > 1) return { reason: 'NOT_UNIQUE', lines: [...new Set(exact.map(({ at }) => lineAt(text, at)))] };
  const found = exact[0] ? linesAround(text, exact[0]) : onlyRun(text, oldText);
  const moved = seen && found && movedFailure(text, oldText, found, seen);
  if (moved) return moved;
  if (exact[0]) return applyExact(text, exact[0], oldText, newText);
  return applyByLines(text, oldText, newText);
}

/** Returns why a match in a file that has changed since is not where the model read the text. */
function movedFailure(text: string, oldText: string, found: readonly number[], seen: SeenText): Failed | undefined {
  const texts = splitLines(text).map(textOf);
  if (texts.length > mostFileLines) return undefined;
  const meant = movedFrom(texts, oldText, found, seen);
  if (meant === undefined) return undefined;
  const count = wholeLines(oldText).length;
  return {
    reason: 'MOVED',
    ...shown(texts, found[0]!, found.at(-1)! + 1),
    other: shown(texts, meant, Math.min(texts.length, meant + count)),
  };
}

/** Lines of the text, from 0, on which a match stands. */
function linesAround(text: string, { at, length }: Place): number[] {
  const [first, last] = [lineAt(text, at), lineAt(text, at + Math.max(1, length) - 1)];
  return Array.from({ length: last - first + 1 }, (_, index) => first - 1 + index);
}

/** Lines of the text, from 0, of the only run that the edit's lines can mean. */
function onlyRun(text: string, oldText: string): number[] | undefined {
  const [run, more] = findRuns(splitLines(text).map(textOf), wholeLines(oldText));
  return run && !more ? run.at.filter((line) => line >= 0) : undefined;
}

interface Place {
  at: number;
  length: number;
}

/** Line endings are never a difference: what a model writes with `\n` is looked for with `\r\n` as well. */
function exactPlaces(text: string, oldText: string): Place[] {
  const spellings = new Set([oldText, withEndings(oldText, '\n'), withEndings(oldText, '\r\n')]);
  const places: Place[] = [];
  for (const spelling of spellings) {
    for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + 1)) {
      places.push({ at, length: spelling.length });
    }
  }
  return places;
}

function applyExact(text: string, { at, length }: Place, oldText: string, newText: string): Applied | Failed {
  const end = at + length;
  const failed = (reason: Failed['reason']): Failed => {
    return { reason, lines: [lineAt(text, at)], candidate: wholeLinesAround(text, at, end) };
  };
  if (cutsWord(text, at, end, oldText, newText)) return failed('CUTS_WORD');
  const prefix = indentationBefore(text, at);
  // The lines were given without their indentation, or are parts of lines here: others that are the same count, too.
  const isPart = !isWholeLines(text, at, end);
  const runs = prefix === '' && !isPart ? [] : findRuns(splitLines(text).map(textOf), wholeLines(oldText));
  const found = new Set([...runs.map(firstLineOf), ...(isPart ? [lineAt(text, at)] : [])]);
  if (found.size > 1) return { reason: 'NOT_UNIQUE', lines: [...found].sort((one, other) => one - other) };
  const twin = runs[0] && !isPart ? twinFailure(splitLines(text).map(textOf), wholeLines(oldText), runs[0]) : undefined;
  if (twin) return twin;
  const made = reindented(text, prefix, oldText, newText);
  if (made === undefined) return failed('INDENTATION');
  const whole = made + (losesEnding(oldText, newText) && end < text.length ? '\n' : '');
  const before = text.slice(0, at - prefix.length);
  const blanks = /^[ \t]*(?=[\r\n]|$)/.exec(text.slice(end))?.[0] ?? '';
  const after = blanks === '' ? undefined : withBlanks(whole, oldText, blanks);
  const rest = text.slice(after === undefined ? end : end + blanks.length);
  return { text: before + withEndings(after ?? whole, endingAt(text, at)) + rest, exact: true };
}

/** Nothing but blanks stands before and behind it. */
const isWholeLines = (text: string, at: number, end: number) =>
  (/[\r\n]/.test(text[at]!) || text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '') &&
  (text[end - 1] === '\n' || /^[ \t]*(?=[\r\n]|$)/.test(text.slice(end)));

/** The new text with the blanks at the end of the file's last line where that line is kept; undefined: at its end. */
function withBlanks(newText: string, oldText: string, blanks: string): string | undefined {
  const lines = newText.split('\n');
  const last = oldText.slice(oldText.lastIndexOf('\n') + 1).trim();
  const kept = lines.findLastIndex((line) => line.trim() === last);
  if (last === '' || kept < 0 || kept === lines.length - 1) return undefined;
  return lines.map((line, index) => (index === kept ? line.trimEnd() + blanks : line)).join('\n');
}

const textOf = (line: Line) => line.text;
const firstLineOf = (run: Run) => run.at.find((index) => index >= 0)! + 1;

/** Lines were replaced and only the last line ending forgotten; joining two lines is asked for by taking it alone away. */
const losesEnding = (oldText: string, newText: string) =>
  /\n$/.test(oldText) && newText !== '' && !/\n[ \t]*$/.test(newText) && !oldText.startsWith(newText);

/**
 * True when the match begins or ends in the middle of one of the file's words, and the edit changes that word: `total = 1`
 * is in `total = 10`, but who wrote it has not seen the 10.
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

/** Of scripts that put blanks between words; a combining mark is never cut from its letter. */
const letter = '[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}\\p{M}_$]';
const firstWord = new RegExp(`^${letter}+`, 'u');
const lastWord = new RegExp(`${letter}+$`, 'u');

function wholeLinesAround(text: string, at: number, end: number): string {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const to = text.indexOf('\n', end);
  return text.slice(from, to < 0 ? undefined : to).trimEnd();
}

/** Where the old text does not end with a line ending, one at the new text's end is a blank line. */
function newLines(oldText: string, newText: string): string[] {
  return newText === '' || /[\r\n][ \t]*$/.test(oldText) ? wholeLines(newText) : newText.split(/\r\n|\n|\r/);
}

function applyByLines(text: string, oldText: string, newText: string): Applied | Failed {
  const lines = splitLines(text);
  const texts = lines.map(textOf);
  const old = wholeLines(oldText);
  const runs = findRuns(texts, old);
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
    return { text: made.text, exact: false };
  }
  const now = newText.trim();
  if (now.length > 20 && exactPlaces(text, now).length === 1) {
    const line = lineAt(text, exactPlaces(text, now)[0]!.at);
    return { reason: 'DONE_ALREADY', lines: [line] };
  }
  const near = nearestRun(texts, old);
  return near === undefined
    ? { reason: 'ABSENT', lines: [] }
    : candidate('ABSENT', near, Math.min(texts.length, near + old.length));
}

const endOf = (run: Run) => Math.max(...run.at) + 1;

/** Lines of the file, as a failure tells of them; `to` is not among them. */
const shown = (texts: readonly string[], from: number, to: number) => ({
  lines: from + 1 === to ? [to] : [from + 1, to],
  candidate: texts.slice(from, Math.min(to, from + 12)).join('\n'),
});

/**
 * Returns why a run that was found by tolerance is not surely the one that is meant: another run is as near, because it stands as
 * written where this one does not. Nobody looks for it in a file that is too long.
 */
function twinFailure(texts: readonly string[], old: readonly string[], run: Run): Failed | undefined {
  const shifted = shiftedLines(texts, old, run.at);
  const inexact = isInexact(texts, old, run);
  if (shifted.length === 0 && !inexact) return undefined;
  const found = shown(texts, firstLineOf(run) - 1, endOf(run));
  if (texts.length > mostFileLines) return { reason: shifted.length > 0 ? 'INDENTATION' : 'INEXACT', ...found };
  const other = (at: number) => shown(texts, at, Math.min(texts.length, at + old.length));
  const rival = shifted.length > 0 ? rivalOf(texts, old, run.at, shifted) : undefined;
  if (rival !== undefined) return { reason: 'OTHER_INDENTATION', ...found, other: other(rival) };
  const twin = inexact ? nearTwin(texts, old, run) : undefined;
  return twin === undefined ? undefined : { reason: 'NEAR_TWIN', ...found, other: other(twin) };
}
