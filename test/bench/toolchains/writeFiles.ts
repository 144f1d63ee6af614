import { mkdirSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';

/** Writes files, by relative path, below a folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = paths.join(folder, name);
    mkdirSync(paths.dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
