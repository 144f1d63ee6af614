// Maximum UTF-16 units of a line that can still change. A longer line wraps in every terminal.
const longestLine = 4096;
// Maximum UTF-16 units of a cell; further combining marks begin a new cell.
const longestCell = 8;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const pieces = /[^\r\b\x1b]+|\x1b\[\d*[CDGK]|[\r\b]/g;

/** Current line of a command as on a terminal: the last character of each column. The duration is proportional to the text. */
export class TerminalLine {
  private line = '';
  /** Columns after a cursor movement. The second column of a wide character is empty. */
  private cells: string[] | undefined;
  /** Column of the cursor; undefined at the end. */
  private column: number | undefined;
  private given = '';
  /** The line exceeded the limit and was reported as final. */
  private isFixed = false;

  /**
   * Processes text whose only controls are line ends, carriage returns, backspaces and `CSI n` with C, D, G or K.
   * @returns a piece for `lineUpdates`
   */
  write(text: string): string {
    const ended: string[] = [];
    for (const [piece] of text.replace(/\r+\n/g, '\n').matchAll(pieces)) {
      if (piece === '\r') this.column = 0;
      else if (piece === '\b') this.control('\x1b[D');
      else if (piece[0] === '\x1b') this.control(piece);
      else {
        const first = piece.indexOf('\n');
        const last = piece.lastIndexOf('\n');
        this.put(first < 0 ? piece : piece.slice(0, first), ended);
        if (first >= 0) {
          ended.push(this.end(), piece.slice(first + 1, last + 1));
          this.put(piece.slice(last + 1), ended);
        }
      }
    }
    const whole = ended.join('') + this.shown();
    const piece = whole.startsWith(this.given) ? whole.slice(this.given.length) : `\r${whole}`;
    if (this.isFixed) this.line = '';
    this.given = this.shown();
    return piece;
  }

  private end(): string {
    const line = `${this.shown()}\n`;
    this.line = '';
    this.cells = undefined;
    this.column = undefined;
    this.isFixed = false;
    return line;
  }

  private put(text: string, ended: string[]): void {
    if (text === '') return;
    if (this.isFixed && this.column === 0) ended.push(this.end());
    if (this.column === undefined && !this.cells) this.line += text;
    else this.overwrite(text);
    if (!this.isFixed && (this.cells?.length ?? this.line.length) > longestLine) this.fix();
  }

  /** Trailing blanks of a redrawn line are erased text. */
  private shown(): string {
    if (this.cells) return this.cells.join('').trimEnd();
    return this.line;
  }

  private at(): number {
    this.cells ??= cellsOf(this.line);
    return this.column ?? this.cells.length;
  }

  private moveTo(column: number): void {
    const to = Math.min(Math.max(column, 0), longestLine);
    this.column = to === this.cells?.length ? undefined : to;
  }

  private control(sequence: string): void {
    if (this.isFixed) return;
    const given = sequence.slice(2, -1);
    const count = Math.min(Math.max(Number(given), 1), longestLine);
    const at = this.at();
    const cells = this.cells!;
    if (sequence.endsWith('C')) this.moveTo(at + count);
    else if (sequence.endsWith('D')) this.moveTo(at - count);
    else if (sequence.endsWith('G')) this.moveTo(count - 1);
    else if (given === '1') this.blank(0, Math.min(at + 1, cells.length));
    else {
      const from = given === '2' ? 0 : Math.min(at, cells.length);
      this.blank(from, Math.min(from + 1, cells.length));
      cells.length = from;
      this.moveTo(at);
    }
  }

  private overwrite(text: string): void {
    let at = this.at();
    const cells = this.cells!;
    for (const character of text) {
      if (joining.test(character) && at > 0 && cells[at - 1] !== undefined) {
        const owner = cells[at - 1] === '' ? at - 2 : at - 1;
        if ((cells[owner] ?? '').length + character.length <= longestCell) {
          cells[owner] += character;
          continue;
        }
      }
      if (character === '\t' && at < cells.length) {
        at += tabWidth - (at % tabWidth);
        continue;
      }
      while (cells.length < at) cells.push(' ');
      const columns = columnsOf(character, at);
      this.blank(at, Math.min(at + columns.length, cells.length));
      for (const column of columns) cells[at++] = column;
    }
    this.column = at === cells.length ? undefined : at;
  }

  /** Erases columns; a partly erased wide character becomes blank. */
  private blank(from: number, to: number): void {
    const cells = this.cells!;
    let start = from;
    while (start > 0 && cells[start] === '') start--;
    let end = to;
    while (end < cells.length && cells[end] === '') end++;
    cells.fill(' ', start, end);
  }

  private fix(): void {
    if (this.cells) this.line = this.cells.join('');
    this.cells = undefined;
    this.column = undefined;
    this.isFixed = true;
  }
}

const tabWidth = 8;
const joining = /^[\p{M}\p{Cf}]$/u;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

// Returns the character, followed by empty text for each further column.
function columnsOf(character: string, at: number): string[] {
  if (character === '\t') return [character, ...new Array<string>(tabWidth - 1 - (at % tabWidth)).fill('')];
  return wide.test(character) ? [character, ''] : [character];
}

function cellsOf(line: string): string[] {
  const cells: string[] = [];
  for (const character of line) {
    const owner = cells.at(-1) === '' ? cells.length - 2 : cells.length - 1;
    if (joining.test(character) && owner >= 0 && cells[owner]!.length + character.length <= longestCell)
      cells[owner] += character;
    else cells.push(...columnsOf(character, cells.length));
  }
  return cells;
}
