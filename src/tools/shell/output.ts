import { visibleProse } from '../../protocol/visible.ts';

/** Bytes of a command's output that are kept: its beginning and, mostly, its end, where the result is; under 5 MiB together. */
const keptHead = 1024 * 1024;
const keptTail = 4 * 1024 * 1024 - 1024;
/** Characters that are gathered before they are put away: a program may write them one by one. */
const blockSize = 64 * 1024;

/**
 * Bytes as text without escape sequences and control characters; one cleaner for each stream, which is cut anywhere. Other invisible
 * characters stay: they are marked where the output is told.
 */
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
      .replace(/[^\P{C}\n\t\p{Cf}]/gu, '');
  }
}

/** CSI (colours, cursor), OSC (titles, links), other strings, and two-character sequences. */
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\x1b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-~])|\x9b[0-9:;<=>?]*[@-~]/g;

/** Keeps the beginning and the end of a text of any length, in memory bounded by what is kept. */
export class CommandOutput {
  private readonly head: Buffer[] = [];
  private readonly tail: Buffer[] = [];
  private headBytes = 0;
  private tailBytes = 0;
  private open = '';
  /** Bytes that are no longer there. */
  dropped = 0;

  add(text: string): void {
    this.open += text;
    if (this.open.length >= blockSize) this.putAway();
  }

  /** All that is kept, as one text with marks for what is invisible in it; where something is missing, a line says so. */
  text(): string {
    this.putAway();
    const missing = this.dropped > 0 ? [Buffer.from(`\n… ${this.dropped} bytes were not kept …\n`)] : [];
    return visibleProse(Buffer.concat([...this.head, ...missing, ...this.tail]).toString());
  }

  private putAway(): void {
    const block = Buffer.from(this.open);
    this.open = '';
    if (this.tail.length === 0 && this.headBytes + block.length <= keptHead) {
      this.head.push(block);
      this.headBytes += block.length;
      return;
    }
    this.tail.push(block);
    this.tailBytes += block.length;
    while (this.tailBytes > keptTail) {
      const oldest = this.tail.shift()!;
      this.tailBytes -= oldest.length;
      this.dropped += oldest.length;
    }
  }
}
