import { lstat } from 'node:fs/promises';
import * as paths from 'node:path';
import { foldCase } from '../core/caseFold.ts';

type Surrounding = 'repository' | 'environment';

/**
 * Tests if a path (segments below the root's real path) is inside of a virtual environment or of a Git repository without a `.git` name, or
 * would complete a repository. Git treats a folder with `HEAD`, `objects` and `refs` as a repository and runs the programs in `config` and
 * `hooks`.
 */
export async function findContainingRepository(
  root: string,
  segments: readonly string[],
): Promise<Surrounding | undefined> {
  for (let depth = 0; depth < segments.length; depth++) {
    const folder = paths.join(root, ...segments.slice(0, depth));
    const next = foldCase(segments[depth]!);
    const has = async (name: string) => next === name.toLowerCase() || (await exists(paths.join(folder, name)));
    if (await isRepository(has)) return 'repository';
    if (await exists(paths.join(folder, 'pyvenv.cfg'))) return 'environment';
  }
  return undefined;
}

export async function containsGitRepository(below: readonly string[]): Promise<boolean> {
  const all = new Set(below.map((path) => path.toLowerCase()));
  for (const path of all) {
    const [, folder, name] = /^(.*\/)?([^/]+)$/.exec(path) ?? [];
    if (name === '.git') return true;
    if (name === 'head' && (await isRepository(async (one) => all.has((folder ?? '') + one.toLowerCase()))))
      return true;
  }
  return false;
}

// Tests for a repository; `commondir` locates the other parts elsewhere.
async function isRepository(has: (name: string) => Promise<boolean>): Promise<boolean> {
  if (!(await has('HEAD'))) return false;
  return (await has('commondir')) || ((await has('objects')) && (await has('refs')));
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );
