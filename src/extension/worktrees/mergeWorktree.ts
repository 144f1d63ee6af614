import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { readCheckout, readGitOutput } from './checkout.ts';
import { messageOfGit, runGit, type WorktreeRepository } from './worktree.ts';
import { readWorktreeFacts } from './worktreeFacts.ts';
import { type WorktreeLossKind, worktreeLosses } from './worktreeLosses.ts';

/** Merge that was not begun, or was taken back. Neither folder has changed. */
class WorktreeMergeError extends UserFacingError {
  override readonly name = 'WorktreeMergeError';
}

/** States of a worktree in which its branch does not hold all work. */
const unfinishedWork: ReadonlySet<WorktreeLossKind> = new Set([
  ...(['unreadable', 'not-linked', 'detached', 'unfinished', 'changed', 'untracked', 'uncompared'] as const),
]);
const maxNames = 5;

export interface WorktreeMerge {
  /** Branches in full (`refs/heads/…`). */
  from: string;
  into: string;
  /** Commits to merge. */
  commits: number;
}

/**
 * Returns the merge of a worktree's branch into the branch of the repository's folder. Throws `WorktreeMergeError` if a folder has changes that
 * are in no commit, or if there is nothing to merge.
 */
export async function planWorktreeMerge(root: string, folder: string): Promise<WorktreeMerge> {
  const facts = await readWorktreeFacts(root, folder);
  const loss = worktreeLosses(facts).find(({ kind }) => unfinishedWork.has(kind));
  if (loss || facts?.branch === undefined)
    throw new WorktreeMergeError(message('The worktree was not merged: {0}.', loss?.text ?? ''));
  const checkout = await readCheckout(root);
  if (!checkout || checkout.branch === undefined || checkout.unfinished.length > 0)
    throw new WorktreeMergeError(
      message(
        'The worktree was not merged: {0} has no branch checked out, or an operation of Git is unfinished there.',
        root,
      ),
    );
  if (checkout.changed.length > 0)
    throw new WorktreeMergeError(
      message('The worktree was not merged: {0} has uncommitted changes. Commit or stash them first.', root),
    );
  const count = await readGitOutput(root, 'rev-list', '--count', facts.branch, '--not', checkout.branch);
  if (Number(count) === 0) throw new WorktreeMergeError(message('All commits of the worktree are merged already.'));
  return { from: facts.branch, into: checkout.branch, commits: Number(count) };
}

/**
 * Merges the branch of a worktree into the branch of the repository's folder. A merge with conflicts is not begun or is aborted. Throws
 * `WorktreeMergeError`, or an `Error` with the message of Git.
 */
export async function mergeWorktree(repository: WorktreeRepository, folder: string): Promise<WorktreeMerge> {
  const merge = await planWorktreeMerge(repository.root, folder);
  const conflicts = await conflictsOf(repository, merge);
  if (conflicts.length > 0) throw conflictError(conflicts);
  try {
    // The full name, because a tag of the same name would be merged instead.
    const text = `Merge branch '${merge.from.replace(/^refs\/heads\//, '')}'`;
    await runGit(repository, ['merge', '--quiet', '--no-edit', '--no-squash', '--commit', '-m', text, merge.from]);
    return merge;
  } catch (error) {
    const stopped = await readCheckout(repository.root);
    if (stopped?.unfinished.includes('MERGE_HEAD')) await runGit(repository, ['merge', '--abort']);
    if (stopped && stopped.conflicts.length > 0) throw conflictError(stopped.conflicts);
    throw new Error(messageOfGit(error));
  }
}

function conflictError(files: readonly string[]): WorktreeMergeError {
  const names = files.slice(0, maxNames).join(', ');
  return new WorktreeMergeError(
    message(
      'The worktree was not merged, because of conflicts in {0}. Nothing has changed. Merge its branch with Git.',
      names,
    ),
  );
}

/** Returns the files with conflicts, without a change of any folder; none before Git 2.38, which has no such command. */
async function conflictsOf({ root }: WorktreeRepository, { from, into }: WorktreeMerge): Promise<string[]> {
  try {
    await readGitOutput(root, 'merge-tree', '--write-tree', '--name-only', '-z', into, from);
    return [];
  } catch (error) {
    const { code, stdout } = error as { code?: unknown; stdout?: string };
    if (code !== 1) return [];
    const [, ...records] = (stdout ?? '').split('\0');
    return records.slice(0, records.indexOf(''));
  }
}
