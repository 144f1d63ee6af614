import * as vscode from 'vscode';
import { askModel } from '../../engine/core/modelCall.ts';
import { spendingLimitKindOfError } from '../../protocol/run/money.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { createSearchExclusionPredicate } from '../../tools/policy/policy.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import { notify } from '../dialogs/notify.ts';
import type { SelectableModels } from '../models/models.ts';
import { showConnectionProblem } from '../models/testConnection.ts';
import { providerById, splitModelId } from '../providers/modelIds.ts';
import type { MoneyLimits } from '../providers/moneyLimits.ts';
import type { AuditLog } from '../records/auditLog.ts';
import { type CommitMessageDiff, collectCommitMessageDiff } from './commitChanges.ts';
import { type CommitMessageLimits, commitMessagePrompt, extractCommitMessage } from './commitText.ts';
import { type CommitRepository, chooseCommitRepository, type GitExtension, type SourceControl } from './git.ts';
import { streamIntoInputBox } from './messageBox.ts';

/** Limits in tokens: of the changes, and of an unknown context window; half of a window is reserved for the answer. */
const [maxTokens, usualWindow] = [16_000, 12_000];
const noticeMs = 20_000;

/** Writer of commit messages into the source control box. Never commits, and changes nothing but the box. */
export class CommitMessageWriter implements vscode.Disposable {
  private readonly atWork = new Map<string, AbortController>();

  constructor(
    private readonly parts: {
      models: SelectableModels;
      limits: MoneyLimits;
      policies: ApprovalPolicies;
      workspace: Workspace;
      audit: Pick<AuditLog, 'call'>;
    },
  ) {}

  dispose(): void {
    this.stop();
  }

  stop(pressed?: SourceControl): void {
    const root = pressed?.rootUri?.toString();
    for (const [one, stop] of this.atWork) if (root === undefined || root === one) stop.abort();
  }

  async write(pressed?: SourceControl): Promise<void> {
    const stop = new AbortController();
    try {
      const { isTrusted } = vscode.workspace;
      const git = vscode.extensions.getExtension<GitExtension>('vscode.git');
      const inFront = vscode.window.activeTextEditor?.document.uri;
      const { repository } = await chooseCommitRepository({ isTrusted, git, inFront }, pressed);
      const root = repository.rootUri.toString();
      if (this.atWork.has(root)) return notify('info', t('A commit message is already being generated.'));
      this.atWork.set(root, stop);
      this.updateContext();
      const options = {
        location: vscode.ProgressLocation.SourceControl,
        title: t('Towpath is generating a commit message'),
      };
      const end = () => {
        this.atWork.delete(root);
        this.updateContext();
      };
      await vscode.window.withProgress(options, () => this.fill(repository, stop.signal).finally(end));
    } catch (error) {
      if (!stop.signal.aborted) notify('warning', localizedErrorText(error as Error));
    }
  }

  private async fill(repository: CommitRepository, signal: AbortSignal): Promise<void> {
    const { models, limits: money, policies, workspace, audit } = this.parts;
    const chosen = await models.writing().catch((error: Error) => {
      void showConnectionProblem(localizedErrorText(error), undefined);
    });
    if (!chosen) return;
    const { id, model, contextWindow = usualWindow } = chosen;
    const isExcluded = createSearchExclusionPredicate(policies.current(), '');
    const tokens = Math.min(maxTokens, Math.floor(contextWindow / 2));
    const changes = await collectCommitMessageDiff({ repository, workspace, isExcluded, signal }, tokens);
    if (!changes) throw new Error(t('No changes to commit in {0}.', repository.rootUri.fsPath));
    const limits = limitsIn(repository.rootUri);
    const messages = [{ role: 'user' as const, content: changes.text }];
    const request = { model, systemPrompt: commitMessagePrompt(limits), messages };
    const fill = () =>
      streamIntoInputBox(
        repository.inputBox,
        (options) => audit.call('commit-message', chosen, () => askModel(chosen, request, options)),
        (answer) => extractCommitMessage(answer, limits),
        signal,
      );
    let filled = await fill();
    while (filled.how === 'failed' && spendingLimitKindOfError(filled) && (await money.askForDay(filled.text)))
      filled = await fill();
    if (filled.how === 'failed')
      void showConnectionProblem(
        filled.text,
        filled.code === 'LLM_AUTH_FAILED' ? providerById(splitModelId(id).provider)?.id : undefined,
      );
    else if (filled.how !== 'stopped') vscode.window.setStatusBarMessage(endOf(filled.how, changes), noticeMs);
  }

  private updateContext(): void {
    // Compared as URIs: a remote window uses other strings.
    const roots = this.atWork.size > 0 ? [...this.atWork.keys()].map((root) => vscode.Uri.parse(root)) : undefined;
    void vscode.commands.executeCommand('setContext', 'towpath.writingCommitMessage', roots);
  }
}

function limitsIn(folder: vscode.Uri): CommitMessageLimits {
  const git = vscode.workspace.getConfiguration('git', folder);
  const limit = (name: string) => Math.max(0, Number(git.get(name)) || 0);
  const line = limit('inputValidationLength') || 72;
  return { line, subject: limit('inputValidationSubjectLength') || line };
}

function endOf(result: 'written' | 'cut' | 'theirs', { excluded, cut }: CommitMessageDiff): string {
  if (result === 'theirs') return t('You edited the commit message, so it was not replaced.');
  const names =
    excluded.length > 3
      ? t('{0} and {1} more', excluded.slice(0, 3).join(', '), excluded.length - 3)
      : excluded.join(', ');
  return [
    result === 'cut' ? t('Commit message cut off by the model') : t('Commit message generated'),
    ...(names ? [t('without the text of {0}', names)] : []),
    ...(cut ? [t('long changes in part')] : []),
  ].join(', ');
}
