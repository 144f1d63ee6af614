import { escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import type { SearchHit } from './sortedResults.ts';

const maximumMatches = 200;
const maximumCharacters = 40_000;
const maximumLine = 400;

export interface FoundLine extends SearchHit {
  isMatch: boolean;
  line: string;
}

/** Formats a line like grep, without hidden characters; a long line is cut around the match. */
export function formatGrepLine(number: number, text: string, isMatch: boolean, start = 0): string {
  const short = text.length > maximumLine ? `${around(text, start)} (line cut)` : text;
  return `${number}${isMatch ? ':' : '-'} ${escapeInvisibleProse(short)}`;
}

const around = (text: string, start: number) => {
  const from = Math.max(0, Math.min(start - 100, text.length - maximumLine));
  return (from > 0 ? '…' : '') + text.slice(from, from + maximumLine);
};

export class LineMatches {
  readonly files: { path: string; lines: string[] }[] = [];
  matches = 0;
  cut = false;
  private characters = 0;
  private inLast = 0;

  add({ path, isMatch, line }: FoundLine): boolean {
    if ((isMatch && this.matches >= maximumMatches) || this.characters > maximumCharacters) {
      if (this.files.at(-1)?.path === path && this.inLast === 0) this.files.pop(); // context of a match beyond the limit
      return false;
    }
    if (this.files.at(-1)?.path !== path) {
      this.files.push({ path, lines: [] });
      this.inLast = 0;
    }
    if (isMatch) {
      this.matches += 1;
      this.inLast += 1;
    }
    this.files.at(-1)!.lines.push(line);
    this.characters += line.length;
    return true;
  }
}
