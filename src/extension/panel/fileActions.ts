import * as vscode from 'vscode';
import type { ViewMessage } from '../../protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { undoableCallIds } from '../../runs/undoSteps.ts';
import type { DiffDocumentProvider } from '../approvals/diffs.ts';
import { stageFiles } from '../commit/stageFiles.ts';
import type { ChangedFiles } from '../runs/changedFiles.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import type { FileUndo } from '../runs/undoFiles.ts';

type Act = Extract<ViewMessage, { type: 'file-changes' | 'undo-file' | 'review-files' | 'commit-files' }>;

interface Dependencies {
  changedFiles: ChangedFiles;
  conversation: PanelConversation;
  diffs: DiffDocumentProvider;
  undo: FileUndo;
}

/** Actions on changed files of the displayed run. Other files in a message are ignored. */
export async function handleFileAction(
  message: Act,
  { changedFiles, conversation, diffs, undo }: Dependencies,
): Promise<void> {
  const { runId } = message;
  if (runId !== conversation.runId) return;
  const all = await changedFiles.rows(runId);
  if (message.type === 'undo-file') {
    const run = await conversation.run();
    const one = all.find(({ row }) => row.path === message.path);
    if (run && one) await undo.calls(runId, { toolCallIds: undoableCallIds(run, 'run'), paths: [message.path] });
    return;
  }
  const sides = all.flatMap(({ row, file, absolute }) =>
    absolute === undefined || file.kind || file.from !== undefined
      ? []
      : [{ path: row.path, before: file.before, place: row.made === 'deleted' ? undefined : absolute }],
  );
  if (message.type === 'file-changes') {
    const one = sides.find(({ path }) => path === message.path);
    if (one) return diffs.showSince(runId, one);
    return conversation.notice({
      level: 'info',
      text: t('{0} has no text to show.', escapeInvisibleInLine(message.path)),
    });
  }
  if (message.type === 'review-files') {
    if (sides.length > 1) return diffs.reviewSince(runId, sides);
    if (sides[0]) return diffs.showSince(runId, sides[0]);
    return conversation.notice({ level: 'info', text: t('No changes in this run.') });
  }
  const { roots, left } = await stageFiles(all.flatMap(({ absolute }) => absolute ?? []));
  const names = left.map(escapeInvisibleInLine).join(', ');
  if (left.length > 0)
    conversation.notice({ level: 'warning', text: t('Not staged: {0}. Git does not track it.', names) });
  if (roots.length === 0) return;
  await vscode.commands.executeCommand('workbench.view.scm');
  for (const rootUri of roots) await vscode.commands.executeCommand('towpath.writeCommitMessage', { rootUri });
}
