import * as vscode from 'vscode';
import { visibleLine } from '../../protocol/visible.ts';
import { type DeletedRun, keptDays } from '../../runs/deleted.ts';
import { StoreError } from '../../runs/journal.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Modals } from '../dialogs/modals.ts';
import { withoutLinks } from '../dialogs/questionText.ts';
import type { Policies } from '../gate/policies.ts';
import type { Conversation } from './conversation.ts';

interface Parts {
  store: RunStore;
  conversation: Conversation;
  policies: Policies;
}

/**
 * Deletes a run, and offers to undo that. Nobody is asked before: it comes back whole for 30 days, but for what was allowed
 * in it.
 */
export async function deleteRun(runId: string, { store, conversation, policies }: Parts): Promise<void> {
  const run = (await store.list()).find(({ id }) => id === runId);
  const shown = conversation.runId === runId;
  const name = await conversation.delete(runId);
  if (!run || name === undefined) return;
  policies.endForRun(runId);
  const undo = 'Undo';
  const text = `“${run.title}” is deleted. For ${keptDays} days, “Deleted Runs…” brings it back.`;
  // Nobody waits for it: a notification may stay for hours.
  void vscode.window.showInformationMessage(withoutLinks(text), undo).then(async (chosen) => {
    if (chosen === undo) await conversation.bringBack(name, shown);
  });
}

const removeButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'Delete for Good…' };

/** Lists the deleted runs; the chosen one comes back and is shown. */
export async function showDeletedRuns(store: RunStore, conversation: Conversation, modals: Modals): Promise<void> {
  const runs = await store.deleted.list();
  if (runs.length === 0) {
    void vscode.window.showInformationMessage('There are no deleted runs in this workspace.');
    return;
  }
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { run: DeletedRun }>();
  picker.title = 'Towpath: bring a deleted run back';
  picker.matchOnDescription = true;
  picker.items = runs.map((run) => ({
    label: visibleLine(run.title),
    description: run.daysLeft === 1 ? '1 day left' : `${run.daysLeft} days left`,
    ...(run.damaged && { detail: `Damaged: ${run.damaged}` }),
    buttons: [removeButton],
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

async function removeForGood({ name, title }: DeletedRun, store: RunStore, modals: Modals): Promise<void> {
  const yes = 'Delete for Good';
  const text = withoutLinks(`Delete “${title}” for good? Nothing brings it back then.`);
  if ((await modals.ask({ text, buttons: [yes] })) !== yes) return;
  try {
    await store.deleted.remove(name);
  } catch (error) {
    const { message } = StoreError.from(error);
    void vscode.window.showErrorMessage(withoutLinks(message));
  }
}
