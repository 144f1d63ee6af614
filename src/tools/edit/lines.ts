/** Line of a file; `ending` is `\n`, `\r\n`, `\r`, or empty on the last line. */
export interface TextLine {
  text: string;
  ending: string;
}

export function splitLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  for (const [, line, ending] of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    if (line === '' && ending === '') break;
    lines.push({ text: line!, ending: ending! });
  }
  return lines;
}

export function linesWithoutTrailingBlank(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1)?.trim() === '') lines.pop();
  return lines;
}

export const convertLineEndings = (text: string, ending: string) => text.replaceAll(/\r\n|\n/g, ending);

export function lineEndingAt(text: string, at: number): string {
  const next = /\r\n|\n/.exec(text.slice(at))?.[0];
  return next ?? (text.includes('\r\n') ? '\r\n' : '\n');
}

export const lineNumberAtOffset = (text: string, at: number) => text.slice(0, at).split(/\r\n|\n|\r/).length;
