import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import { plainLabel } from '../dialogs/plainLabel.ts';
import type { AcceptedLosses } from './removeWorktree.ts';
import { type WorktreeFacts, type WorktreeLoss, worktreeLosses } from './worktreeLosses.ts';

/** Worktrees of Towpath; folders are real, absolute paths. */
export interface RemovableWorktrees {
  /** Lists those that no window works in. */
  removable(): Promise<{ folder: string; branch: string }[]>;
  facts(folder: string): Promise<WorktreeFacts | undefined>;
  remove(folder: string, accepted: AcceptedLosses): Promise<void>;
}

const maxNames = 5;

/** Asks which worktree to delete, and deletes it unless something would be lost. Resolves to false if it stays. */
export async function pickAndDeleteWorktree(worktrees: RemovableWorktrees, modals: Dialogs): Promise<boolean> {
  const found = await worktrees.removable();
  if (found.length === 0) {
    notify('info', t('There are no worktrees that can be deleted.'));
    return false;
  }
  const items = await Promise.all(
    found.map(async (one) => {
      const losses = lossesText(worktreeLosses(await worktrees.facts(one.folder)));
      const detail = losses && plainLabel(losses);
      return { label: plainLabel(one.branch), description: plainLabel(one.folder), one, ...(detail && { detail }) };
    }),
  );
  const chosen = await vscode.window.showQuickPick(items, { title: t('Delete a worktree') });
  return chosen ? confirmAndDeleteWorktree(chosen.one, worktrees, modals) : false;
}

/** Asks before the deletion of a worktree, and names what it deletes. Resolves to false if it stays. */
export async function confirmAndDeleteWorktree(
  { folder, branch }: { folder: string; branch: string },
  worktrees: RemovableWorktrees,
  modals: Dialogs,
): Promise<boolean> {
  const facts = await worktrees.facts(folder);
  const losses = worktreeLosses(facts);
  const blocking = losses.filter(({ kind }) => kind !== 'unmerged' && kind !== 'ignored');
  if (!facts || blocking.length > 0) {
    notify('warning', t('The worktree {0} cannot be deleted: {1}.', folder, lossesText(blocking)));
    return false;
  }
  const { unmerged, ignored } = facts;
  const button = unmerged > 0 ? t('Keep as Branch') : t('Delete');
  const chosen = await modals.ask({
    text: disableCommandLinks(t('Delete the worktree {0}?', folder)),
    detail: disableCommandLinks(
      [
        t('Its branch {0} with all commits stays.', branch),
        ...losses.filter(({ kind }) => kind === 'unmerged').map(({ text }) => t('On it: {0}.', text)),
        ignored.length > 0 && ignoredFilesText(ignored),
      ]
        .filter(Boolean)
        .join(' '),
    ),
    buttons: [button],
  });
  if (chosen !== button) return false;
  await worktrees.remove(folder, { ...(unmerged > 0 && { unmerged: true }), ignored });
  return true;
}

const lossesText = (losses: readonly WorktreeLoss[]): string => losses.map(({ text }) => t(text)).join(' · ');

/** Names the ignored files that a deletion takes. */
export function ignoredFilesText(ignored: readonly string[]): string {
  const names = ignored.slice(0, maxNames).join(', ');
  const rest = ignored.length - maxNames;
  return t('Files that Git ignores are deleted: {0}.', rest > 0 ? t('{0} and {1} more', names, rest) : names);
}
