// @invariant panel-decides-nothing: The panel sends intents and folds events with `applyEvent` of the host; no message of the panel can
// approve a call.
import * as vscode from 'vscode';
import { tokensFreedByCompaction } from '../../engine/context/compaction.ts';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import { agentName } from '../../protocol/content/agents.ts';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { Mention } from '../../protocol/content/mention.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import { splitSlashCommand } from '../../protocol/content/slash.ts';
import { intentOfPanelAction, type SlashAction } from '../../protocol/panel/intents.ts';
import type { PromptSuggestion, ViewMessage } from '../../protocol/panel/panelMessages.ts';
import type { SpendingLimitKind } from '../../protocol/run/events.ts';
import type { CallState } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { localize, messageOf, UserFacingError } from '../../protocol/text/localized.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { formatFileChange, maxShownDiffLines } from '../../tools/edit/diff.ts';
import { resolvePathForReading } from '../../tools/sandbox/resolveReadPath.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';
import type { AllowRulesAddedInWindow } from '../approvals/addedRules.ts';
import type { ApprovalDialogQueue } from '../approvals/approvals.ts';
import { allowBlockedHosts } from '../approvals/blockedHosts.ts';
import type { DiffDocumentProvider } from '../approvals/diffs.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import type { BackgroundCommandList } from '../background/backgroundCommands.ts';
import type { PortForwarding } from '../background/openPort.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { folderUri } from '../dialogs/folders.ts';
import { onNoticeButtonPressed } from '../dialogs/notify.ts';
import type { SelectableModels } from '../models/models.ts';
import type { MoneyLimits } from '../providers/moneyLimits.ts';
import type { FullDiskMonitor } from '../records/freeSpace.ts';
import type { ChangedFiles } from '../runs/changedFiles.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import { deleteRun } from '../runs/deletedRuns.ts';
import { startPlanExecution } from '../runs/executePlan.ts';
import type { ConversationBranches } from '../runs/forkRun.ts';
import type { InterruptedApprovals } from '../runs/interruptedApprovals.ts';
import type { AgentPicker } from '../runs/pickAgent.ts';
import type { RunTitles } from '../runs/titles.ts';
import type { FileUndo } from '../runs/undoFiles.ts';
import type { UserQuestionList } from '../runs/userQuestions.ts';
import type { Worktrees } from '../runs/worktrees.ts';
import type { ChatView, PanelRequest } from '../view/chatView.ts';
import { applyCodeBlock } from './codeActions.ts';
import { answerCommand, commandsForPanel } from './commandInput.ts';
import type { DetailLevelSetting } from './detailLevel.ts';
import { handleFileAction, showChangesOfCall } from './fileActions.ts';
import type { WalkthroughProgress } from './firstSteps.ts';
import type { RunList } from './runList.ts';
import { sendToTask } from './taskMessages.ts';
import { isUserAction } from './userActions.ts';

interface Slashes {
  offer(query: string, asked: number): Promise<void>;
  act(act: SlashAction): Promise<void>;
  runTyped(message: Extract<ViewMessage, { type: 'send' }>): Promise<boolean | undefined>;
}

type Naming = Pick<Extract<ViewMessage, { type: 'send' }>, 'mentions' | 'typed'>;

interface Mentions {
  offer(query: string, asked: number): Promise<void>;
  measure(mention: Mention, runId: string): Promise<void>;
  resolve(word: string): Promise<void>;
  namedIn(message: Naming): Promise<Mention[]>;
  read(mentions: readonly Mention[], runId: string): Promise<Attachment[]>;
  namedBy(locations: readonly string[]): Promise<Mention[]>;
}

interface Dependencies {
  view: ChatView;
  conversation: PanelConversation;
  agents: AgentPicker;
  engine: ExecutionEngine;
  store: RunStore;
  models: SelectableModels;
  limits: MoneyLimits;
  approvals: ApprovalDialogQueue;
  interrupted: InterruptedApprovals;
  asks: UserQuestionList;
  branches: ConversationBranches;
  changedFiles: ChangedFiles;
  modals: Dialogs;
  runList: RunList;
  titles: RunTitles;
  worktrees: Worktrees;
  policies: ApprovalPolicies;
  addedRules: AllowRulesAddedInWindow;
  details: DetailLevelSetting;
  diskSpaceMonitor: FullDiskMonitor;
  diffs: DiffDocumentProvider;
  undo: FileUndo;
  background: BackgroundCommands;
  commandsAtWork: BackgroundCommandList;
  ports: PortForwarding;
  mentions(): Promise<Mentions>;
  slashes(): Promise<Slashes>;
  offers(): Promise<PromptSuggestion[]>;
  firstSteps: WalkthroughProgress;
  selected: { show(): void; onSent(): void; turn(goes: boolean): Promise<void> };
  workspace: Workspace;
  log: vscode.LogOutputChannel;
}

