import { escapeInvisible } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { textHead, textTail } from '../../protocol/text/shorten.ts';

const maxLines = 20;
const maxCharacters = 2000;
/** Lines and characters of the head and the tail of a truncated text. */
const endLines = 8;
const endCharacters = 700;

export interface ExcerptForDialog {
  text: string;
  whole: boolean;
}

/**
 * Returns a command or arguments for a dialog: whole with marked hidden characters, or head and tail. An empty line is shown as ⏎, because
 * blank lines separate the dialog's own text, which must not be imitated.
 */
export function excerptForDialog(of: string): ExcerptForDialog {
  const lines = escapeInvisible(of)
    .split('\n')
    .map((line) => (line.trim() === '' ? '⏎' : blanksMarked(line)));
  const shown = lines.join('\n');
  if (lines.length <= maxLines && shown.length <= maxCharacters) return { text: shown, whole: true };
  const head = textHead(lines.slice(0, endLines).join('\n'), endCharacters);
  const rest = shown.slice(head.length);
  const tail = textTail(rest.split('\n').slice(-endLines).join('\n'), endCharacters);
  const between = rest.slice(0, rest.length - tail.length);
  const left = t(
    '… {0} more, {1} in total: {2} shows all …',
    localizedCount(between.length, 'character'),
    localizedCount(lines.length, 'line'),
    t('Review…'),
  );
  return { text: [head.trimEnd(), left, tail.trimStart()].join('\n'), whole: false };
}

// Marks runs of blanks and tabs, which a dialog may collapse. A short indentation stays unmarked.
function blanksMarked(line: string): string {
  const [indentation] = /^ {0,16}(?=[^\s])/.exec(line) ?? [''];
  const rest = line.slice(indentation.length);
  return indentation + rest.replace(/[ \t]{2,}|\t| $/g, (run) => (run.length > maxMarks ? lengthOf(run) : marks(run)));
}

const marks = (run: string): string => run.replaceAll(' ', '␣').replaceAll('\t', '⇥');
const lengthOf = (run: string): string => `⟨${t(localizedCount(run.length, 'blank'))}⟩`;
const maxMarks = 8;

/**
 * Returns a line with its head and tail.
 * @param most maximum shown characters
 */
export function excerptLineForDialog(line: string, most: number): ExcerptForDialog {
  if (line.length <= most) return { text: line, whole: true };
  const end = Math.floor(most / 4);
  const ends = [textHead(line, most - end), textTail(line, end)];
  return { text: ends.join(`… (${t(localizedCount(line.length - most, 'more character'))}) …`), whole: false };
}
