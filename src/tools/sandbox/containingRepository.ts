import { lstat } from 'node:fs/promises';
import * as paths from 'node:path';
import { foldCase } from '../core/caseFold.ts';

/** What the folders around a place make of it. */
type Surrounding = 'repository' | 'environment';

/**
 * Whether a path (segments below the real path of its root) is, or would be with it, in a Git repository without a name that
 * says so, or in a virtual environment. Git takes a folder for its own that holds `HEAD`, `objects` and `refs` and runs what its
 * `config` and `hooks` say.
 */
export async function surroundingOf(root: string, segments: readonly string[]): Promise<Surrounding | undefined> {
  for (let depth = 0; depth < segments.length; depth++) {
    const folder = paths.join(root, ...segments.slice(0, depth));
    const next = foldCase(segments[depth]!);
    const has = async (name: string) => next === name.toLowerCase() || (await exists(paths.join(folder, name)));
    if (await isRepository(has)) return 'repository';
    if (await exists(paths.join(folder, 'pyvenv.cfg'))) return 'environment';
  }
  return undefined;
}

/** A list of paths below a folder (with `/`) has a whole repository in it, whatever it is called. */
export async function holdsRepository(below: readonly string[]): Promise<boolean> {
  const all = new Set(below.map((path) => path.toLowerCase()));
  for (const path of all) {
    const [, folder, name] = /^(.*\/)?([^/]+)$/.exec(path) ?? [];
    if (name === '.git') return true;
    if (name === 'head' && (await isRepository(async (one) => all.has((folder ?? '') + one.toLowerCase()))))
      return true;
  }
  return false;
}

/** `commondir` says where the others are. */
async function isRepository(has: (name: string) => Promise<boolean>): Promise<boolean> {
  if (!(await has('HEAD'))) return false;
  return (await has('commondir')) || ((await has('objects')) && (await has('refs')));
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );
