import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';

/** Removes the folder of a command whose processes have ended. The kernel and the command may have left folders without permissions. */
export async function removeCommandFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(async () => {
    // Programs that go from folder to folder know no longest path.
    await run('chmod', ['-R', 'u+rwx', folder]);
    await run('rm', ['-rf', folder]);
  });
}

const run = (program: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    execFile(program, args, () => resolve()); // what is left is removed in the next window
  });
