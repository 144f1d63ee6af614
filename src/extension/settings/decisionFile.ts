import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newTempFilePath, sweepTempFiles } from '../../tools/core/tempFiles.ts';

/**
 * Small decisions of the user by name, in a file of Towpath, written when `update` returns. The memento of the editor is written about a
 * second later, and a reload in between would lose a deny rule.
 */
export class DecisionFile {
  constructor(private readonly file: string) {}

  /** Reads the file each time, because other windows may write it. An unreadable file is empty. */
  get(name: string): unknown {
    return this.read()[name];
  }

  all(): Record<string, unknown> {
    return this.read();
  }

  update(name: string, value: unknown): void {
    const all = { ...this.read(), [name]: value };
    const folder = path.dirname(this.file);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const temporary = newTempFilePath(folder);
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
