import { readdir, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { maxJsonBytes, parseLimitedJson } from '../core/parseLimits.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { relativeTo } from '../sandbox/paths.ts';
import { readPlain } from '../sandbox/regularFile.ts';

/**
 * Returns the folders (workspace-relative) around a path with their own configuration for a program; such configuration may be code. The
 * working folder is excluded, because its rule applies anyway.
 * @param path absolute and real @param folder working folder of the program
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

/** Tests for a file named after the program, or a key in `package.json`. An unreadable file counts. */
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