/** Id of the walkthrough, prefixed by the extension id. */
const walkthrough = 'towpath.towpath#begin';

const written: ReadonlySet<PanelRequest['type']> = new Set([
  ...(['send', 'change-waiting', 'do-plan', 'edit-said', 'say-to-task'] as const),
]);

/** Handler of the panel's messages, and of the panel state around the conversation. */
export class PanelMessageHandler {
  private actions = 0;

  constructor(private readonly parts: Dependencies) {}

  receive(message: PanelRequest): void {
    const giveBack = () => {
      if (written.has(message.type) && 'text' in message && message.text)
        this.parts.view.post({ type: 'unheard', text: message.text });
    };
    this.handle(message).then(
      (isRecorded) => isRecorded === false && giveBack(),
      (error) => {
        this.parts.log.error(error);
        giveBack();
        this.parts.view.post({ type: 'notice', notice: { level: 'error', text: localize(messageOf(error)) } });
      },
    );
  }

  async showState(): Promise<void> {
    const { view, conversation, agents, models, limits, asks, policies, workspace } = this.parts;
    await conversation.restored;
    asks.looked();
    if (models.chosen) this.parts.firstSteps.did('model');
    view.post({
      type: 'state',
      state: {
        models: models.options(),
        modelId: models.shownId,
        modelChosen: models.chosen,
        agent: agentName(agents.next),
        ...policies.shown(conversation.id),
        rulesAdded: this.parts.addedRules.of(conversation.id),
        ...(models.window && { window: models.window }),
        limits: { ...limitOf('run', limits), ...limitOf('day', limits) },
        ...commandsForPanel(this.parts.background),
        details: this.parts.details.level,
        ...(this.parts.diskSpaceMonitor.isFull && { diskFull: true }),
        workspace: {
          open: workspace.roots.length > 0 || workspace.virtual !== undefined,
          ...(workspace.roots.length > 1 && { several: true as const }),
          ...(workspace.virtual && { virtual: true as const }),
          trusted: workspace.trusted,
          name: vscode.workspace.name ?? '',
        },
      },
    });
  }

  async showOffers(): Promise<void> {
    const { conversation, view, models } = this.parts;
    await conversation.restored;
    if (conversation.runId !== undefined || !view.inView || !models.chosen) return;
    view.post({ type: 'offers', offers: await this.parts.offers() });
  }

