import { escapeInvisible } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t, withDigitGrouping } from '../../protocol/text/l10n.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import type { FileChange } from '../../tools/core/tool.ts';
import { type DiffHunk, diffSequences } from '../../tools/edit/diff.ts';
import { linesForComparison } from '../../tools/notebook/comparedLines.ts';

const firstLines = 6;
const longestLine = 100;

/**
 * Size and first lines of a change for an approval. `size` reads like `+12 −3`, `creates a file of 40 lines`, or `replaces all 2,000 lines
 * by 3`.
 */
interface ChangeText {
  size: string;
  lines: string[];
}

export function fileChangeText({ path, before, after }: Pick<FileChange, 'path' | 'before' | 'after'>): ChangeText {
  const compared = linesForComparison(path, before, after);
  const [from, to] = [compared.from.lines, compared.to.lines];
  const hunks = diffSequences(from, to);
  const lines = hunks.flatMap((hunk) => linesOfHunk(hunk, from, to));
  const more = changedIn(hunks) - Math.min(lines.length, firstLines);
  return {
    size: sizeOf({ before, after }, from, to, hunks),
    lines: [...lines.slice(0, firstLines), ...(more > 0 ? [`… ${t(localizedCount(more, 'more changed line'))}`] : [])],
  };
}

function sizeOf(
  { before, after }: Pick<FileChange, 'before' | 'after'>,
  from: readonly string[],
  to: readonly string[],
  hunks: readonly DiffHunk[],
): string {
  if (before === null)
    return to.length > 0 ? t('creates a file of {0}', localizedCount(to.length, 'line')) : t('creates an empty file');
  if (after === null)
    return from.length > 0
      ? t('deletes a file of {0}', localizedCount(from.length, 'line'))
      : t('deletes an empty file');
  if (hunks.length === 0) return t('changes only line ends');
  const oldLines = new Set(from);
  if (from.length > 0 && !to.some((line) => oldLines.has(line)))
    return to.length > 0
      ? t('replaces all {0} by {1}', localizedCount(from.length, 'line'), localizedCount(to.length, 'line'))
      : t('removes all {0}', localizedCount(from.length, 'line'));
  const added = hunks.reduce((sum, { toStart, toEnd }) => sum + toEnd - toStart, 0);
  return t('+{0} −{1}', withDigitGrouping(added), withDigitGrouping(changedIn(hunks) - added));
}

const changedIn = (hunks: readonly DiffHunk[]) =>
  hunks.reduce((sum, { fromStart, fromEnd, toStart, toEnd }) => sum + fromEnd - fromStart + toEnd - toStart, 0);

// Limits removed lines to half, so that added lines are visible.
function linesOfHunk({ fromStart, fromEnd, toStart, toEnd }: DiffHunk, from: readonly string[], to: readonly string[]) {
  const comes = to.slice(toStart, Math.min(toEnd, toStart + firstLines)).map((line) => signed('+', line));
  const most = comes.length === 0 ? firstLines : Math.max(firstLines / 2, firstLines - comes.length);
  const goes = from.slice(fromStart, Math.min(fromEnd, fromStart + most)).map((line) => signed('−', line));
  return [...goes, ...comes];
}

const signed = (sign: string, line: string) => {
  const shown = escapeInvisible(line).replaceAll('\n', ' ⏎ ').replaceAll('\t', '  ');
  return `${sign} ${shortenText(shown, longestLine)}`;
};
