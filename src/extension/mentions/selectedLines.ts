interface LinePosition {
  line: number;
  character: number;
}

/** Lines of a selection, from 1. A selection that ends before the first character of a line ends in the line above; a cursor is its line. */
export function selectedLines({ start, end }: { start: LinePosition; end: LinePosition }): {
  from: number;
  to: number;
} {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { from: start.line + 1, to: last + 1 };
}
