import { promises as fs } from 'node:fs';
import path from 'node:path';

const mode = 0o700;

/** A folder of this user's alone, with those it is in. Node's own way says `ENOENT` of a disk that may only be read; this one says why. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await fs.mkdir(folder, { recursive: true, mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makeFolder(path.dirname(folder));
    await fs.mkdir(folder, { mode });
  }
}
