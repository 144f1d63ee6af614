import { diff } from './diff.ts';
import { fold, foldedLine } from './fold.ts';
import { indentLike, indentOf } from './indent.ts';

/** Replace `oldText`, which must be in the text exactly once, by `newText`. */
export interface Edit {
  oldText: string;
  newText: string;
}

/** `tolerant`: at least one edit was found by its lines, apart from blanks at their ends and typography. */
export type EditResult = { ok: true; text: string; matched: 'exact' | 'tolerant' } | EditFailure;

/** `lines` are the 1-based first lines of what was found too often, or of the nearest candidate. */
export interface EditFailure {
  ok: false;
  reason: 'ABSENT' | 'NOT_UNIQUE' | 'EMPTY' | 'NO_CHANGE';
  /** Which edit, counted from 0. */
  index: number;
  lines: number[];
  /** The file's own text at the nearest candidate. */
  candidate?: string;
}

/** Applies all edits, each to the result of the one before, or none. */
export function applyEdits(text: string, edits: readonly Edit[]): EditResult {
  let matched: 'exact' | 'tolerant' = 'exact';
  for (const [index, edit] of edits.entries()) {
    const failed = (reason: EditFailure['reason'], lines: number[], candidate?: string): EditFailure => ({
      ok: false,
      reason,
      index,
      lines,
      ...(candidate !== undefined && { candidate }),
    });
    if (edit.oldText === '') return failed('EMPTY', []);
    if (edit.oldText === edit.newText) return failed('NO_CHANGE', []);
    const exact = exactPlaces(text, edit.oldText);
    if (exact.length > 1) {
      return failed('NOT_UNIQUE', [...new Set(exact.map((place) => lineAt(text, place.at)))]);
    }
    if (exact[0]) {
      const { at, length } = exact[0];
      text = text.slice(0, at) + withEndings(edit.newText, endingAt(text, at)) + text.slice(at + length);
      continue;
    }
    const lines = splitLines(text);
    const old = wholeLines(edit.oldText);
    const places = tolerantPlaces(lines, old);
    if (places.length > 1)
      return failed(
        'NOT_UNIQUE',
        places.map((place) => place + 1),
      );
    if (places.length === 0) {
      const near = nearestPlace(lines, old);
      if (near === undefined) return failed('ABSENT', []);
      const found = lines.slice(near, near + Math.min(old.length, 12));
      return failed('ABSENT', [near + 1], found.map((line) => line.text).join('\n'));
    }
    text = replaceLines(lines, places[0]!, old, wholeLines(edit.newText));
    matched = 'tolerant';
  }
  return { ok: true, text, matched };
}

/** Line endings are never a difference: what a model writes with `\n` is looked for with `\r\n` as well. */
function exactPlaces(text: string, oldText: string): { at: number; length: number }[] {
  const spellings = new Set([oldText, withEndings(oldText, '\n'), withEndings(oldText, '\r\n')]);
  const places: { at: number; length: number }[] = [];
  for (const spelling of spellings) {
    for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + 1)) {
      places.push({ at, length: spelling.length });
    }
  }
  return places;
}

const withEndings = (text: string, ending: string) => text.replaceAll(/\r\n|\n/g, ending);

/** The line ending in use at a place: that of its line, else of the line before, else of the file. */
function endingAt(text: string, at: number): string {
  const next = /\r\n|\n/.exec(text.slice(at))?.[0];
  return next ?? (text.lastIndexOf('\r\n') >= 0 ? '\r\n' : '\n');
}

const lineAt = (text: string, at: number) => text.slice(0, at).split('\n').length;

interface Line {
  text: string;
  /** `\n`, `\r\n`, `\r`, or nothing on the last line. */
  ending: string;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (const [, line, ending] of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    if (line === '' && ending === '') break;
    lines.push({ text: line!, ending: ending! });
  }
  return lines;
}

function wholeLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1)?.trim() === '') lines.pop(); // the ending of the last line, not a line of its own
  return lines;
}

function tolerantPlaces(lines: readonly Line[], old: readonly string[]): number[] {
  const wanted = old.map(foldedLine);
  if (wanted.every((line) => line === '')) return [];
  const folded = lines.map((line) => foldedLine(line.text));
  const places: number[] = [];
  for (let at = 0; at + wanted.length <= folded.length; at++) {
    if (wanted.every((line, index) => line === folded[at + index])) places.push(at);
  }
  return places;
}

