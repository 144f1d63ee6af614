import { sha256 } from '../sandbox/fileText.ts';
import { diffLines, editorLines, replaceLineRange, usualLineEnd } from './lineHunks.ts';

/** Maximum of hunks of a file, and characters of a text that is compared. */
const [maxHunks, maxCharacters] = [200, 1_000_000];

/** Author of a version: the run without an individual approval, the run with one, or anybody else. */
export type VersionAuthor = 'automatic' | 'approved' | 'other';

/** `edited`: another author has replaced lines of the run. */
type LineAuthor = VersionAuthor | 'edited' | undefined;

/**
 * Version of a file, compared with the text before the run. `lineEnd`: the usual one of that text; `authors`: of each line, undefined for its
 * lines; `removals`: authors of the removal of its lines.
 */
export interface FileVersion {
  before: readonly string[];
  lineEnd: string | undefined;
  lines: readonly string[];
  authors: readonly LineAuthor[];
  removals: ReadonlyMap<number, VersionAuthor>;
  hunks: readonly { fromStart: number; fromEnd: number; toStart: number; toEnd: number }[];
}

/**
 * Change of a run in the current text: lines `[start, end)`, counted from 0, replace `[fromStart, fromEnd)` of the text before the run. `key`
 * identifies the hunk while other parts of the file change. `automatic`: a part has no individual approval. `edited`: another author has
 * changed the same lines, so that an undo would lose the other change.
 */
export interface FileHunk {
  key: string;
  start: number;
  end: number;
  fromStart: number;
  fromEnd: number;
  automatic: boolean;
  edited: boolean;
}

export const isComparableText = (text: string): boolean => text.length <= maxCharacters && !text.includes('\0');

export function firstFileVersion(text: string): FileVersion {
  const lines = editorLines(text);
  return {
    before: lines,
    lineEnd: usualLineEnd(text),
    lines,
    authors: lines.map(() => undefined),
    removals: new Map(),
    hunks: [],
  };
}

/** Returns the version that an author has made of an earlier version. */
export function nextFileVersion(version: FileVersion, text: string, author: VersionAuthor): FileVersion {
  const { before, lineEnd } = version;
  const lines = editorLines(text);
  const authors: LineAuthor[] = [];
  let copied = 0;
  for (const { fromStart, fromEnd, toStart, toEnd } of diffLines(version.lines, lines)) {
    while (copied < fromStart) authors.push(version.authors[copied++]);
    const isOfRun = version.authors.slice(fromStart, fromEnd).some((one) => one !== undefined && one !== 'other');
    for (let at = toStart; at < toEnd; at += 1) authors.push(author === 'other' && isOfRun ? 'edited' : author);
    copied = fromEnd;
  }
  while (copied < version.lines.length) authors.push(version.authors[copied++]);

  const hunks = diffLines(before, lines);
  const removals = new Map<number, VersionAuthor>();
  let unchanged = 0;
  for (const { fromStart, fromEnd, toStart, toEnd } of hunks) {
    authors.fill(undefined, unchanged, toStart);
    unchanged = toEnd;
    for (let at = toStart; at < toEnd; at += 1) authors[at] ??= author; // a line that occurs often, aligned anew
    for (let at = fromStart; at < fromEnd; at += 1) removals.set(at, version.removals.get(at) ?? author);
  }
  authors.fill(undefined, unchanged);
  return { before, lineEnd, lines, authors, removals, hunks };
}

/** Returns the changes of the run that remain in a version, in order. Changes of other authors beside them are not part of them. */
export function fileHunks({ lines, authors, removals, hunks }: FileVersion): FileHunk[] {
  const found: FileHunk[] = [];
  for (const hunk of hunks) {
    let { fromStart, fromEnd, toStart: start, toEnd: end } = hunk;
    while (start < end && authors[start] === 'other') start += 1;
    while (start < end && authors[end - 1] === 'other') end -= 1;
    while (fromStart < fromEnd && removals.get(fromStart) === 'other') fromStart += 1;
    while (fromStart < fromEnd && removals.get(fromEnd - 1) === 'other') fromEnd -= 1;
    const all = new Set<LineAuthor>(authors.slice(start, end));
    for (let at = fromStart; at < fromEnd; at += 1) all.add(removals.get(at));
    if (!all.has('automatic') && !all.has('approved')) continue;
    found.push({
      key: sha256(JSON.stringify([fromStart, fromEnd, ...lines.slice(start, end)])).slice(0, 16),
      start,
      end,
      fromStart,
      fromEnd,
      automatic: all.has('automatic'),
      edited: all.has('edited') || all.has('other'),
    });
    if (found.length === maxHunks) break;
  }
  return found;
}

/** Returns the text with the lines of a hunk as they were before the run. */
export const textWithoutHunk = (
  text: string,
  { before, lineEnd }: FileVersion,
  { start, end, fromStart, fromEnd }: FileHunk,
): string => replaceLineRange(text, start, end, before.slice(fromStart, fromEnd), lineEnd);

/** Returns the hunks that another version of the file, such as the staged version, does not contain. */
export function hunksMissingIn(other: string, lines: readonly string[], hunks: readonly FileHunk[]): FileHunk[] {
  const differences = diffLines(editorLines(other), lines);
  return hunks.filter(({ start, end }) =>
    differences.some(({ toStart, toEnd }) =>
      start === end || toStart === toEnd ? toStart <= end && toEnd >= start : toStart < end && toEnd > start,
    ),
  );
}

/** Returns the hunk at a line. A removal lies between two lines; a changed line takes precedence over it. */
export const hunkAtLine = <Hunk extends Pick<FileHunk, 'start' | 'end'>>(
  hunks: readonly Hunk[],
  line: number,
): Hunk | undefined =>
  hunks.find(({ start, end }) => line >= start && line < end) ??
  hunks.find(({ start, end }) => start === end && (line === start || line === start - 1));
