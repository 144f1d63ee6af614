import { promises as fs } from 'node:fs';
import path from 'node:path';

const mode = 0o700;

/** Creates a folder with mode 0700, parents included. Node.js reports `ENOENT` for read-only disks; this function reports the reason. */
export async function createPrivateFolder(folder: string): Promise<void> {
  try {
    await fs.mkdir(folder, { recursive: true, mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await createPrivateFolder(path.dirname(folder));
    await fs.mkdir(folder, { mode });
  }
}
