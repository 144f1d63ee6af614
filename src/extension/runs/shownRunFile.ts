import { promises as fs } from 'node:fs';
import path from 'node:path';
import { keepFile } from '../../tools/sandbox/writeFile.ts';

/** File with the id of the shown run. The editor's own memory is written a second late, and killing the editor would lose it. */
export class ShownRunFile {
  private readonly file: string;

  /** @param folder of this workspace's storage, an absolute path */
  constructor(folder: string) {
    this.file = path.join(folder, 'open-run');
  }

  /** Resolves to the id of the run that was shown last; empty: none. */
  read(): Promise<string> {
    return fs.readFile(this.file, 'utf8').catch(() => '');
  }

  async write(runId: string | undefined): Promise<void> {
    try {
      await keepFile(this.file, runId ?? '');
    } catch {
      // The next window opens with another run. A run that cannot be recorded says so itself.
    }
  }
}
