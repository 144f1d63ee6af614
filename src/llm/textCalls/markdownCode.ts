interface Run {
  mark: string;
  length: number;
  /** Nothing but blanks stands before it on its line. */
  begins: boolean;
}

/** A line of an indented block of code, or of a quotation: what it holds is shown, not said. */
export const isQuotedLine = (line: string): boolean => /^(?: {4}| {0,3}\t| {0,3}>(?!>>))/.test(line);
/** Characters of a line that say that. */
const headLength = 8;

/**
 * Follows code in Markdown through a text that comes in pieces: fences, and code in backquotes within a line. A fence may stand behind any
 * blanks, for it may be part of a list.
 */
export class MarkdownCode {
  /** The marks that opened the fence. */
  private fence?: Run;
  /** The line begins with marks that open a fence at its end, or with those that close the one that is open. */
  private opener?: Run;
  private closes = false;
  /** What stands behind the marks that close the fence. */
  private behind = '';
  /** Backquotes that opened code within the line. */
  private ticks?: number;
  /** Marks that may go on. */
  private run?: Run;
  private head = '';
  private isBlank = true;

  /** Takes the next piece of the text. */
  add(piece: string): void {
    if (piece !== '' && !/[`~\n]/.test(piece)) {
      this.addText(piece); // nearly every piece
      return;
    }
    for (const [part] of piece.matchAll(/`+|~+|\n|[^`~\n]+/g)) {
      const mark = part[0]!;
      if (mark === '\n') this.endLine();
      else if (mark === '`' || mark === '~') this.addMarks(mark, part.length);
      else this.addText(part);
    }
  }

  /** The next character of the text is part of code. */
  get isCode(): boolean {
    this.endRun();
    return (this.fence !== undefined && !this.closes) || this.opener !== undefined || this.ticks !== undefined;
  }

  get isInFence(): boolean {
    return this.fence !== undefined;
  }

  get isQuoted(): boolean {
    return isQuotedLine(this.head);
  }

  /** Nothing but blanks stands on the line. */
  get isAtLineStart(): boolean {
    return this.isBlank && this.run === undefined;
  }

  private addMarks(mark: string, length: number): void {
    if (this.run?.mark === mark) this.run.length += length;
    else {
      this.endRun();
      this.run = { mark, length, begins: this.isBlank };
    }
  }

  private addText(text: string): void {
    this.endRun();
    if (this.head.length < headLength) this.head += text.slice(0, headLength - this.head.length);
    if (text.trim() === '') return;
    this.isBlank = false;
    // A token of a model ends its fences without a line break.
    this.behind += text.slice(0, headLength);
    this.closes &&= /^<(?:$|[|｜])/.test(this.behind);
  }

  private endRun(): void {
    const { run, fence, opener } = this;
    if (!run) return;
    this.run = undefined;
    this.isBlank = false;
    this.head += run.mark;
    this.behind = '';
    if (fence) this.closes = run.begins && run.mark === fence.mark && run.length >= fence.length;
    else if (run.begins && run.length >= 3) this.opener = run;
    else if (run.mark === '`') {
      const open = opener?.mark === '`' ? opener.length : this.ticks;
      if (opener?.mark === '`') this.opener = undefined; // backquotes behind them on the line: no fence
      this.ticks = open === undefined ? run.length : open === run.length ? undefined : open;
    }
  }

  private endLine(): void {
    this.endRun();
    if (this.opener) this.fence = this.opener;
    else if (this.closes) this.fence = undefined;
    this.opener = undefined;
    this.closes = false;
    this.ticks = undefined;
    this.head = '';
    this.isBlank = true;
  }
}