  /** Returns `false` if the input had no recipient and returns to the message box. */
  private async handle(request: PanelRequest): Promise<boolean | void> {
    const { view, conversation, approvals } = this.parts;
    if (isUserAction(request)) this.actions += 1;
    const own = this.actions;
    /** A list opened by a later action keeps the focus. */
    const focus = () => view.focus({ wanted: () => this.actions === own });
    switch (request.type) {
      case 'ready':
        await this.parts.runList.show(undefined);
        await this.showState();
        void this.parts.models.lookUpWindow();
        this.parts.selected.show();
        await conversation.snapshot();
        void this.showOffers();
        return this.parts.branches.show();
      case 'list-runs':
        return this.parts.runList.show(request.query);
      case 'rename-run':
        return this.parts.titles.rename(request.runId);
      case 'pin-run':
        return this.parts.titles.pin(request.runId, request.pinned);
      case 'selection-goes':
        return this.parts.selected.turn(request.goes);
      case 'dropped': {
        const mentions = await (await this.parts.mentions()).namedBy(request.places);
        if (mentions.length > 0) return view.post({ type: 'mention', mentions });
        if (request.pasted !== undefined) return view.post({ type: 'pasted', text: request.pasted });
        throw new UserFacingError(message('The dropped item is outside the open folders and was not attached.'));
      }
      case 'send': {
        this.parts.selected.onSent();
        const isMessage = request.chosen || !splitSlashCommand(request.text);
        const isDone = isMessage ? undefined : await (await this.parts.slashes()).runTyped(request);
        if (isDone !== undefined) return isDone;
        return conversation.send(
          request.text,
          request.attachments,
          request.chosen,
          request.when,
          this.read(request, conversation.id),
        );
      }
      case 'complete': {
        const { after, query, asked } = request;
        return (await (after === '/' ? this.parts.slashes() : this.parts.mentions())).offer(query, asked);
      }
      case 'slash':
        return (await this.parts.slashes()).act(request.act);
      case 'resolve-mention':
        return (await this.parts.mentions()).resolve(request.word);
      case 'measure-mention':
        return (await this.parts.mentions()).measure(request.mention, conversation.id);
      case 'change-waiting': {
        const named = await this.read(request, request.runId);
        return conversation.changeWaiting(request.runId, request.queued, request, named);
      }
      case 'take-back':
        await conversation.takeBack(request.runId, request.queued);
        return focus();
      case 'answer':
        return conversation.answer(request.chosen);
      case 'stop':
        return conversation.stop();
      case 'measure-room':
        return this.measureCompaction();
      case 'pause':
        return conversation.pause();
      case 'continue':
        return conversation.goOn();
      case 'new-run': {
        const summary = request.summary && (await conversation.summary());
        await conversation.open(undefined);
        if (summary) view.post({ type: 'draft', text: summary });
        return focus();
      }
      case 'do-plan': {
        const { apart, text: instruction } = request;
        const named = this.read(request, conversation.id);
        return startPlanExecution({ apart, instruction, named }, this.parts);
      }
      case 'retry-now':
        return conversation.retryNow();
      case 'open-run':
        return conversation.open(request.runId);
      case 'open-worktree':
        return this.parts.worktrees.open(request.folder);
      case 'delete-run':
        return deleteRun(request.runId, this.parts);
      case 'notice-pressed':
        return onNoticeButtonPressed(request.id, request.button);
      case 'action': {
        const { id, leavesPanel } = intentOfPanelAction(request.action);
        await vscode.commands.executeCommand(id, ...this.givenTo(request));
        return leavesPanel ? undefined : focus();
      }
      case 'stop-task':
        await this.parts.engine.stopTask(request.runId, request.task);
        return focus();
      case 'say-to-task':
        return sendToTask(request, this.parts);
      case 'show-question':
        if (approvals.has(request.runId, request.toolCallId)) return approvals.show(request);
        await this.parts.interrupted.answer(request);
        return;
      case 'deny':
        return approvals.has(request.runId, request.toolCallId)
          ? approvals.deny(request)
          : this.parts.interrupted.deny(request);
      case 'active':
        return this.parts.interrupted.active(request.runId);
      case 'edit-said':
        return this.parts.branches.sendInstead(
          request.runId,
          request.at,
          request.text,
          request.restore,
          await this.read(request, request.runId),
        );
      case 'fork':
        return this.parts.branches.forkBefore(request.runId, request.at);
      case 'restore-files':
        await this.parts.branches.restoreTo(request.runId, request.at);
        return focus();
      case 'retry-reply':
        return this.parts.branches.answerAgain(
          request.runId,
          request.at,
          request.other && pickModel(this.parts.models),
        );
      case 'open-text':
        return this.parts.diffs.showMessage(request.runId, request.at);
      case 'undo':
        await this.parts.undo.calls(request.runId, request);
        return focus();
      case 'redo':
        await this.parts.undo.redo(request);
        return focus();
      case 'remove-rule':
        await this.parts.addedRules.remove(request);
        return focus();
      case 'allow-blocked': {
        const { blocked = [] } = (await this.call(request)) ?? {};
        if (blocked.length > 0) await allowBlockedHosts(request, blocked, this.parts.addedRules);
        return focus();
      }
      case 'review-file':
        return this.parts.changedFiles.review(request);
      case 'undo-file':
      case 'file-changes':
      case 'review-files':
      case 'commit-files':
        await handleFileAction(request, this.parts);
        return request.type === 'undo-file' ? focus() : undefined;
      case 'open-diff':
        return this.openDiff(request);
      case 'show-change':
        return this.showChange(request);
      case 'open-output':
        return this.openOutput(request);
      case 'let-go-on':
        return this.letGoOn(request);
      case 'command-input':
        return answerCommand(request, this.parts.background); // the next prompt takes the focus, not the message box
      case 'stop-command':
        await this.parts.commandsAtWork.stop(request.id);
        return focus();
      case 'open-port':
        return this.parts.ports.open(request.id);
      case 'command-output':
        return this.parts.commandsAtWork.show(request.id);
      case 'open-file':
        return this.openFile(request.path, request.line);
      case 'open-link': {
        const url = vscode.Uri.parse(request.url, true);
        if (['http', 'https', 'mailto'].includes(url.scheme)) await vscode.env.openExternal(url);
        return;
      }
      case 'use-code':
        return applyCodeBlock(request, conversation);
      case 'copy':
        await vscode.env.clipboard.writeText(request.text);
        return view.post({ type: 'focus' });
    }
  }

