export const defaultReadLineCount = 1000;
export const maxLineWindowCharacters = 40_000;

// Range of lines of a text, counted from 1. `cut` says how to read on if more lines follow.
interface LineWindow {
  text: string;
  startLine: number;
  endLine: number;
  totalLines: number;
  cut?: string;
}

/** Returns at least one line from `offset`: at most `limit` lines, and no more than fit into one result. */
export function lineWindow(lines: readonly string[], offset: number, limit: number): LineWindow {
  const shown: string[] = [];
  let characters = 0;
  let shortened = false;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    if (shown.length > 0 && characters + line.length + 1 > maxLineWindowCharacters) break;
    shortened ||= line.length > maxLineWindowCharacters;
    shown.push(line.slice(0, maxLineWindowCharacters));
    characters += line.length + 1;
  }
  const endLine = offset - 1 + shown.length;
  const cut = [
    shortened && `Line ${offset} is longer than ${maxLineWindowCharacters} characters and was cut.`,
    endLine < lines.length && `Lines ${offset}-${endLine} of ${lines.length}. Read on with offset ${endLine + 1}.`,
  ].filter(Boolean);
  return {
    text: shown.join('\n'),
    startLine: Math.min(offset, lines.length),
    endLine,
    totalLines: lines.length,
    ...(cut.length > 0 && { cut: cut.join(' ') }),
  };
}
