import * as vscode from 'vscode';
import { descendants } from '../../protocol/branches.ts';
import { counted } from '../../protocol/counted.ts';
import { visibleLine } from '../../protocol/visible.ts';
import { type DeletedRun, keptDays } from '../../runs/deleted.ts';
import { StoreError } from '../../runs/journal.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Modals } from '../dialogs/modals.ts';
import { withoutLinks } from '../dialogs/questionText.ts';
import { offer, tell } from '../dialogs/tell.ts';
import type { Policies } from '../gate/policies.ts';
import type { Conversation } from './conversation.ts';

interface Parts {
  store: RunStore;
  conversation: Conversation;
  policies: Policies;
  modals: Modals;
}

/**
 * Deletes a run, and offers to undo that. Nobody is asked before: it comes back whole for 30 days, but for what was allowed
 * in it. Only what is to become of its branches is asked, which need it for nothing.
 */
export async function deleteRun(runId: string, parts: Parts): Promise<void> {
  const { store, conversation, modals } = parts;
  const runs = await store.list();
  const run = runs.find(({ id }) => id === runId) ?? { id: runId, title: 'New run' };
  const branches = descendants(runId, runs);
  const all = `Delete All ${branches.length + 1}`;
  const chosen = branches.length > 0 ? await modals.ask(aboutBranches(run.title, branches.length, all)) : onlyIt;
  if (chosen === undefined) return;
  const shown = conversation.runId;
  const deleted: { id: string; name: string; title: string }[] = [];
  for (const { id, title } of [run, ...(chosen === all ? branches : [])]) {
    const name = await deleteOne(id, parts);
    if (name !== undefined) deleted.push({ id, name, title });
  }
  const [first, ...more] = deleted;
  if (!first) return;
  const what = `“${first.title}”${more.length > 0 ? ` and ${inBranches(more.length)} are` : ' is'} deleted.`;
  const text = `${what} For ${keptDays} days, “Deleted Runs…” brings ${more.length > 0 ? 'them' : 'it'} back.`;
  const undo = 'Undo';
  // Nobody waits for it: a notification may stay for hours.
  void offer('info', text, undo).then(async (pressed) => {
    if (pressed === undo) for (const { id, name } of deleted) await conversation.bringBack(name, id === shown);
  });
}

async function deleteOne(id: string, { conversation, policies }: Parts): Promise<string | undefined> {
  const name = await conversation.delete(id);
  if (name !== undefined) policies.endForRun(id);
  return name;
}

const onlyIt = 'Delete This One';
const inBranches = (count: number) => counted(count, 'branch', 'branches');

const aboutBranches = (title: string, count: number, all: string) => ({
  text: withoutLinks(`“${title}” has ${inBranches(count)}. Delete ${count === 1 ? 'that' : 'those'}, too?`),
  detail: 'A branch that stays has all that was said before it. What is at work is stopped before it is deleted.',
  buttons: [onlyIt, all],
});

const removeButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'Delete for Good…' };

/** Lists the deleted runs; the chosen one comes back and is shown. */
export async function showDeletedRuns(store: RunStore, conversation: Conversation, modals: Modals): Promise<void> {
  const runs = await store.deleted.list();
  if (runs.length === 0) {
    tell('info', 'There are no deleted runs in this workspace.');
    return;
  }
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { run: DeletedRun }>();
  picker.title = 'Towpath: bring a deleted run back';
  picker.matchOnDescription = true;
  picker.items = runs.map((run) => ({
    label: visibleLine(run.title),
    description: `${counted(run.daysLeft, 'day')} left`,
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
    tell('error', message);
  }
}
