import { escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { appendTerminalOutput } from '../../protocol/text/lineUpdates.ts';
import { TerminalLine } from './terminalLine.ts';

// Stored bytes of output: the head, and mostly the tail with the result; less than 5 MiB together.
const maxHead = 1024 * 1024;
// Characters collected before storage, because programs may write single characters.
const blockSize = 64 * 1024;
const maxTail = 4 * 1024 * 1024 - 2 * blockSize;

/**
 * Decoder of one output stream: returns terminal text without escape sequences and control characters, each line in the final state. Pieces
 * follow `lineUpdates`. Other invisible characters stay and are marked on display.
 */
export class TerminalOutputCleaner {
  private readonly decoder = new TextDecoder('utf-8');
  private pending = '';

  /** @param line current line, shared by all streams of a command */
  constructor(private readonly line = new TerminalLine()) {}

  add(bytes: Uint8Array): string {
    return this.clean(this.pending + this.decoder.decode(bytes, { stream: true }), false);
  }

  end(): string {
    return this.clean(this.pending + this.decoder.decode(), true);
  }

  private clean(text: string, last: boolean): string {
    // The beginning of an escape sequence waits for the rest; sequences are short.
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

// CSI (colors, cursor), OSC (titles, links), other strings, two-character sequences, and control characters without effect on a line.
const escapesAndControls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\x1b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-~])|\x9b[0-9:;<=>?]*[@-~]|[^\P{C}\n\t\r\b\p{Cf}]/gu;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const withinLine = /^(?:\x1b\[|\x9b)(\d{0,6})([CDGK])$/;

export class CommandOutput {
  private readonly head: Buffer[] = [];
  private readonly tail: Buffer[] = [];
  private headBytes = 0;
  private tailBytes = 0;
  private open = '';
  /** Bytes dropped from the middle. */
  dropped = 0;

  add(text: string): void {
    this.open = appendTerminalOutput(this.open, text);
    if (this.open.length < blockSize) return;
    // A line that may still change is short.
    const line = this.open.lastIndexOf('\n') + 1;
    const openLine = this.open.length - line < blockSize / 2 ? this.open.slice(line) : '';
    this.putAway(this.open.slice(0, this.open.length - openLine.length));
    this.open = openLine;
  }

  /** Returns the stored text with marks for invisible characters, and a line about dropped bytes. */
  text(): string {
    const missing = this.dropped > 0 ? [Buffer.from(`\n… ${this.dropped} bytes were not kept …\n`)] : [];
    return escapeInvisibleProse(Buffer.concat([...this.head, ...missing, ...this.tail]).toString() + this.open);
  }

  private putAway(text: string): void {
    const block = Buffer.from(text);
    if (this.tail.length === 0 && this.headBytes + block.length <= maxHead) {
      this.head.push(block);
      this.headBytes += block.length;
      return;
    }
    this.tail.push(block);
    this.tailBytes += block.length;
    while (this.tailBytes > maxTail) {
      const oldest = this.tail.shift()!;
      this.tailBytes -= oldest.length;
      this.dropped += oldest.length;
    }
  }
}
