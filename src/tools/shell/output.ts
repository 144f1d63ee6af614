/** Characters of a command's output kept for the model: its beginning and, mostly, its end, where the result is. */
export const keptHead = 12_000;
export const keptTail = 36_000;

/** Bytes as text without escape sequences and control characters; one cleaner for each stream, which is cut anywhere. */
export class Cleaner {
  private readonly decoder = new TextDecoder('utf-8');
  private pending = '';

  /** The text that is certain by now. */
  add(bytes: Uint8Array): string {
    return this.clean(this.pending + this.decoder.decode(bytes, { stream: true }), false);
  }

  end(): string {
    return this.clean(this.pending + this.decoder.decode(), true);
  }

  private clean(text: string, last: boolean): string {
    // The beginning of an escape sequence, or of \r\n, waits for its rest; a sequence is never long.
    const open = last
      ? null
      : // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        /(?:\x1b(?:[ -/]{0,8}|\[[0-9:;<=>?]{0,64}[ -/]{0,8}|\][^\x07\x1b]{0,1024}\x1b?|[PX^_][^\x1b]{0,1024}\x1b?)|\x9b[0-9:;<=>?]{0,64}|\r)$/.exec(
          text,
        );
    this.pending = open?.[0] ?? '';
    return text
      .slice(0, text.length - this.pending.length)
      .replace(escapes, '')
      .replace(/\r\n?/g, '\n')
      .replace(/[^\P{C}\n\t\u200c\u200d]/gu, '');
  }
}

/** CSI (colours, cursor), OSC (titles, links), other strings, and two-character sequences. */
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\x1b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-~])|\x9b[0-9:;<=>?]*[@-~]/g;

/** Keeps the beginning and the end of a text of any length in bounded memory. */
export class HeadAndTail {
  private head = '';
  private tail = '';
  private dropped = 0;

  add(text: string): void {
    const room = keptHead - this.head.length;
    this.head += text.slice(0, room);
    this.tail += text.slice(Math.max(0, room));
    if (this.tail.length > 2 * keptTail) this.trim();
  }

  /** `cut` says what is missing, when something is. */
  result(): { output: string; cut?: string } {
    this.trim();
    if (this.dropped === 0) return { output: this.head + this.tail };
    const cut = `${this.dropped} characters in the middle were cut. Filter the output, or write it to a file and read that.`;
    return { output: `${this.head}\n… ${this.dropped} characters cut …\n${this.tail}`, cut };
  }

  private trim(): void {
    const excess = this.tail.length - keptTail;
    if (excess <= 0) return;
    this.tail = this.tail.slice(excess);
    this.dropped += excess;
  }
}
