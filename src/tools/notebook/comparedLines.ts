import { linesWithoutEndings } from '../sandbox/fileText.ts';
import { isNotebook, parseNotebook } from './notebook.ts';

// Position in a notebook: the cell and the line of its source, counted from 1. Line 0 is the heading of the cell.
interface CellLine {
  cell: number;
  line: number;
}

export interface ComparableFileLines {
  lines: string[];
  cells?: CellLine[];
}

/**
 * Returns the lines of a file before and after a change. Notebooks are compared by cell sources, because the editor reformats the JSON.
 * Equal sources, or a text without a notebook, fall back to the lines of the file.
 */
export function linesForComparison(
  path: string,
  before: string | null,
  after: string | null,
): { from: ComparableFileLines; to: ComparableFileLines; isSame: boolean } {
  const [from, to] = isNotebook(path) ? [cellLines(before), cellLines(after)] : [];
  const isSame = from !== undefined && to !== undefined && from.lines.join('\n') === to.lines.join('\n');
  if (from && to && !isSame) return { from, to, isSame };
  return {
    from: { lines: linesWithoutEndings(before ?? '') },
    to: { lines: linesWithoutEndings(after ?? '') },
    isSame,
  };
}

function cellLines(text: string | null): ComparableFileLines | undefined {
  if (text === null || text.trim() === '') return { lines: [], cells: [] };
  const notebook = parseNotebook(text);
  if (typeof notebook === 'string') return undefined;
  const all = notebook.cells.flatMap(({ kind, source }, index) =>
    [`--- ${kind} ---`, ...linesWithoutEndings(source)].map((text, line) => ({ text, cell: index + 1, line })),
  );
  return { lines: all.map(({ text }) => text), cells: all.map(({ cell, line }) => ({ cell, line })) };
}
