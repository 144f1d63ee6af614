import * as vscode from 'vscode';
import type { RunEvent } from '../../protocol/run/events.ts';
import type { Run } from '../../protocol/run/run.ts';
import { escapeInvisibleInLine, escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { isReviewRun, type RunReview, reviewOfRun } from '../../workflows/agents/reviewFindings.ts';
import { folderUri } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import { modelDisplayName } from '../providers/modelIds.ts';
import { type LocatedFinding, locateFindings } from './locateFindings.ts';

interface Dependencies {
  workspace: Workspace;
  live(runId: string): Run | undefined;
  hasRun(runId: string): Promise<boolean>;
  failed(error: unknown): void;
}

/** Id in the `when` conditions of `package.json`. */
const controllerId = 'towpath.review';

/**
 * Findings of one review as comments of the editor, derived from the answer in the run. The newest review that is shown or ends in this window
 * replaces the one before. Dismissed findings are not stored: a reload shows them again.
 */
export class ReviewComments implements vscode.Disposable {
  private controller?: vscode.CommentController;
  private readonly findings = new Map<vscode.CommentThread, LocatedFinding>();
  /** Displayed review; `index` of its message is undefined before the first findings of the run. */
  private shown?: { runId: string; index: number | undefined };

  constructor(private readonly parts: Dependencies) {}

  dispose(): void {
    this.controller?.dispose();
  }

  show(run: Run | null): void {
    if (run && !run.imported && isReviewRun(run)) void this.replace(run).catch(this.parts.failed);
  }

  onEvent(event: RunEvent): void {
    if (event.type !== 'message' || event.message.role !== 'assistant' || event.message.toolCalls?.length) return;
    const run = this.parts.live(event.runId);
    if (run && isReviewRun(run)) void this.replace(run).then(notifyNotPlaced).catch(this.parts.failed);
  }

  /** Removes the findings of a deleted run. */
  async removeDeleted(): Promise<void> {
    const { shown } = this;
    if (shown && !(await this.parts.hasRun(shown.runId)) && shown === this.shown) this.clear();
  }

  /** Returns the finding of a thread that the editor passes to a command. */
  findingOf(thread: unknown): LocatedFinding | undefined {
    return this.findings.get(thread as vscode.CommentThread);
  }

  dismiss(thread: unknown): void {
    const known = [...this.findings.keys()].find((one) => one === thread);
    if (!known) return;
    this.findings.delete(known);
    known.dispose();
  }

  dismissAll(): void {
    for (const thread of this.findings.keys()) thread.dispose();
    this.findings.clear();
  }

  private clear(): void {
    this.shown = undefined;
    this.dismissAll();
  }

  /** Returns the number of findings that have no place in the workspace, or undefined if this review is displayed already. */
  private async replace(run: Run): Promise<number | undefined> {
    const review = reviewOfRun(run);
    const { shown } = this;
    if (shown?.runId === run.id && shown.index === review?.index) return undefined;
    const mine = { runId: run.id, index: review?.index };
    this.shown = mine;
    this.dismissAll();
    if (!review) return undefined;
    const placed = await locateFindings(review.findings, this.parts.workspace, async (file) => {
      const { lineCount } = await vscode.workspace.openTextDocument(folderUri(file));
      return lineCount;
    });
    if (this.shown !== mine) return undefined;
    const author = authorOf(review);
    for (const finding of placed) this.findings.set(this.createThread(finding, author), finding);
    return review.findings.length - placed.length + review.unreadable + review.omitted;
  }

  private createThread(finding: LocatedFinding, author: string): vscode.CommentThread {
    this.controller ??= vscode.comments.createCommentController(controllerId, t('Towpath Review'));
    const { file, line = 1, endLine = line } = finding;
    const range = new vscode.Range(line - 1, 0, endLine - 1, 0);
    const body = escapeInvisibleProse(finding.text); // a string is shown as it is: text of a model is neither Markdown nor HTML
    const comment: vscode.Comment = { body, mode: vscode.CommentMode.Preview, author: { name: author } };
    const thread = this.controller.createCommentThread(folderUri(file), range, [comment]);
    thread.canReply = false;
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Collapsed;
    thread.label = finding.line === undefined ? `${labelOf(finding)} · ${t('whole file')}` : labelOf(finding);
    return thread;
  }
}

function labelOf({ severity }: Pick<LocatedFinding, 'severity'>): string {
  if (severity === 'error') return t('Error');
  return severity === 'warning' ? t('Warning') : t('Note');
}

const authorOf = ({ model }: RunReview): string =>
  model === '' ? 'Towpath' : `Towpath · ${escapeInvisibleInLine(localize(modelDisplayName(model)))}`;

function notifyNotPlaced(count = 0): void {
  if (count === 0) return;
  notify('info', t('{0} not shown in the editor. The answer contains all of them.', localizedCount(count, 'finding')));
}
