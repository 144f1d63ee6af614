interface Run {
  mark: string;
  length: number;
  begins: boolean;
}

/** Returns true for a line of an indented code block or quotation, whose content is an example. */
export const isQuotedMarkdownLine = (line: string): boolean => /^(?: {4}| {0,3}\t| {0,3}>(?!>>))/.test(line);
const headLength = 8;

/**
 * Incremental tracker of Markdown code: fences, and inline code in backquotes. A fence may be indented, because the fence may be part of a
 * list.
 */
export class MarkdownCodeTracker {
  private fence?: Run;
  private opener?: Run;
  private closes = false;
  private behind = '';
  private ticks?: number;
  private run?: Run;
  private head = '';
  private isBlank = true;

  add(piece: string): void {
    if (piece !== '' && !/[`~\n]/.test(piece)) {
      this.addText(piece); // the usual case
      return;
    }
    for (const [part] of piece.matchAll(/`+|~+|\n|[^`~\n]+/g)) {
      const mark = part[0]!;
      if (mark === '\n') this.endLine();
      else if (mark === '`' || mark === '~') this.addMarks(mark, part.length);
      else this.addText(part);
    }
  }

  get isCode(): boolean {
    this.endRun();
    return (this.fence !== undefined && !this.closes) || this.opener !== undefined || this.ticks !== undefined;
  }

  get isInFence(): boolean {
    return this.fence !== undefined;
  }

  get isQuoted(): boolean {
    return isQuotedMarkdownLine(this.head);
  }

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
    // some models end a fence by a token without a line break
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
      if (opener?.mark === '`') this.opener = undefined; // more backquotes on the line: no fence
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
