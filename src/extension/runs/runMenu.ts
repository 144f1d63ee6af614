import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { RunStore } from '../../runs/store.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import { confirmAndDeleteWorktree } from '../worktrees/deleteWorktree.ts';
import { confirmAndMergeBack } from '../worktrees/mergeBack.ts';
import type { PanelConversation } from './conversation.ts';
import { confirmAndDeleteRun, showDeletedRuns } from './deletedRuns.ts';
import { pickRun, type RunListAction } from './pickRun.ts';
import type { LiveRunStatus, RunStates } from './runStates.ts';
import { takeOverRun } from './takeOverRun.ts';
import type { RunTitles } from './titles.ts';
import type { WorktreeRunStatus, Worktrees } from './worktrees.ts';

interface Dependencies {
  engine: ExecutionEngine;
  store: RunStore;
  states: RunStates;
  titles: RunTitles;
  worktrees: Worktrees;
  conversation: PanelConversation;
  policies: ApprovalPolicies;
  modals: Dialogs;
}

/** *Open Run…*: opens the selected run. Buttons of a row change its run; the last row leads to the deleted runs. */
export async function showRunList(parts: Dependencies): Promise<void> {
  const { store, states, worktrees, conversation, modals } = parts;
  await states.look();
  const picked = await pickRun(store, states, t('Towpath: open a run'), {
    elsewhere: await worktrees.elsewhere(),
    actionsOf: (run, now) => actionsOf(run, now, parts),
    actionsOfWorktree: (worktree) => actionsOfWorktree(worktree, parts),
    more: async () => {
      const hasDeleted = (await store.deleted.list()).length > 0;
      const run = () => showDeletedRuns(store, conversation, modals);
      return hasDeleted ? [{ icon: 'trash', label: t('Deleted Runs…'), leaves: true, run }] : [];
    },
  });
  if (picked?.folder !== undefined) await worktrees.open(picked.folder);
  else if (picked?.run) await show(picked.run.id, conversation);
}

function actionsOf({ id, pinned }: RunSummary, now: LiveRunStatus | undefined, parts: Dependencies): RunListAction[] {
  const takeOver = async () => {
    await show(id, parts.conversation);
    await takeOverRun(parts);
  };
  return [
    ...(now?.elsewhere
      ? [{ icon: 'arrow-swap', label: t('Take over this run…'), leaves: true as const, run: takeOver }]
      : []),
    { icon: 'edit', label: t('Rename this run'), run: () => parts.titles.rename(id) },
    pinned
      ? { icon: 'pinned', label: t('Unpin this run'), run: () => parts.titles.pin(id) }
      : { icon: 'pin', label: t('Pin this run'), run: () => parts.titles.pin(id) },
    { icon: 'trash', label: t('Delete this run. You can restore it.'), run: () => confirmAndDeleteRun(id, parts) },
  ];
}

function actionsOfWorktree(
  { folder, branch, run }: WorktreeRunStatus,
  { worktrees, modals }: Dependencies,
): RunListAction[] {
  if (!run) return [];
  const action = (icon: string, label: string, act: () => Promise<unknown>): RunListAction => {
    const report = (error: unknown) => notify('error', localizedErrorText(error as Error));
    return { icon, label, leaves: true, run: () => act().catch(report) };
  };
  return [
    action('git-merge', t('Merge Back…'), () => confirmAndMergeBack(folder, worktrees, modals)),
    action('git-branch', t('Keep as Branch…'), () => confirmAndDeleteWorktree({ folder, branch }, worktrees, modals)),
  ];
}

async function show(runId: string, conversation: PanelConversation): Promise<void> {
  await vscode.commands.executeCommand('towpath.showChat');
  await conversation.open(runId);
}
