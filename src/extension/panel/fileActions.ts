import * as vscode from 'vscode';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { ViewMessage } from '../../protocol/panel/panelMessages.ts';
import type { StoredFileChange } from '../../protocol/run/events.ts';
import { type CallState, netChanges } from '../../protocol/run/run.ts';
import type { FileChangedByRun } from '../../protocol/run/runFiles.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { undoableCallIds } from '../../runs/undoSteps.ts';
import { secretFileReason } from '../../tools/policy/secretFiles.ts';
import type { DiffDocumentProvider, SinceRun } from '../approvals/diffs.ts';
import { stageFiles } from '../commit/stageFiles.ts';
import { shortListOfPaths } from '../dialogs/undoQuestion.ts';
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
  const meant = message.type === 'file-changes' ? all.filter(({ row }) => row.path === message.path) : all;
  const sides: SinceRun[] = [];
  const left: NotCompared = { noText: [], secret: [] };
  if (message.type !== 'commit-files')
    for (const { row, file, absolute } of meant) {
      if (absolute === undefined || file.from !== undefined) continue;
      const { before, kind, afterKind } = file;
      const isText = (!kind || (await isTextBefore(diffs, runId, file))) && (!afterKind || row.made === 'deleted');
      if (!isText) left.noText.push(row.path);
      else if (message.type === 'review-files' && all.length > 1 && isSecret(row.path)) left.secret.push(row.path);
      else sides.push({ path: row.path, before, place: row.made === 'deleted' ? undefined : absolute });
    }
  if (message.type === 'file-changes') {
    if (sides[0]) return diffs.showSince(runId, sides[0]);
    return conversation.notice({
      level: 'info',
      text: t('{0} has no text to show.', escapeInvisibleInLine(message.path)),
    });
  }
  if (message.type === 'review-files') {
    showNotCompared(left, conversation);
    if (sides.length > 1) return diffs.reviewSince(runId, sides);
    if (sides[0]) return diffs.showSince(runId, sides[0]);
    if (left.noText.length + left.secret.length > 0) return;
    return conversation.notice({ level: 'info', text: t('No changes in this run.') });
  }
  const { roots, left: untracked } = await stageFiles(all.flatMap(({ absolute }) => absolute ?? []));
  const names = untracked.map(escapeInvisibleInLine).join(', ');
  if (untracked.length > 0)
    conversation.notice({ level: 'warning', text: t('Not staged: {0}. Git does not track it.', names) });
  if (roots.length === 0) return;
  await vscode.commands.executeCommand('workbench.view.scm');
  for (const rootUri of roots) await vscode.commands.executeCommand('towpath.writeCommitMessage', { rootUri });
}

/** Files that a review leaves out, by reason. */
interface NotCompared {
  noText: string[];
  secret: string[];
}

const isSecret = (path: string): boolean => secretFileReason(path.split('/')) !== undefined;

const isTextBefore = async (
  diffs: DiffDocumentProvider,
  runId: string,
  { kind, before }: Pick<FileChangedByRun, 'kind' | 'before'>,
): Promise<boolean> => kind === 'file' && before !== null && diffs.isText(runId, before);

/** Shows all texts that a call has changed. Secrets need a click on their own row. */
export async function showChangesOfCall(
  { runId }: ToolCallKey,
  call: CallState,
  { diffs, conversation }: Pick<Dependencies, 'diffs' | 'conversation'>,
): Promise<void> {
  const changes = netChanges(call);
  const [first] = changes;
  if (call.snapshot === undefined) return first && diffs.showStored(runId, first);
  const left: NotCompared = { noText: [], secret: [] };
  const shown: StoredFileChange[] = [];
  for (const change of changes) {
    const { path, kind, before, after, afterKind } = change;
    if (kind === 'folder' || afterKind === 'folder') continue;
    const isText =
      (!kind || (await isTextBefore(diffs, runId, change))) &&
      !afterKind &&
      (after === null || (await diffs.isText(runId, after)));
    if (!isText) left.noText.push(path);
    else if (isSecret(path)) left.secret.push(path);
    else shown.push({ path, before, after });
  }
  showNotCompared(left, conversation);
  if (shown.length > 1) await diffs.reviewStored(runId, shown);
  else if (shown[0]) await diffs.showStored(runId, shown[0]);
}

function showNotCompared({ noText, secret }: NotCompared, conversation: PanelConversation): void {
  const lines = [
    ...(noText.length > 0 ? [t('Not shown, because not text or too large: {0}.', shortListOfPaths(noText))] : []),
    ...(secret.length > 0
      ? [t('Not shown, because of possible secrets: {0}. Open it from the list of files.', shortListOfPaths(secret))]
      : []),
  ];
  if (lines.length > 0) conversation.notice({ level: 'info', text: lines.join(' ') });
}