/** The window that has most of the wanted lines in their places, for the message; undefined when it has none. */
function nearestPlace(lines: readonly Line[], old: readonly string[]): number | undefined {
  if (lines.length > 50_000) return undefined;
  const wanted = old.map(foldedLine);
  const folded = lines.map((line) => foldedLine(line.text));
  const words = (line: string) => new Set(line.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
  const wantedWords = wanted.slice(0, 20).map(words);
  const foldedWords = folded.map(words);
  let best: { at: number; score: number } | undefined;
  for (let at = 0; at < folded.length; at++) {
    let score = 0;
    for (const [index, mine] of wantedWords.entries()) {
      const theirs = foldedWords[at + index];
      if (!theirs || mine.size === 0) continue;
      let common = 0;
      for (const word of mine) if (theirs.has(word)) common += 1;
      score += common / Math.max(mine.size, theirs.size);
    }
    if (score > 0.3 && score > (best?.score ?? 0)) best = { at, score };
  }
  return best?.at;
}

/** Puts the difference between `old` and `now` onto the file's own lines: what did not change stays as the file has it. */
function replaceLines(lines: readonly Line[], at: number, old: readonly string[], now: readonly string[]): string {
  const own = lines.slice(at, at + old.length);
  const ending = own.find((line) => line.ending !== '')?.ending ?? lines[at - 1]?.ending ?? '\n';
  const indents = old
    .map((text, line) => ({ line, text, from: indentOf(text), to: indentOf(own[line]!.text) }))
    .filter(({ text }) => text.trim() !== '');
  const made: Line[] = [];
  let next = 0;
  for (const hunk of diff(old.map(withoutEnd), now.map(withoutEnd))) {
    made.push(...own.slice(next, hunk.fromStart));
    for (let index = hunk.toStart; index < hunk.toEnd; index++) {
      const replaced = hunk.fromStart + (index - hunk.toStart);
      const kept = replaced < hunk.fromEnd && changedLine(own[replaced]!.text, old[replaced]!, now[index]!);
      const indented = indentLike(now[index]!, indents, Math.min(replaced, old.length - 1));
      made.push({ text: kept || indented, ending });
    }
    next = hunk.fromEnd;
  }
  made.push(...own.slice(next));
  const whole = [...lines.slice(0, at), ...made, ...lines.slice(at + old.length)];
  // Only the file's last line may lack an ending, and it does so only if it did before.
  const lastHadNone = lines.at(-1)!.ending === '';
  return whole
    .map((line, index) => {
      const last = index === whole.length - 1;
      return line.text + (last && lastHadNone ? '' : line.ending || ending);
    })
    .join('');
}

const withoutEnd = (line: string) => line.trimEnd();

/**
 * One line that was changed in part: the difference of the old and the new line, by words, put onto the file's own line.
 * False when the two lines have little in common or the indentation changed.
 */
function changedLine(own: string, old: string, now: string): string | false {
  const from = tokens(old.trim());
  const to = tokens(now.trim());
  const hunks = diff(from, to);
  const kept = from.length - hunks.reduce((sum, hunk) => sum + hunk.fromEnd - hunk.fromStart, 0);
  const oldFolded = fold(old.trim());
  const ownFolded = fold(own.trim());
  if (indentOf(old) !== indentOf(now) || oldFolded.text !== ownFolded.text) return false;
  if (kept < Math.max(from.length, to.length) / 3) return false;

  const offsets = [0];
  for (const token of from) offsets.push(offsets.at(-1)! + token.length);
  // From a place in the old line to the same place in the file's: through what both fold to.
  const at = (token: number) => ownFolded.starts[oldFolded.starts.findIndex((start) => start >= offsets[token]!)]!;
  const line = own.trim();
  let made = '';
  let next = 0;
  for (const hunk of hunks) {
    made += line.slice(at(next), at(hunk.fromStart)) + to.slice(hunk.toStart, hunk.toEnd).join('');
    next = hunk.fromEnd;
  }
  made += line.slice(at(next));
  return indentOf(own) + made + own.slice(own.trimEnd().length);
}

const tokens = (line: string) => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
