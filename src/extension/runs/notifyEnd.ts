import * as vscode from 'vscode';
import type { Run } from '../../protocol/run/run.ts';
import { escapeInvisibleInProseLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import type { LiveRunStatus } from './runStates.ts';

interface Dependencies {
  panelInView(): boolean;
  read(runId: string): Promise<Run>;
  show(runId: string): Promise<void>;
}

/** Notifies once of a run that ended unseen, with its last message. The visible panel uses its list and badge instead. */
export async function notifyRunEnd(
  { runId, state, title }: LiveRunStatus,
  { panelInView, read, show }: Dependencies,
): Promise<void> {
  if (panelInView()) return;
  const { error, messages } = await read(runId);
  const message = escapeInvisibleInProseLine(
    error ? localizedErrorText(error) : (messages.findLast(({ role }) => role === 'assistant')?.content ?? ''),
  );
  const text = endOf(
    state === 'failed',
    truncateWithEllipsis(escapeInvisibleInProseLine(title), 60),
    truncateWithEllipsis(message, 200),
  );
  const chosen =
    state === 'failed'
      ? await vscode.window.showWarningMessage(disableCommandLinks(text), t('Show'))
      : await vscode.window.showInformationMessage(disableCommandLinks(text), t('Show'));
  if (chosen) await show(runId);
}

function endOf(hasFailed: boolean, title: string, message: string): string {
  if (message === '') return hasFailed ? t('“{0}” failed.', title) : t('“{0}” has ended.', title);
  return hasFailed ? t('“{0}” failed: {1}', title, message) : t('“{0}” has ended: {1}', title, message);
}
