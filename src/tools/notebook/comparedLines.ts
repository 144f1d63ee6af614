import { linesOf } from '../sandbox/fileText.ts';
import { isNotebook, notebookOf } from './notebook.ts';

/** Number of a notebook's cell, and of a line in its source; line 0 is its heading. Both are counted from 1. */
interface CellLine {
  cell: number;
  line: number;
}

/** Lines of a text as they are compared with those of another one. */
export interface ComparedLines {
  lines: string[];
  /** Of a notebook: the position of each line. */
  cells?: CellLine[];
}

/**
 * Returns the lines of a file before and after a change. Of a notebook these are the sources of its cells: its file is JSON, which its
 * editor writes in a form of its own. Where the sources are the same, or the text is no notebook, they are those of the file.
 */
export function comparedLines(
  path: string,
  before: string | null,
  after: string | null,
): { from: ComparedLines; to: ComparedLines; isSame: boolean } {
  const [from, to] = isNotebook(path) ? [cellLines(before), cellLines(after)] : [];
  const isSame = from !== undefined && to !== undefined && from.lines.join('\n') === to.lines.join('\n');
  if (from && to && !isSame) return { from, to, isSame };
  return { from: { lines: linesOf(before ?? '') }, to: { lines: linesOf(after ?? '') }, isSame };
}

/** Undefined: it is no notebook. */
function cellLines(text: string | null): ComparedLines | undefined {
  if (text === null || text.trim() === '') return { lines: [], cells: [] };
  const notebook = notebookOf(text);
  if (typeof notebook === 'string') return undefined;
  const all = notebook.cells.flatMap(({ kind, source }, index) =>
    [`--- ${kind} ---`, ...linesOf(source)].map((text, line) => ({ text, cell: index + 1, line })),
  );
  return { lines: all.map(({ text }) => text), cells: all.map(({ cell, line }) => ({ cell, line })) };
}
