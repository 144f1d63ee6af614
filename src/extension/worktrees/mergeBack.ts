import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import { ignoredFilesText, type RemovableWorktrees } from './deleteWorktree.ts';
import type { WorktreeMerge } from './mergeWorktree.ts';
import { worktreeLosses } from './worktreeLosses.ts';

interface MergeableWorktrees extends RemovableWorktrees {
  planMerge(folder: string): Promise<WorktreeMerge>;
  merge(folder: string): Promise<WorktreeMerge>;
}

/** Asks before the merge of a worktree into its repository's branch, and merges. Throws if it cannot be merged. */
export async function confirmAndMergeBack(
  folder: string,
  worktrees: MergeableWorktrees,
  modals: Dialogs,
): Promise<void> {
  const plan = await worktrees.planMerge(folder);
  const [from, into] = [shortBranch(plan.from), shortBranch(plan.into)];
  const facts = await worktrees.facts(folder);
  const others = worktreeLosses(facts).filter(({ kind }) => kind !== 'unmerged' && kind !== 'ignored');
  const ignored = facts?.ignored ?? [];
  const [mergeAndDelete, mergeOnly] = [t('Merge and Delete Folder'), t('Merge Only')];
  const chosen = await modals.ask({
    text: disableCommandLinks(t('Merge {0} into {1}?', from, into)),
    detail: disableCommandLinks(
      [
        t('{0} to merge.', localizedCount(plan.commits, 'commit')),
        t('The branch stays, also when the folder {0} is deleted.', folder),
        ...(others.length === 0 && ignored.length > 0 ? [ignoredFilesText(ignored)] : []),
      ].join(' '),
    ),
    buttons: others.length === 0 ? [mergeOnly, mergeAndDelete] : [mergeOnly],
  });
  if (chosen !== mergeAndDelete && chosen !== mergeOnly) return;
  await worktrees.merge(folder);
  if (chosen === mergeAndDelete) await worktrees.remove(folder, { ignored });
  notify('info', t('{0} was merged into {1}.', from, into));
}

const shortBranch = (branch: string) => branch.replace(/^refs\/heads\//, '');
