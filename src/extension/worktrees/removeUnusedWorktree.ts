import { removeWorktree } from './removeWorktree.ts';
import type { WorktreeRepository } from './worktree.ts';
import { readWorktreeFacts } from './worktreeFacts.ts';
import { type WorktreeFacts, worktreeLosses } from './worktreeLosses.ts';

/** Days without use after which a worktree is removed, if nothing in it would be lost. */
export const maxUnusedDays = 30;

const day = 24 * 60 * 60 * 1000;

/**
 * Removes a worktree (real path) that nobody used for `maxUnusedDays`. Returns false if it stays.
 * @param usedAt last known use, such as the last event of its run. Times are epoch milliseconds
 */
export async function removeUnusedWorktree(
  repository: WorktreeRepository,
  folder: string,
  usedAt: number,
  now: number,
): Promise<boolean> {
  const facts = await readWorktreeFacts(repository.root, folder);
  if (!facts || !isUnusedWorktree(facts, usedAt, now)) return false;
  await removeWorktree(repository, folder);
  return true;
}

export function isUnusedWorktree(facts: WorktreeFacts, usedAt: number, now: number): boolean {
  return worktreeLosses(facts).length === 0 && Math.max(facts.usedAt, usedAt) < now - maxUnusedDays * day;
}
