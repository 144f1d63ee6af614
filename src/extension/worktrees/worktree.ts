import { execFile } from 'node:child_process';
import { existsSync, promises as fs } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { t } from '../../protocol/text/l10n.ts';
import { resolvePath } from '../../tools/sandbox/paths.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';
import { createRequestedFile } from '../../tools/sandbox/writeFile.ts';

/** Git repository: the program of Git, and the absolute root. */
export interface WorktreeRepository {
  program: string;
  root: string;
}

const [maxWords, maxLetters] = [5, 40];

export async function worktreeBranchName(repository: WorktreeRepository, task: string): Promise<string> {
  const plain = task.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain
    .match(/[a-z0-9]+/g)
    ?.slice(0, maxWords)
    .join('-')
    .slice(0, maxLetters);
  const name = `towpath/${slug?.replace(/-$/, '') ?? 'run'}`;
  return free(name, (one) => isBranch(repository, one));
}

export function worktreeFolder(root: string, branch: string): string {
  const of = branch.replace(/^towpath\//, '').replace(/[^\p{L}\p{N}._-]+/gu, '-');
  for (let nth = 1; ; nth++) {
    const folder = path.join(path.dirname(root), `${path.basename(root)}-${of}${nth === 1 ? '' : `-${nth}`}`);
    if (!existsSync(folder)) return folder;
  }
}

/** Returns the reason why a branch name is invalid, as a sentence. */
export async function invalidBranchReason(repository: WorktreeRepository, branch: string): Promise<string | undefined> {
  if (!(await succeeds(repository, 'check-ref-format', '--branch', branch)) || branch.startsWith('-'))
    return t('Git does not accept this branch name.');
  return (await isBranch(repository, branch)) ? t('This branch already exists.') : undefined;
}

/** Creates branch (from the last commit) and folder, or neither. Throws an `Error` with the message of Git. */
export async function addWorktree(
  repository: WorktreeRepository,
  { branch, folder }: { branch: string; folder: string },
  signal: AbortSignal,
): Promise<void> {
  if (!(await succeeds(repository, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')))
    throw new Error(t('This repository has no commits yet, and a worktree starts at a commit.'));
  const problem = await invalidBranchReason(repository, branch);
  if (problem) throw new Error(problem);
  try {
    await runGit(repository, ['worktree', 'add', '--quiet', '-b', branch, '--', folder, 'HEAD'], signal);
  } catch (error) {
    await takeBack(repository, branch, folder);
    throw signal.aborted ? error : new Error(messageOfGit(error));
  }
}

export function messageOfGit(error: unknown): string {
  const stderr = String((error as { stderr?: unknown }).stderr ?? '').trim();
  return stderr.split('\n').at(-1) || (error as Error).message;
}

/** Skips a folder with another branch checked out. */
async function takeBack(repository: WorktreeRepository, branch: string, folder: string): Promise<void> {
  const head = await runGit({ ...repository, root: folder }, ['symbolic-ref', '--short', 'HEAD']).catch(
    () => undefined,
  );
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
  runGit(repository, args).then(
    () => true,
    () => false,
  );

/** Disables password prompts: there is no terminal. */
export function runGit({ program, root }: WorktreeRepository, args: string[], signal?: AbortSignal) {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
  return promisify(execFile)(program, args, { cwd: root, env, ...(signal && { signal }) });
}

/**
 * Marker file in a worktree that activates Towpath in its new window (`activationEvents`) until its run starts. The file has no other
 * meaning, because a repository may contain such a file, too. Git ignores the marker by its own content.
 */
export const activationMarker = '.towpath/new-run/.gitignore';
const overlookAll = '*\n';

/** Writes no marker if a link leads out of the folder; Towpath then activates when opened. */
export async function writeActivationMarker(folder: string): Promise<void> {
  const location = await repositoryOf(folder).catch(() => undefined);
  if (location) await createRequestedFile(location, Buffer.from(overlookAll)).catch(() => {});
}

/** Removes the marker and the folders created for it; a file of the repository stays. */
export async function removeActivationMarker(folder: string): Promise<void> {
  try {
    const location = await repositoryOf(folder);
    if (String(await readRegularFile(location, 1_000)) !== overlookAll) return;
    await fs.rm(location);
    await fs.rmdir(path.dirname(location));
    await fs.rmdir(path.dirname(path.dirname(location)));
  } catch {
    // Missing, or other content remains.
  }
}

async function repositoryOf(folder: string): Promise<string> {
  return (await resolvePath([{ name: path.basename(folder), path: folder }], activationMarker, 'write')).path;
}
