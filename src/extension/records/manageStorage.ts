import * as vscode from 'vscode';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { removeRestingSequenceStates, sequenceStatesFolder } from '../../runs/modelStates.ts';
import { bytesBelowFolder } from '../../runs/storage/folderSize.ts';
import type { RunStore } from '../../runs/store.ts';
import { maxTrashDays } from '../../runs/trash.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import { settings } from '../settings/settings.ts';
import { pickAndDeleteWorktree, type RemovableWorktrees } from '../worktrees/deleteWorktree.ts';
import { shortDay } from './undoHistory.ts';

interface Dependencies {
  store: RunStore;
  /** Stores of all workspaces, absolute. */
  allStores(): string[];
  worktrees: RemovableWorktrees;
  modals: Dialogs;
  /** Runs at work in this window. */
  liveIds(): readonly string[];
  /** Moves a run to the deleted runs. */
  deleteRun(id: string): Promise<unknown>;
  /** Frees working files of the recording of commands, except those of a call at work, until `maxBytes` remain. */
  boundSnapshots(request: { store: string; maxBytes: number }): Promise<unknown>;
}

interface Row extends vscode.QuickPickItem {
  /** Measures the row: its description, and its bytes if they count for the total. */
  measure(): Promise<{ description: string; bytes?: number }>;
  setting?: string;
  /** Asks what to delete, and deletes it. Resolves to false if nothing was chosen. */
  remove(): Promise<boolean>;
}

const day = 24 * 60 * 60 * 1000;

/**
 * Implements *Manage Storage…*: the size of all that Towpath stores for the workspace, with its bound and a way to delete it. The list is
 * shown at once and filled as the sizes are known. Nothing of a run at work is deleted, in this window or another.
 */
export async function manageStorage(parts: Dependencies): Promise<void> {
  for (;;) {
    const chosen = await pickRow([
      undoHistory(parts),
      outputs(parts),
      runs(parts),
      modelStates(parts),
      worktreesRow(parts),
    ]);
    if (!chosen) return;
    if (chosen.opensSetting) {
      await vscode.commands.executeCommand('towpath.openSettings', chosen.row.setting);
      return;
    }
    try {
      if (!(await chosen.row.remove())) return; // the focus has returned to its former position
    } catch (error) {
      return notify('error', localizedErrorText(error as Error));
    }
  }
}

const buttons = {
  gear: (): vscode.QuickInputButton => ({ iconPath: new vscode.ThemeIcon('gear'), tooltip: t('Change the Limit') }),
  trash: (): vscode.QuickInputButton => ({ iconPath: new vscode.ThemeIcon('trash'), tooltip: t('Delete') }),
};

