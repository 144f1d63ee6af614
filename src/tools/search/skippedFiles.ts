import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { quoteForMessage } from '../core/pathSyntax.ts';
import type { Workspace } from '../core/workspace.ts';
import { readRegularFile } from '../sandbox/regularFile.ts';
import type { FileGlob } from './fileGlob.ts';
import { runRipgrep, withRipgrepExclusions } from './ripgrep.ts';
import { type SearchRoot, toWorkspacePath } from './searchRoots.ts';

// Timeout in milliseconds of the search for ignored files.
const timeLimit = 3000;
const maxCompared = 20_000;
const maxNamed = 3;

export const noIgnoreOption = '--no-ignore';

/**
 * Tests if ignore files exclude a named folder as a whole: `/build/`, `build/*`, or a `*` inside of the folder. A folder whose files are
 * ignored individually does not count.
 */
export async function isFolderIgnored(workspace: Workspace, root: SearchRoot, signal: AbortSignal): Promise<boolean> {
  if (root.target === './') return false;
  const holdsFile = async (at: SearchRoot, options: string[] = []) => {
    let holds = false;
    const onName = () => {
      holds = true;
      return false;
    };
    await runRipgrep(workspace, at, ['--files', ...options], onName, signal);
    return holds;
  };
  if ((await holdsFile(root)) || !(await holdsFile(root, [noIgnoreOption]))) return false;
  return withIgnoreFilesOf(root, async (copy) => !(await holdsFile(copy)));
}

// Maximum bytes of an ignore file; larger files are skipped.
const maxIgnoreFile = 1024 * 1024;
const ignoreFiles = ['.gitignore', '.ignore', '.rgignore', '.git/info/exclude'];

// Calls `work` with a temporary copy of the folder's ignore files, including parents, and one file that no line matches by name.
async function withIgnoreFilesOf<Result>(
  { folder, target, prefix }: SearchRoot,
  work: (copy: SearchRoot) => Promise<Result>,
): Promise<Result> {
  const base = await mkdtemp(paths.join(await realpath(tmpdir()), 'towpath-ignored-'));
  const copyOf = (folder: string) => paths.join(base, paths.relative(paths.parse(folder).root, folder));
  try {
    const named = paths.join(folder, target);
    for (let at = named; ; at = paths.dirname(at)) {
      await mkdir(copyOf(at), { recursive: true });
      for (const name of ignoreFiles) {
        const copy = paths.join(copyOf(at), name);
        const text = await readRegularFile(paths.join(at, name), maxIgnoreFile).catch(() => undefined);
        if (text === undefined) continue;
        await mkdir(paths.dirname(copy), { recursive: true });
        await writeFile(copy, text);
      }
      if (at === paths.dirname(at)) break;
    }
    await writeFile(paths.join(copyOf(named), randomUUID()), '');
    return await work({ folder: copyOf(folder), target, prefix });
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

export const ignoredFolderNote = (path: string): string =>
  `${quoteForMessage(path)} is ignored; it was looked into because it was named.`;

/**
 * Returns a note about ignored files if a search found nothing.
 * @param nothing the fact as text, without punctuation
 * @param wanted test for workspace-relative paths
 */
export async function ignoredFilesNote(
  nothing: string,
  workspace: Workspace,
  roots: readonly SearchRoot[],
  { glob, wanted }: { glob: FileGlob; wanted(path: string, root: SearchRoot): boolean },
  signal: AbortSignal,
): Promise<string> {
  const time = AbortSignal.timeout(timeLimit);
  const both = AbortSignal.any([signal, time]);
  const found: string[] = [];
  try {
    for (const folder of roots)
      await withRipgrepExclusions(glob.limits(folder), async (limits) => {
        const look = (options: string[], onPath: (path: string) => boolean) =>
          runRipgrep(
            workspace,
            folder,
            ['--files', ...options, ...limits],
            (name) => {
              const path = toWorkspacePath(folder, name);
              return !wanted(path, folder) || onPath(path);
            },
            both,
          );
        const seen = new Set<string>();
        await look([], (path) => seen.add(path).size < maxCompared);
        if (seen.size >= maxCompared) return;
        await look([noIgnoreOption], (path) => seen.has(path) || found.push(path) <= maxNamed);
      });
  } catch (error) {
    if (signal.aborted || !time.aborted) throw error;
  }
  if (found.length === 0) return `${nothing}; ignored ones are left out.`;
  const named = found.slice(0, maxNamed).map(quoteForMessage).join(', ');
  const more = found.length > maxNamed ? ' and others' : '';
  return `${nothing}; ignored ones are left out, here ${named}${more}. Give an ignored file or folder as path to look into it.`;
}
