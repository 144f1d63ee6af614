import path from 'node:path';
import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/engine.ts';
import type { CallState } from '../../protocol/run.ts';
import type { RunStore } from '../../runs/store.ts';
import { resolvePath } from '../../tools/gate/paths.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';
import type { Workspace } from '../../tools/workspace.ts';
import type { Modals } from '../dialogs/modals.ts';
import type { Approvals } from '../gate/approvals.ts';
import type { Diffs } from '../gate/diffs.ts';
import type { Policies } from '../gate/policies.ts';
import type { Models } from '../models/models.ts';
import type { Asks } from '../runs/asks.ts';
import type { Branches } from '../runs/branches.ts';
import type { CommandsAtWork } from '../runs/commandsAtWork.ts';
import type { Conversation } from '../runs/conversation.ts';
import { deleteRun } from '../runs/deletedRuns.ts';
import type { Titles } from '../runs/titles.ts';
import type { Undo } from '../runs/undo.ts';
import type { ChatView, Intention } from '../view/chatView.ts';
import type { RunList } from './runList.ts';

interface Parts {
  view: ChatView;
  conversation: Conversation;
  engine: ExecutionEngine;
  store: RunStore;
  models: Models;
  approvals: Approvals;
  asks: Asks;
  branches: Branches;
  modals: Modals;
  runList: RunList;
  titles: Titles;
  policies: Policies;
  diffs: Diffs;
  undo: Undo;
  background: BackgroundCommands;
  commandsAtWork: CommandsAtWork;
  workspace: Workspace;
  log: vscode.LogOutputChannel;
}

/** What each of the panel's intentions leads to, and what surrounds the conversation in it. */
export class Panel {
  constructor(private readonly parts: Parts) {}

  receive(message: Intention): void {
    this.handle(message).catch((error) => {
      this.parts.log.error(error);
      const text = error instanceof Error ? error.message : String(error);
      this.parts.view.post({ type: 'notice', notice: { level: 'error', text } });
    });
  }

  async showState(): Promise<void> {
    const { view, conversation, models, asks, policies, workspace } = this.parts;
    await conversation.restored;
    asks.looked();
    view.post({
      type: 'state',
      state: {
        models: models.options(),
        modelId: models.currentId,
        modelChosen: models.chosen,
        ...policies.shown(conversation.id),
        commands: this.parts.background.atWork.map(({ id, runId, line, startedAt }) => ({
          id,
          runId,
          line,
          startedAt,
        })),
        workspace: {
          open: workspace.roots.length > 0,
          trusted: workspace.trusted,
          name: vscode.workspace.name ?? '',
        },
      },
    });
  }

  private async handle(message: Intention): Promise<void> {
    const { view, conversation, approvals } = this.parts;
    switch (message.type) {
      case 'ready':
        await this.parts.runList.show(undefined);
        await this.showState();
        await conversation.snapshot();
        return this.parts.branches.show();
      case 'list-runs':
        return this.parts.runList.show(message.query);
      case 'rename-run':
        return this.parts.titles.rename(message.runId);
      case 'pin-run':
        return this.parts.titles.pin(message.runId, message.pinned);
      case 'send':
        return conversation.send(message.text, message.attachments, message.chosen, message.when);
      case 'change-waiting':
        return conversation.changeWaiting(message.runId, message.queued, message);
      case 'take-back':
        await conversation.takeBack(message.runId, message.queued);
        return view.focus();
      case 'answer':
        return conversation.answer(message.chosen);
      case 'stop':
        return conversation.stop();
      case 'pause':
        return conversation.pause();
      case 'continue':
        return conversation.goOn();
      case 'new-run':
        await conversation.open(undefined);
        return view.focus();
      case 'open-run':
        return conversation.open(message.runId);
      case 'delete-run':
        return deleteRun(message.runId, this.parts);
      case 'action':
        await vscode.commands.executeCommand(
          actions[message.action],
          ...(message.action === 'set-key' ? [this.parts.models.currentProvider?.id] : []),
        );
        return elsewhere.has(message.action) ? undefined : view.focus();
      case 'show-question':
        return approvals.show(message.toolCallId);
      case 'deny-with-words':
        return approvals.denyWithWords(message.toolCallId);
      case 'undo':
        await this.parts.undo.calls({ toolCallIds: message.toolCallIds });
        return view.focus();
      case 'open-diff':
        return this.openDiff(message.toolCallId);
      case 'open-output':
        return this.openOutput(message.toolCallId);
      case 'let-go-on':
        return this.letGoOn(message.toolCallId);
      case 'stop-command':
        await this.parts.commandsAtWork.stop(message.id);
        return view.focus();
      case 'command-output':
        await this.parts.commandsAtWork.show(message.id);
        return;
      case 'open-file':
        return this.openFile(message.path, message.line);
      case 'open-link': {
        const url = vscode.Uri.parse(message.url, true);
        if (['http', 'https', 'mailto'].includes(url.scheme)) await vscode.env.openExternal(url);
        return;
      }
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        view.post({ type: 'focus' });
        return;
    }
  }

  private async openDiff(toolCallId: string): Promise<void> {
    const { runId, call } = await this.call(toolCallId);
    const change = call?.changes?.[0];
    if (runId && change) await this.parts.diffs.showKept(runId, change);
  }

  private async openOutput(toolCallId: string): Promise<void> {
    const { runId, call } = await this.call(toolCallId);
    if (call?.background && (await this.parts.commandsAtWork.show(call.background.id))) return;
    const outputId = call?.ended?.outputId ?? call?.outputId;
    if (runId && outputId) await this.parts.diffs.showOutput(runId, outputId);
  }

  private async letGoOn(toolCallId: string): Promise<void> {
    const { call } = await this.call(toolCallId);
    if (call?.command) this.parts.background.letGoOn(call.command.marker);
    await this.parts.view.focus();
  }

  private async call(toolCallId: string): Promise<{ runId?: string; call?: CallState }> {
    const { conversation, engine, store } = this.parts;
    const { runId } = conversation;
    const run = runId ? (engine.live(runId) ?? (await store.read(runId))) : undefined;
    return { runId, call: run?.calls[toolCallId] };
  }

  /**
   * Files named in a conversation open when they lie in the workspace or belong to the run; the name is a model's word, not
   * to be trusted.
   */
  private async openFile(file: string, line?: number): Promise<void> {
    const { workspace, conversation, store } = this.parts;
    const { runId } = conversation;
    const own = runId ? [{ name: '@state', path: store.stateFolder(runId), mount: 'run' as const }] : [];
    const { path: real } = await resolvePath([...workspace.roots, ...own], file, 'read');
    const uri = vscode.Uri.file(path.resolve(real));
    const at = Math.max(0, (line ?? 1) - 1);
    await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(at, 0, at, 0) });
  }
}

const actions = {
  'set-key': 'towpath.setKey',
  'pick-model': 'towpath.pickModel',
  'try-another-model': 'towpath.tryAnotherModel',
  'download-model': 'towpath.downloadModel',
  'manage-models': 'towpath.manageModels',
  'use-endpoint': 'towpath.useEndpoint',
  'use-demo': 'towpath.useDemo',
  'run-preset': 'towpath.runPreset',
  'deleted-runs': 'towpath.deletedRuns',
  'take-over': 'towpath.takeOver',
  answer: 'towpath.answer',
  'open-folder': 'workbench.action.files.openFolder',
  'manage-trust': 'workbench.trust.manage',
} as const;

/** What takes the person to another place on purpose. */
const elsewhere: ReadonlySet<string> = new Set(['open-folder', 'manage-trust', 'manage-models']);
