import { createGlobMatcher, type GlobBracketMeaning } from '../core/glob.ts';
import type { Workspace } from '../core/workspace.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { globToRipgrepExclusions, type RipgrepExclusions } from './globLimits.ts';
import type { SearchRoot } from './searchRoots.ts';

export interface FileGlob {
  /** @param path workspace-relative; `below`: without the folder name if several folders are open */
  matches(path: string, below: string): boolean;
  limits(root: SearchRoot): RipgrepExclusions;
  /** Returns the paths that contain the glob's brackets literally, if any; otherwise all. */
  preferred<One extends { path: string }>(found: readonly One[]): readonly One[];
}

export async function createFileGlob(workspace: Workspace, glob: string | undefined): Promise<FileGlob> {
  if (glob === undefined) return { matches: () => true, limits: () => ({ options: [] }), preferred: (found) => found };
  const brackets = await bracketsOf(workspace, glob);
  const test = createGlobMatcher(glob, brackets);
  const isLiteral = brackets === 'either' ? createGlobMatcher(glob, 'literal') : undefined;
  return {
    matches: (path, below) => test(path) || (below !== path && test(below)),
    limits: (root) => globToRipgrepExclusions(glob, root.prefix, brackets),
    preferred(found) {
      const literal = isLiteral ? found.filter(({ path }) => isLiteral(path)) : [];
      return literal.length > 0 ? literal : found;
    },
  };
}

async function bracketsOf({ roots }: Workspace, glob: string): Promise<GlobBracketMeaning> {
  if (!/[[{]/.test(glob)) return 'sets';
  if (/[*?]/.test(glob)) return 'either';
  const exists = await resolvePath(roots, glob, 'search').then(
    ({ kind }) => kind !== 'missing',
    () => false, // refused, or missing
  );
  return exists ? 'literal' : 'either';
}
