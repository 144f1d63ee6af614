import { execFile } from 'node:child_process';
import { existsSync, promises as fs } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { t } from '../../protocol/text/l10n.ts';
import { resolvePath } from '../../tools/sandbox/paths.ts';
import { readPlain } from '../../tools/sandbox/regularFile.ts';
import { makeFile } from '../../tools/sandbox/writeFile.ts';

/** A repository, and Git's own program; `root` is an absolute path. */
export interface WorktreeRepository {
  program: string;
  root: string;
}

const [mostWords, mostLetters] = [5, 40];

/** A free name for the branch of a task, from its first words. */
export async function branchFor(repository: WorktreeRepository, task: string): Promise<string> {
  const plain = task.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const said = plain
    .match(/[a-z0-9]+/g)
    ?.slice(0, mostWords)
    .join('-')
    .slice(0, mostLetters);
  const name = `towpath/${said?.replace(/-$/, '') ?? 'run'}`;
  return free(name, (one) => isBranch(repository, one));
}

/** Beside the repository, named after it and the branch, where nothing is yet. */
export function folderFor(root: string, branch: string): string {
  const of = branch.replace(/^towpath\//, '').replace(/[^\p{L}\p{N}._-]+/gu, '-');
  for (let nth = 1; ; nth++) {
    const folder = path.join(path.dirname(root), `${path.basename(root)}-${of}${nth === 1 ? '' : `-${nth}`}`);
    if (!existsSync(folder)) return folder;
  }
}

/** Why no branch can have this name, as a sentence. */
export async function branchProblem(repository: WorktreeRepository, branch: string): Promise<string | undefined> {
  if (!(await succeeds(repository, 'check-ref-format', '--branch', branch)) || branch.startsWith('-'))
    return t('Git does not accept this branch name.');
  return (await isBranch(repository, branch)) ? t('This branch already exists.') : undefined;
}

/** Makes the branch, from the last commit, and the folder, or neither. Throws an `Error` with Git's own words. */
export async function addWorktree(
  repository: WorktreeRepository,
  { branch, folder }: { branch: string; folder: string },
  signal: AbortSignal,
): Promise<void> {
  if (!(await succeeds(repository, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')))
    throw new Error(t('This repository has no commits yet, and a worktree starts at a commit.'));
  const problem = await branchProblem(repository, branch);
  if (problem) throw new Error(problem);
  try {
    await git(repository, ['worktree', 'add', '--quiet', '-b', branch, '--', folder, 'HEAD'], signal);
  } catch (error) {
    await takeBack(repository, branch, folder);
    const said = String((error as { stderr?: unknown }).stderr ?? '').trim();
    throw signal.aborted ? error : new Error(said.split('\n').at(-1) || (error as Error).message);
  }
}

/** A folder that is on another branch is not the one that was begun, and stays. */
async function takeBack(repository: WorktreeRepository, branch: string, folder: string): Promise<void> {
  const head = await git({ ...repository, root: folder }, ['symbolic-ref', '--short', 'HEAD']).catch(() => undefined);
  if (head?.stdout.trim() === branch) await succeeds(repository, 'worktree', 'remove', '--force', '--', folder);
  await succeeds(repository, 'branch', '--delete', '--', branch);
}

async function free(name: string, isTaken: (name: string) => Promise<boolean>): Promise<string> {
  for (let nth = 1; ; nth++) {
    const numbered = nth === 1 ? name : `${name}-${nth}`;
    if (!(await isTaken(numbered))) return numbered;
  }
}

const isBranch = (repository: WorktreeRepository, branch: string) =>
  succeeds(repository, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`);

const succeeds = (repository: WorktreeRepository, ...args: string[]) =>
  git(repository, args).then(
    () => true,
    () => false,
  );

/** Asks nobody for passwords: there is no terminal to answer in. */
function git({ program, root }: WorktreeRepository, args: string[], signal?: AbortSignal) {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
  return promisify(execFile)(program, args, { cwd: root, env, ...(signal && { signal }) });
}

/**
 * Lies in a worktree until its run begins, and wakes Towpath in the window that opens (`activationEvents`). It says nothing more, for a
 * repository may hold such a file, too. Git overlooks it, by what it says to Git.
 */
const waker = '.towpath/new-run/.gitignore';
const overlookAll = '*\n';

/** Where a link of the repository leads out of the folder there is none: Towpath wakes when it is opened. */
export async function putWaker(folder: string): Promise<void> {
  const place = await placeOf(folder).catch(() => undefined);
  if (place) await makeFile(place, Buffer.from(overlookAll)).catch(() => {});
}

/** With the folders that were made for it; a file of the repository's own stays. */
export async function takeWaker(folder: string): Promise<void> {
  try {
    const place = await placeOf(folder);
    if (String(await readPlain(place, 1_000)) !== overlookAll) return;
    await fs.rm(place);
    await fs.rmdir(path.dirname(place));
    await fs.rmdir(path.dirname(path.dirname(place)));
  } catch {
    // It is not there, or there is more in them.
  }
}

async function placeOf(folder: string): Promise<string> {
  return (await resolvePath([{ name: path.basename(folder), path: folder }], waker, 'write')).path;
}
