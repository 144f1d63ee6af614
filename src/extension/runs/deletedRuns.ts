import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import { descendantRuns } from '../../protocol/run/branches.ts';
import { localizedRunTitle } from '../../protocol/run/run.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';
import type { RunStore } from '../../runs/store.ts';
import { type DeletedRun, maxTrashDays } from '../../runs/trash.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import type { PanelConversation } from './conversation.ts';

interface Dependencies {
  store: RunStore;
  conversation: PanelConversation;
  policies: ApprovalPolicies;
  modals: Dialogs;
}

/** Deletes a run; asks first if the run is in progress. */
export async function confirmAndDeleteRun(
  runId: string,
  parts: Dependencies & { engine: Pick<ExecutionEngine, 'liveIds'> },
): Promise<void> {
  const stop = t('Stop and Delete');
  const text = t('This run is in progress. Stop and delete it?');
  const isLive = parts.engine.liveIds.includes(runId);
  if (!isLive || (await parts.modals.ask({ text, buttons: [stop] })) === stop) await deleteRun(runId, parts);
}

/**
 * Deletes a run and offers to undo the deletion. No confirmation, because the run can be restored for 30 days, without its grants. Asks
 * only about branches, which do not depend on the run.
 */
export async function deleteRun(runId: string, parts: Dependencies): Promise<void> {
  const { store, conversation, modals } = parts;
  const runs = await store.list();
  const run = runs.find(({ id }) => id === runId) ?? { id: runId, title: t('New run') };
  const onlyIt = t('Delete This One');
  const branches = descendantRuns(runId, runs);
  const all = t('Delete All {0}', branches.length + 1);
  const chosen =
    branches.length > 0 ? await modals.ask(branchesQuestion(run.title, branches.length, [onlyIt, all])) : onlyIt;
  if (chosen === undefined) return;
  const shown = conversation.runId;
  const deleted: { id: string; name: string; title: string }[] = [];
  for (const { id, title } of [run, ...(chosen === all ? branches : [])]) {
    const name = await deleteRunWithoutBranches(id, parts);
    if (name !== undefined) deleted.push({ id, name, title });
  }
  const [first, ...more] = deleted;
  if (!first) return;
  const command = t('Deleted Runs…');
  const text =
    more.length > 0
      ? [
          t('“{0}” and {1} were deleted.', first.title, inBranches(more.length)),
          t('“{1}” restores them within {0} days.', maxTrashDays, command),
        ]
      : [t('“{0}” was deleted.', first.title), t('“{1}” restores it within {0} days.', maxTrashDays, command)];
  const undo = t('Undo');
  // Not awaited: a notification may stay for hours.
  void notifyWithActions('info', text.join(' '), undo).then(async (pressed) => {
    if (pressed === undo) for (const { id, name } of deleted) await conversation.bringBack(name, id === shown);
  });
}

/** Deletes a run and its permissions, without a question. Returns the name for its restoration; undefined if it failed. */
export async function deleteRunWithoutBranches(
  id: string,
  { conversation, policies }: Pick<Dependencies, 'conversation' | 'policies'>,
): Promise<string | undefined> {
  const name = await conversation.delete(id);
  if (name !== undefined) policies.endForRun(id);
  return name;
}

const inBranches = (count: number) => localizedCount(count, 'branch', 'branches');

const branchesQuestion = (title: string, count: number, buttons: string[]) => ({
  text: disableCommandLinks(
    count === 1
      ? t('“{0}” has {1}. Delete that, too?', title, inBranches(count))
      : t('“{0}” has {1}. Delete those, too?', title, inBranches(count)),
  ),
  detail: t(
    'The remaining branch contains the messages before this point. A running branch is stopped before it is deleted.',
  ),
  buttons,
});

export async function showDeletedRuns(
  store: RunStore,
  conversation: PanelConversation,
  modals: Dialogs,
): Promise<void> {
  const runs = await store.deleted.list();
  if (runs.length === 0) {
    notify('info', t('There are no deleted runs in this workspace.'));
    return;
  }
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { run: DeletedRun }>();
  picker.title = t('Towpath: restore a deleted run');
  picker.matchOnDescription = true;
  picker.items = runs.map((run) => ({
    label: escapeInvisibleInLine(localizedRunTitle(run.title)),
    description: t('{0} left', localizedCount(run.daysLeft, 'day')),
    ...(run.damaged && { detail: t('Damaged: {0}', run.damagedSaid ?? run.damaged) }),
    buttons: [{ iconPath: new vscode.ThemeIcon('trash'), tooltip: t('Delete Permanently…') }],
    run,
  }));
  const chosen = await new Promise<{ run: DeletedRun; remove?: true } | undefined>((resolve) => {
    picker.onDidAccept(() => resolve(picker.selectedItems[0]));
    picker.onDidTriggerItemButton(({ item }) => resolve({ run: item.run, remove: true }));
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  picker.dispose();
  if (chosen?.remove) await removeForGood(chosen.run, store, modals);
  else if (chosen) await conversation.bringBack(chosen.run.name, true);
}

async function removeForGood({ name, title }: DeletedRun, store: RunStore, modals: Dialogs): Promise<void> {
  const yes = t('Delete Permanently');
  const text = disableCommandLinks(t('Delete “{0}” permanently? You cannot restore it.', title));
  if ((await modals.ask({ text, buttons: [yes] })) !== yes) return;
  try {
    await store.deleted.remove(name);
  } catch (error) {
    notify('error', localizedErrorText(StoreError.from(error)));
  }
}
