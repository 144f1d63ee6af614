import { escapeInvisibleInLine } from '../../../protocol/text/escapeInvisible.ts';
import { shortenText } from '../../../protocol/text/shorten.ts';
import { redactAllSecrets } from '../../shell/environment.ts';

// Lines of a stack trace or of a package manager around an error, and lines without words.
const around =
  /^(at |File "|Traceback|node:|Node\.js v\d|note: run with|Require stack|A complete log|[\p{P}\p{S}\s]+$|throw \w+;?$|-?\d+$)/u;
const errorLinePattern =
  /error|exception|panic|fatal|cannot|can't|could ?n[o']t|unable|unknown|not (found|set|supported|allowed)|no such|denied|missing|required|refused|invalid|failed|must be/i;

const withoutPrefix = (line: string) => line.replace(/^npm (error|ERR!)( (code|\d{3})\b)?\s*/, '');

// Maximum characters of stored output, and of its line shown to the user.
const maxStored = 8000;
const maxLineLength = 300;

/** The end of a server's stderr. */
export class ErrorOutput {
  private text = '';

  clear(): void {
    this.text = '';
  }

  add(text: string): void {
    this.text = (this.text + text).slice(-maxStored);
  }

  /**
   * Returns the last line about an error for display: one line, without secrets, bounded.
   * @param orLast without such a line: the last line with any text
   */
  lastLine(redact: (text: string) => string, orLast: boolean): string | undefined {
    // The cut beginning may contain part of a secret.
    const whole = this.text.length < maxStored ? this.text : this.text.slice(this.text.indexOf('\n') + 1);
    const lines = redactAllSecrets(redact(whole))
      .split('\n')
      .map((line) => withoutPrefix(line.trim()))
      .filter((line) => line !== '' && !around.test(line));
    const line = lines.findLast((one) => errorLinePattern.test(one)) ?? (orLast ? lines.at(-1) : undefined);
    return line === undefined ? undefined : shortenText(escapeInvisibleInLine(line), maxLineLength);
  }
}
