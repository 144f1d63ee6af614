import * as paths from 'node:path';
import { globTest } from '../core/glob.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { relativeTo } from '../sandbox/paths.ts';
import { readPlain } from '../sandbox/regularFile.ts';
import { trackedIn } from './gitTracked.ts';

const largestIgnoreFile = 100_000;

/**
 * Tests if Git ignores a file (absolute and real) by a simple line of a surrounding `.gitignore`: a name, a path, or a glob of names. False
 * if a line negates the pattern, if Git tracks the file, or if either is unknown.
 */
export async function isIgnoredByGit(file: string, roots: readonly WorkspaceRoot[]): Promise<boolean> {
  const folder = paths.dirname(file);
  const tracked = await trackedIn(folder, roots);
  if (!tracked || tracked.names.includes(tracked.below + paths.basename(file))) return false;
  let ignored = false;
  for (let place = folder; (await relativeTo(roots, place)) !== undefined; place = paths.dirname(place)) {
    const text = await readPlain(paths.join(place, '.gitignore'), largestIgnoreFile).then(String, () => '');
    const lines = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
    if (lines.some((line) => line.startsWith('!'))) return false;
    const below = paths.relative(place, file);
    ignored ||= lines.some((line) => covers(line, below));
    if (paths.dirname(place) === place) break;
  }
  return ignored;
}

/**
 * Tests a line of `.gitignore`.
 * @param path relative to the folder of the file
 */
function covers(line: string, path: string): boolean {
  if (!/^\/?[\w.*-]+(\/[\w.-]+)*\/?$/.test(line)) return false;
  const names = path.split('/');
  const pattern = line.replace(/^\/|\/$/g, '');
  const isFolder = line.endsWith('/');
  if (line.replace(/\/$/, '').includes('/')) return path.startsWith(`${pattern}/`) || (!isFolder && path === pattern);
  const test = globTest(pattern);
  return (isFolder ? names.slice(0, -1) : names).some((name) => test(name));
}
