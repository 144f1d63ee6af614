import * as vscode from 'vscode';
import type { TowpathCommandId } from '../../protocol/panel/intents.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { currentLocale, t } from '../../protocol/text/l10n.ts';
import type { UndoHistoryNotice } from '../../runs/contentQuota.ts';
import type { RunStore } from '../../runs/store.ts';
import { notifyWithActions } from '../dialogs/notify.ts';
import { settings } from '../settings/settings.ts';

interface Dependencies {
  store: RunStore;
  /** Runs at work in this window. */
  liveIds(): readonly string[];
  /** Frees working files of the recording of commands, except those of a call at work, until `maxBytes` remain. */
  boundSnapshots(request: { store: string; maxBytes: number }): Promise<unknown>;
}

/** Keeps the undo history within its quota after each run, and informs the user before changes can no longer be undone. */
export class UndoHistoryLimit {
  private readonly startedAt = new Map<string, number>();

  constructor(private readonly dependencies: Dependencies) {}

  async onEvent(event: RunEvent): Promise<void> {
    if (event.type !== 'phase') return;
    const { runId, phase, at } = event;
    if (phase === 'Running') {
      this.startedAt.set(runId, at);
      return;
    }
    const since = this.startedAt.get(runId) ?? at;
    this.startedAt.delete(runId);
    const { store, liveIds, boundSnapshots } = this.dependencies;
    const { 'undo.quota': quota, 'undo.commandBudget': maxBytes } = settings();
    const notice = await store.contents.trim(quota, new Set(liveIds()), {
      since,
      reclaim: () => boundSnapshots({ store: store.snapshotsFolder, maxBytes }),
    });
    if (notice) void inform(notice, quota); // a notification may stay for hours
  }
}

async function inform(notice: UndoHistoryNotice, quota: number): Promise<void> {
  const text =
    'before' in notice
      ? t(
          'Undo history is full. Changes older than {0} can no longer be undone after the next run.',
          shortDay(notice.before),
        )
      : t(
          'Undo history is full: {0} of {1}. Changes of the last 7 days stay undoable.',
          byteSizeText(notice.bytes),
          byteSizeText(quota),
        );
  const manage = t('Manage Storage…');
  const command: TowpathCommandId = 'towpath.manageStorage';
  if ((await notifyWithActions('warning', text, manage)) === manage) await vscode.commands.executeCommand(command);
}

/** Text of a day of this year, as `Nov 20`. */
export const shortDay = (at: number): string =>
  new Date(at).toLocaleDateString(currentLocale(), { day: 'numeric', month: 'short' });