async function pickRow(rows: readonly Row[]): Promise<{ row: Row; opensSetting: boolean } | undefined> {
  const picker = vscode.window.createQuickPick<Row>();
  picker.title = t('Storage');
  picker.placeholder = t('Select what to delete');
  picker.matchOnDescription = true;
  picker.busy = true;
  const gear = buttons.gear();
  const shown = rows.map((row) => ({ ...row, buttons: [...(row.setting ? [gear] : []), buttons.trash()] }));
  picker.items = shown;
  let isOpen = true;
  const measured = shown.map(async (row) => {
    const { description, bytes = 0 } = await row.measure();
    row.description = description;
    if (isOpen) {
      const active = picker.activeItems[0]?.label;
      picker.keepScrollPosition = true;
      picker.items = [...shown];
      const same = shown.filter(({ label }) => label === active);
      if (same.length > 0) picker.activeItems = same;
    }
    return bytes;
  });
  const all = Promise.all(measured).then((bytes) => {
    if (!isOpen) return;
    picker.title = t('Storage: {0}', byteSizeText(bytes.reduce((sum, one) => sum + one, 0)));
  });
  void all
    .catch((error) => notify('error', localizedErrorText(error)))
    .then(() => {
      if (isOpen) picker.busy = false;
    });
  try {
    return await new Promise((resolve) => {
      picker.onDidAccept(() => {
        const [row] = picker.selectedItems;
        if (row) resolve({ row, opensSetting: false });
      });
      picker.onDidTriggerItemButton(({ item, button }) => resolve({ row: item, opensSetting: button === gear }));
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    isOpen = false;
    picker.dispose();
  }
}

function undoHistory({ store, modals, liveIds, boundSnapshots }: Dependencies): Row {
  const size = async () => {
    const [files, snapshots] = await Promise.all([
      store.contents.list('contents'),
      bytesBelowFolder(store.snapshotsFolder),
    ]);
    return { bytes: sizeOf(files) + snapshots, oldest: Math.min(...files.map(({ mtimeMs }) => mtimeMs)) };
  };
  return {
    label: t('Undo history'),
    setting: 'towpath.undo.quota',
    async measure() {
      const { bytes, oldest } = await size();
      const texts = [byteSizeText(bytes), byteSizeText(settings()['undo.quota'])] as const;
      const description = Number.isFinite(oldest)
        ? t('{0} of {1}, back to {2}', ...texts, shortDay(oldest))
        : t('{0} of {1}', ...texts);
      return { description, bytes };
    },
    async remove() {
      const yes = await confirmed(modals, {
        text: t('Delete the undo history ({0})?', byteSizeText((await size()).bytes)),
        detail: t(
          'What runs have changed until now can no longer be undone, redone or compared. No file of the workspace changes. Runs in progress keep their history.',
        ),
      });
      if (!yes) return false;
      await store.contents.remove('contents', Number.POSITIVE_INFINITY, new Set(liveIds()));
      await boundSnapshots({ store: store.snapshotsFolder, maxBytes: 0 });
      return true;
    },
  };
}

function outputs({ store, modals, liveIds }: Dependencies): Row {
  const kind = 'outputs';
  return {
    label: t('Command output'),
    async measure() {
      const bytes = sizeOf(await store.contents.list(kind));
      return { description: byteSizeText(bytes), bytes };
    },
    async remove() {
      const files = await store.contents.list(kind);
      const ages = ageItems((before) => byteSizeText(sizeOf(files.filter(({ mtimeMs }) => mtimeMs < before))));
      const title = t('Delete command output older than…');
      const chosen = await vscode.window.showQuickPick(ages, { title });
      if (!chosen) return false;
      const yes = await confirmed(modals, {
        text: t('Delete command output ({0})?', chosen.description),
        detail: t('You and the model can no longer open it. The beginning and the end in the conversation stay.'),
      });
      if (yes) await store.contents.remove(kind, chosen.before, new Set(liveIds()));
      return yes;
    },
  };
}

function runs({ store, modals, liveIds, deleteRun }: Dependencies): Row {
  return {
    label: t('Runs'),
    async measure() {
      const { bytes, runs, deleted } = await store.usage();
      const description = t('{0} in {1}', byteSizeText(bytes), localizedCount(runs, 'run'));
      return {
        description: deleted > 0 ? `${description} · ${t('{0} deleted', deleted)}` : description,
        bytes,
      };
    },
    async remove() {
      const [listed, deleted] = [await store.list(), await store.deleted.list()];
      const olderThan = (before: number) =>
        listed.filter(({ id, updatedAt, pinned }) => updatedAt < before && !pinned && !liveIds().includes(id));
      const countOf = (count: number) => t(localizedCount(count, 'run'));
      const ages = ageItems((before) => countOf(olderThan(before).length));
      const gone = { label: t('Deleted runs, permanently'), description: countOf(deleted.length), before: undefined };
      const items = deleted.length > 0 ? [...ages, gone] : ages;
      const chosen = await vscode.window.showQuickPick(items, { title: t('Delete runs older than…') });
      if (!chosen) return false;
      if (chosen.before === undefined) {
        const text = t('Delete {0} permanently? You cannot restore them.', chosen.description);
        const yes = await confirmed(modals, { text });
        if (yes) for (const { name } of deleted) await store.deleted.remove(name);
        return yes;
      }
      const chosenRuns = olderThan(chosen.before);
      if (chosenRuns.length === 0) return false;
      const yes = await confirmed(modals, {
        text: t('Delete {0}?', localizedCount(chosenRuns.length, 'run')),
        detail: [
          t('“{1}” restores them within {0} days.', maxTrashDays, t('Deleted Runs…')),
          t('Until then they use space. Pinned runs and runs in progress stay.'),
        ].join(' '),
      });
      if (!yes) return false;
      for (const { id } of chosenRuns) if (!(await store.isElsewhere(id))) await deleteRun(id);
      return true;
    },
  };
}

function modelStates({ allStores, modals, liveIds }: Dependencies): Row {
  const size = async () => {
    const sizes = await Promise.all(allStores().map((store) => bytesBelowFolder(sequenceStatesFolder(store))));
    return sizes.reduce((sum, bytes) => sum + bytes, 0);
  };
  return {
    label: t('Local model states'),
    setting: 'towpath.local.stateQuota',
    async measure() {
      const bytes = await size();
      return {
        description: t('{0} of {1}', byteSizeText(bytes), byteSizeText(settings()['local.stateQuota'])),
        bytes,
      };
    },
    async remove() {
      const yes = await confirmed(modals, {
        text: t('Delete the states of local models ({0}, of all workspaces)?', byteSizeText(await size())),
        detail: t('A local model reads a conversation again when it continues. Nothing else is lost.'),
      });
      if (yes) for (const store of allStores()) await removeRestingSequenceStates(store, new Set(liveIds()));
      return yes;
    },
  };
}

function worktreesRow({ worktrees, modals }: Dependencies): Row {
  return {
    label: t('Worktrees'),
    measure: async () => ({ description: String((await worktrees.removable()).length) }),
    remove: () => pickAndDeleteWorktree(worktrees, modals),
  };
}

async function confirmed(modals: Dialogs, question: { text: string; detail?: string }): Promise<boolean> {
  const yes = t('Delete');
  return (await modals.ask({ ...question, buttons: [yes] })) === yes;
}

/** Choices of an age, with the amount that is older. `before`: epoch milliseconds. */
function ageItems(amountBefore: (before: number) => string) {
  const now = Date.now();
  const ages = [1, 7, 30, 90].map((days) => ({ label: t(localizedCount(days, 'day')), before: now - days * day }));
  const items = [...ages, { label: t('All'), before: Number.POSITIVE_INFINITY }];
  return items.map((item) => ({ ...item, description: amountBefore(item.before) }));
}

const sizeOf = (files: readonly { size: number }[]): number => files.reduce((sum, { size }) => sum + size, 0);
