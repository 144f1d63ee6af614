import { lstat, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { readRegularFile } from '../sandbox/regularFile.ts';

const maxFileBytes = 4096;

/**
 * Returns the folders outside of the open folders in which Git keeps the repositories of the open folders: of a worktree, of a submodule,
 * or of a repository around an open folder.
 * @param folders absolute real paths
 */
export async function findGitFolders(folders: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const folder of folders) for (const git of await gitFoldersOf(folder)) found.add(git);
  const isInside = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
  const outside = [...found].filter((git) => !folders.some((folder) => isInside(git, folder)));
  return outside.filter((git) => !outside.some((other) => other !== git && isInside(git, other)));
}

async function gitFoldersOf(folder: string): Promise<string[]> {
  for (let at = folder; ; at = paths.dirname(at)) {
    const git = paths.join(at, '.git');
    const stats = await lstat(git).catch(() => undefined);
    if (stats?.isDirectory()) return (await isGitFolder(git)) ? [git] : [];
    if (stats?.isFile()) return linkedFolders(git);
    if (at === paths.dirname(at)) return [];
  }
}

// A file `.git` names the folder of a worktree or a submodule; a worktree names the folder that it shares.
async function linkedFolders(file: string): Promise<string[]> {
  const own = await namedFolder(file, /^gitdir: (.+)$/m);
  if (own === undefined || !(await leadsBack(own, file))) return [];
  const shared = await namedFolder(paths.join(own, 'commondir'), /^(.+)$/m);
  const folders = shared === undefined ? [own] : [own, shared];
  const areGit = await Promise.all(folders.map(isGitFolder));
  return folders.filter((_, at) => areGit[at]);
}

// The file could name the repository of another project. Git writes the way back into a worktree and a submodule.
async function leadsBack(folder: string, file: string): Promise<boolean> {
  const worktree = await namedFolder(paths.join(folder, 'gitdir'), /^(.+)$/m);
  if (worktree !== undefined) return worktree === (await realpath(file));
  return (await namedFolder(paths.join(folder, 'config'), /^\s*worktree\s*=\s*(.+)$/m)) === paths.dirname(file);
}

async function namedFolder(file: string, form: RegExp): Promise<string | undefined> {
  const text = await readRegularFile(file, maxFileBytes).catch(() => '');
  const name = form.exec(String(text))?.[1]?.trimEnd();
  return name === undefined ? undefined : realpath(paths.resolve(paths.dirname(file), name)).catch(() => undefined);
}

async function isGitFolder(folder: string): Promise<boolean> {
  const has = (name: string) =>
    lstat(paths.join(folder, name)).then(
      () => true,
      () => false,
    );
  return (await has('HEAD')) && ((await has('commondir')) || ((await has('objects')) && (await has('refs'))));
}