  /** Returns undefined for a message without mentions. */
  private read(message: Naming, runId: string): Promise<Attachment[]> | undefined {
    if (!message.mentions && !message.typed) return undefined;
    return this.parts.mentions().then(async (part) => part.read(await part.namedIn(message), runId));
  }

  private givenTo({ action, setting, call }: Extract<ViewMessage, { type: 'action' }>): unknown[] {
    if (action === 'set-key') return [this.parts.models.currentProvider?.id];
    if (action === 'answer') return [call];
    if (action === 'first-steps') return [walkthrough];
    if (action === 'open-settings') return [setting];
    return action === 'set-window' ? ['towpath.providers'] : [];
  }

  private async measureCompaction(): Promise<void> {
    const run = await this.parts.conversation.run();
    if (!run) return;
    const { instructions = 0, tools = 0, size } = run.filling ?? {};
    this.parts.view.post({
      type: 'room',
      runId: run.id,
      frees: tokensFreedByCompaction(run, instructions + tools, size),
    });
  }

  private async openDiff(key: ToolCallKey): Promise<void> {
    const call = await this.call(key);
    if (call) await showChangesOfCall(key, call, this.parts);
  }

  private async showChange(key: ToolCallKey): Promise<void> {
    const call = await this.call(key);
    const change = call?.changes?.[0];
    if (!change || change.kind || call.snapshot !== undefined) return; // recorded changes may be secret
    const { runId, toolCallId } = key;
    const textOf = (id: string | null) => (id === null ? null : this.parts.store.contents.read(runId, id));
    const [before, after] = [await textOf(change.before), await textOf(change.after)];
    const diff = formatFileChange(change.path, before, after, maxShownDiffLines);
    this.parts.view.post({ type: 'change', runId, toolCallId, diff });
  }

  private async openOutput(key: ToolCallKey): Promise<void> {
    const call = await this.call(key);
    if (call?.background && (await this.parts.commandsAtWork.show(call.background.id))) return;
    const outputId = call?.ended?.outputId ?? call?.outputId;
    if (outputId) await this.parts.diffs.showOutput(key.runId, outputId);
  }

  private async letGoOn(key: ToolCallKey): Promise<void> {
    const call = await this.call(key);
    if (call?.command) this.parts.background.letGoOn(call.command.marker);
    await this.parts.view.focus();
  }

  private async call({ runId, toolCallId }: ToolCallKey): Promise<CallState | undefined> {
    const { engine, store } = this.parts;
    return (engine.live(runId) ?? (await store.read(runId))).calls[toolCallId];
  }

  /**
   * Opens a file named in the conversation if inside of the workspace or of the run's folder; shows folders in the Explorer. The name comes
   * from a model and is untrusted.
   */
  private async openFile(file: string, line?: number): Promise<void> {
    const { workspace, conversation, store } = this.parts;
    const { runId } = conversation;
    const own = runId ? [{ name: '@state', path: store.stateFolder(runId), mount: 'run' as const }] : [];
    const folders = { roots: [...workspace.roots, ...own], virtual: workspace.virtual };
    const resolved = await resolvePathForReading(folders, file, 'search');
    if (resolved.kind === 'folder') {
      await vscode.commands.executeCommand('revealInExplorer', folderUri(resolved.path));
      return;
    }
    const { path: real } = await resolvePathForReading(folders, file, 'read');
    const uri = folderUri(real);
    const at = Math.max(0, (line ?? 1) - 1);
    await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(at, 0, at, 0) });
  }
}

function limitOf(what: SpendingLimitKind, limits: MoneyLimits): { run?: number; day?: number } {
  const limit = limits.of(what);
  return limit > 0 ? { [what]: limit } : {};
}

const pickModel = (models: SelectableModels) => () =>
  models.pickedIn(async () => vscode.commands.executeCommand('towpath.pickModel', { forBranch: true }));
