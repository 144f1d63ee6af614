import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import * as paths from 'node:path';
import { installedPackageApprovalReason } from '../policy/protectedPaths.ts';

const maxFolders = 4000;
const foldersAtOnce = 32;

/** Returns the folders with installed code below an open folder (absolute), upper levels first. Links and Git's folders are not followed. */
export async function findInstalledFolders(folder: string): Promise<string[]> {
  const found: string[] = [];
  let waiting: string[][] = [[]];
  for (let count = 0; waiting.length > 0 && count < maxFolders; ) {
    const some = waiting.slice(0, foldersAtOnce);
    count += some.length;
    const below = await Promise.all(some.map((segments) => visit(segments)));
    waiting = [...waiting.slice(foldersAtOnce), ...below.flat()];
  }
  return found;

  async function visit(segments: string[]): Promise<string[][]> {
    const entries = await readdir(paths.join(folder, ...segments), { withFileTypes: true }).catch((): Dirent[] => []);
    const below: string[][] = [];
    for (const entry of entries) {
      if (!entry.isDirectory() || entry.name.toLowerCase() === '.git') continue;
      const path = [...segments, entry.name];
      if (installedPackageApprovalReason(path)) found.push(paths.join(folder, ...path));
      else below.push(path);
    }
    return below;
  }
}
