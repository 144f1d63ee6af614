import { promises as fs } from 'node:fs';
import path from 'node:path';
import { writeOwnFile } from '../../tools/sandbox/writeFile.ts';

/** File with the id of the displayed run. The memento of the editor is written a second late, and a killed editor would lose the id. */
export class DisplayedRunIdFile {
  private readonly file: string;

  constructor(folder: string) {
    this.file = path.join(folder, 'open-run');
  }

  read(): Promise<string> {
    return fs.readFile(this.file, 'utf8').catch(() => '');
  }

  async write(runId: string | undefined): Promise<void> {
    try {
      await writeOwnFile(this.file, runId ?? '');
    } catch {
      // The next window opens another run. Storage failures are reported by the run itself.
    }
  }
}
