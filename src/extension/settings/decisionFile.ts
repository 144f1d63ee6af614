import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sweepTempFiles, temporaryIn } from '../../tools/core/tempFiles.ts';

/**
 * Small decisions of the person's, by name, in a file of our own: on disk when `update` returns. The editor's own memento is
 * written about a second later, and a reload before that would forget a rule that denies.
 */
export class DecisionFile {
  /** @param file absolute path; made when first written to */
  constructor(private readonly file: string) {}

  /** Read anew each time: another window may have written it. A file that cannot be read remembers nothing. */
  get(name: string): unknown {
    return this.read()[name];
  }

  all(): Record<string, unknown> {
    return this.read();
  }

  /** `undefined` forgets. Throws when it cannot be written. */
  update(name: string, value: unknown): void {
    const all = { ...this.read(), [name]: value };
    const folder = path.dirname(this.file);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const temporary = temporaryIn(folder);
    writeFileSync(temporary, JSON.stringify(all), { mode: 0o600, flush: true });
    renameSync(temporary, this.file);
    void sweepTempFiles(folder);
  }

  private read(): Record<string, unknown> {
    try {
      return Object(JSON.parse(readFileSync(this.file, 'utf8')));
    } catch {
      return {};
    }
  }
}
