import { readdir, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { maxJsonBytes, parseLimitedJson } from '../core/parseLimits.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { relativeTo } from '../sandbox/paths.ts';
import { readPlain } from '../sandbox/regularFile.ts';

/**
 * Folders (workspace-relative) around a file or folder whose own configuration a program takes, which may be code or name it. The
 * folder where the program runs is none of them: its rule has to hold anyway.
 * @param path absolute and real @param folder where the program runs
 */
export async function configuredFolders(
  program: string,
  path: string,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<string[]> {
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  const found: string[] = [];
  for (let place = isFolder ? path : paths.dirname(path); place !== folder; place = paths.dirname(place)) {
    const relative = await relativeTo(roots, place);
    if (relative === undefined) break;
    if (await isConfigured(program, place)) found.push(relative || '.');
    if (paths.dirname(place) === place) break;
  }
  return found;
}

/** A file there is called after the program, or `package.json` has a key that is. One that cannot be read counts. */
async function isConfigured(program: string, folder: string): Promise<boolean> {
  const names: string[] = await readdir(folder).catch(() => []);
  const called = program.replace(/[-_.]?cli\d*$/, '');
  if (names.some((name) => name.toLowerCase().includes(called))) return true;
  if (!names.includes('package.json')) return false;
  try {
    const manifest = parseLimitedJson((await readPlain(paths.join(folder, 'package.json'), maxJsonBytes)).toString());
    return Object.keys(Object(manifest)).some((key) => key.toLowerCase().startsWith(called));
  } catch {
    return true;
  }
}
