import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { messageOfGit, runGit, type WorktreeRepository } from './worktree.ts';
import { readWorktreeFacts } from './worktreeFacts.ts';
import { worktreeLosses } from './worktreeLosses.ts';

/** Losses that the user has accepted. */
export interface AcceptedLosses {
  /** The commits stay on the local branch. */
  unmerged?: true;
  /** Ignored files to delete, relative to the worktree. */
  ignored?: readonly string[];
}

/** A worktree that was not removed, because something in it would be lost. */
class WorktreeKeptError extends UserFacingError {
  override readonly name = 'WorktreeKeptError';
}

/**
 * Removes the folder of a worktree (real path) unless something would be lost; its branch stays. The state is read immediately before, and
 * Git checks for uncommitted and untracked files again. Throws `WorktreeKeptError`, or an `Error` with the message of Git.
 */
export async function removeWorktree(
  repository: WorktreeRepository,
  folder: string,
  accepted: AcceptedLosses = {},
): Promise<void> {
  const facts = await readWorktreeFacts(repository.root, folder);
  const ignored = facts?.ignored.filter((file) => !accepted.ignored?.includes(file));
  const losses = worktreeLosses(
    facts && { ...facts, ignored: ignored ?? [], unmerged: accepted.unmerged ? 0 : facts.unmerged },
  );
  const [loss] = losses;
  if (loss) throw new WorktreeKeptError(message('The worktree was not deleted: {0}.', loss.text));
  try {
    // The setting `no` would hide untracked files from Git's own check.
    await runGit(repository, ['-c', 'status.showUntrackedFiles=all', 'worktree', 'remove', '--', folder]);
  } catch (error) {
    throw new Error(messageOfGit(error));
  }
}
