import { existsSync } from 'node:fs';
import * as paths from 'node:path';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { readRegularFile } from '../sandbox/regularFile.ts';

// Maximum bytes of an index to read.
const largestIndex = 20_000_000;

/**
 * Files in the index: `names` are relative to the top of the repository. `below` is the folder relative to the top: '' or `packages/api/`.
 */
export interface GitTrackedFiles {
  names: string[];
  below: string;
}

/** Returns the files that Git tracks around a folder (absolute and real); empty without a repository. Undefined if unknown. */
export async function listGitTrackedFiles(
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<GitTrackedFiles | undefined> {
  let top = folder;
  while (!existsSync(paths.join(top, '.git'))) {
    if (paths.dirname(top) === top) return { names: [], below: '' };
    top = paths.dirname(top);
  }
  if (!roots.some(({ path }) => top === path || top.startsWith(path + paths.sep))) return undefined;
  const below = top === folder ? '' : `${paths.relative(top, folder)}/`;
  if (/[^\w@%+=,./-]/.test(below)) return undefined;
  const index = await readRegularFile(paths.join(top, '.git', 'index'), largestIndex).catch(() => undefined);
  const names = index && namesOf(Buffer.from(index));
  return names && { names, below };
}

// Parses an index of version 2 or 3; only these versions store full names.
function namesOf(index: Buffer): string[] | undefined {
  if (index.length < 12 || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const [version, count] = [index.readUInt32BE(4), index.readUInt32BE(8)];
  if (version !== 2 && version !== 3) return undefined;
  const names: string[] = [];
  for (let at = 12; names.length < count; ) {
    if (at + 62 > index.length) return undefined;
    const isLonger = version === 3 && (index.readUInt16BE(at + 60) & 0x4000) !== 0;
    const begin = at + (isLonger ? 64 : 62);
    const end = index.indexOf(0, begin);
    if (end < 0) return undefined;
    names.push(index.toString('utf8', begin, end));
    at += Math.ceil((end - at + 1) / 8) * 8;
  }
  return names;
}
