import { visibleProse } from '../../protocol/text/escapeInvisible.ts';
import { withUpdate } from '../../protocol/text/lineUpdates.ts';
import { TerminalLine } from './terminalLine.ts';

/** Bytes of a command's output that are kept: its beginning and, mostly, its end, where the result is; under 5 MiB together. */
const keptHead = 1024 * 1024;
/** Characters that are gathered before they are put away: a program may write them one by one. */
const blockSize = 64 * 1024;
const keptTail = 4 * 1024 * 1024 - 2 * blockSize;

/**
 * Decodes what a command writes to one stream, which is cut anywhere, as text of its terminal: without escape sequences and control
 * characters, each line as it stood last. Gives pieces as `lineUpdates` describes them. Other invisible characters stay: they are
 * marked where the output is shown.
 */
export class Cleaner {
  private readonly decoder = new TextDecoder('utf-8');
  private pending = '';

  /** @param line the line that is written, which all streams of a command share */
  constructor(private readonly line = new TerminalLine()) {}

  /** The text that is certain by now. */
  add(bytes: Uint8Array): string {
    return this.clean(this.pending + this.decoder.decode(bytes, { stream: true }), false);
  }

  end(): string {
    return this.clean(this.pending + this.decoder.decode(), true);
  }

  private clean(text: string, last: boolean): string {
    // The beginning of an escape sequence waits for its rest; a sequence is never long.
    const open = last
      ? null
      : // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        /(?:\x1b(?:[ -/]{0,8}|\[[0-9:;<=>?]{0,64}[ -/]{0,8}|\][^\x07\x1b]{0,1024}\x1b?|[PX^_][^\x1b]{0,1024}\x1b?)|\x9b[0-9:;<=>?]{0,64})$/.exec(
          text,
        );
    this.pending = open?.[0] ?? '';
    const plain = text.slice(0, text.length - this.pending.length).replace(escapesAndControls, (found) => {
      const [, count, control] = withinLine.exec(found) ?? [];
      return control ? `\x1b[${count}${control}` : '';
    });
    return plain === '' ? '' : this.line.write(plain);
  }
}

/** CSI (colours, cursor), OSC (titles, links), other strings, two-character sequences, and control characters that no line is made of. */
const escapesAndControls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\x1b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-~])|\x9b[0-9:;<=>?]*[@-~]|[^\P{C}\n\t\r\b\p{Cf}]/gu;

/** Moves of the cursor within its line, and erasures in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const withinLine = /^(?:\x1b\[|\x9b)(\d{0,6})([CDGK])$/;

/** Keeps the beginning and the end of a text of any length, in memory bounded by what is kept. */
export class CommandOutput {
  private readonly head: Buffer[] = [];
  private readonly tail: Buffer[] = [];
  private headBytes = 0;
  private tailBytes = 0;
  private open = '';
  /** Bytes that are no longer there. */
  dropped = 0;

  /** Takes a piece as `lineUpdates` describes it. */
  add(text: string): void {
    this.open = withUpdate(this.open, text);
    if (this.open.length < blockSize) return;
    // A line that may still change is never long.
    const line = this.open.lastIndexOf('\n') + 1;
    const kept = this.open.length - line < blockSize / 2 ? this.open.slice(line) : '';
    this.putAway(this.open.slice(0, this.open.length - kept.length));
    this.open = kept;
  }

  /** All that is kept, as one text with marks for what is invisible in it; where something is missing, a line says so. */
  text(): string {
    const missing = this.dropped > 0 ? [Buffer.from(`\n… ${this.dropped} bytes were not kept …\n`)] : [];
    return visibleProse(Buffer.concat([...this.head, ...missing, ...this.tail]).toString() + this.open);
  }

  private putAway(text: string): void {
    const block = Buffer.from(text);
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
