import path from 'node:path';
import * as vscode from 'vscode';
import { pendingApprovalIds } from '../../protocol/run/pending.ts';
import { newRun, runTitle } from '../../protocol/run/run.ts';
import { BackgroundCommandList } from '../background/backgroundCommands.ts';
import { PortForwarding } from '../background/openPort.ts';
import { OrphanedCommandsNotice } from '../background/orphanedCommandsNotice.ts';
import { HunkDecorations } from '../hunks/hunkDecorations.ts';
import { RunHunks } from '../hunks/runHunks.ts';
import { RunList } from '../panel/runList.ts';
import { ReviewComments } from '../review/reviewComments.ts';
import { ChangedFiles } from '../runs/changedFiles.ts';
import { ConversationBranches } from '../runs/forkRun.ts';
import { InterruptedApprovals } from '../runs/interruptedApprovals.ts';
import { notifyRunEnd } from '../runs/notifyEnd.ts';
import { RunStates } from '../runs/runStates.ts';
import { RunTitles } from '../runs/titles.ts';
import { FileUndo } from '../runs/undoFiles.ts';
import { UserQuestionList } from '../runs/userQuestions.ts';
import { Worktrees } from '../runs/worktrees.ts';
import { DecisionFile } from '../settings/decisionFile.ts';
import type { EngineServices } from './composeEngine.ts';

export type RunServices = ReturnType<typeof composeRunServices>;

/** Creates the lists and states of the window's runs, and the actions on a run. */
export function composeRunServices(services: EngineServices) {
  const { context, log, logError, changes, workspace, view, presence, modals } = services;
  const { storage, storeFolder, store, runLogs, audit, diskSpaceMonitor, policies } = services;
  const { engine, events, titleOf, conversation, approvals, background, backgroundRecordings, left, models } = services;
  const liveIds = () => engine.liveIds;
  const asks = new UserQuestionList({
    shown: () => conversation.runId,
    panelInView: () => presence.panelInView,
    titleOf,
    open: (runId) => conversation.open(runId),
    focus: () => view.focus(),
    notice: (notice) => conversation.notice(notice),
    changed: changes.status.notify,
  });
  const states = new RunStates({
    store,
    liveIds,
    waits: (runId) =>
      approvals.has(runId)
        ? 'approval'
        : asks.has(runId) || background.prompts?.waiting.some((one) => one.runId === runId)
          ? 'question'
          : undefined,
    awaitsApproval: (runId) => pendingApprovalIds(engine.live(runId) ?? newRun(runId)).length > 0,
    titleOf: (runId) => {
      const run = engine.live(runId);
      return run && runTitle(run);
    },
    inView: () => (presence.panelInView ? conversation.runId : undefined),
    ended: (run) =>
      notifyRunEnd(run, {
        panelInView: () => presence.panelInView,
        read: (runId) => store.read(runId),
        async show(runId) {
          await vscode.commands.executeCommand('towpath.chat.focus');
          await conversation.open(runId);
        },
      }).catch((error) => log.error(error)),
    changed: () => {
      changes.status.notify();
      changes.runList.notify();
    },
  });
  const interrupted = new InterruptedApprovals({
    engine,
    store,
    conversation,
    approvals,
    presence,
    workspace,
    states,
    changed: changes.status.notify,
  });
  const worktrees = new Worktrees({
    conversation,
    memory: new DecisionFile(path.join(context.globalStorageUri.fsPath, 'worktrees.json')),
    store: storeFolder,
  });
  const runList = new RunList({ store, states, liveIds, elsewhere: () => worktrees.elsewhere(), view });
  const titles = new RunTitles({ engine, store, conversation, states, changed: changes.runList.notify });
  const leftRunning = new OrphanedCommandsNotice(store, left, conversation);
  const ports = new PortForwarding(background, modals);
  const commandsAtWork = new BackgroundCommandList(background, conversation, ports);
  const undo = new FileUndo(engine, store, workspace, conversation, modals, backgroundRecordings);
  const branches = new ConversationBranches({ engine, store, conversation, models, undo, policies, view });
  const changedFiles = new ChangedFiles({
    shown: () => conversation.runId,
    store,
    workspace,
    reviewed: new DecisionFile(path.join(storage, 'reviewed.json')),
    post: (message) => view.post(message),
    failed: logError,
  });
  const hunks = new RunHunks({ changedFiles, conversation, store, failed: logError });
  const reviewComments = new ReviewComments({
    workspace,
    live: (runId) => engine.live(runId),
    hasRun: (runId) => store.has(runId),
    failed: logError,
  });

  conversation.onShow = (run, isElsewhere) => {
    interrupted.show(run, isElsewhere);
    changedFiles.show(run);
    approvals.runShown();
    reviewComments.show(run);
  };
  events.add(
    (event) => conversation.onEvent(event),
    (event) => asks.onEvent(event),
    (event) => interrupted.onEvent(event),
    (event) => runLogs.onEvent(event),
    (event) => audit.onEvent(event),
    (event) => states.onEvent(event),
    (event) => diskSpaceMonitor.onEvent(event),
    (event) => changedFiles.onEvent(event),
    (event) => reviewComments.onEvent(event),
  );
  changes.status.add(() => states.update()); // first: the status bar shows these states
  changes.runList.add(() => runList.refresh());
  changes.runs.add(
    () => branches.show(),
    () => states.look(),
    () => reviewComments.removeDeleted(),
  );
  context.subscriptions.push(commandsAtWork, ports, changedFiles, reviewComments);
  context.subscriptions.push(hunks, new HunkDecorations(hunks, logError));
  return {
    ...services,
    asks,
    states,
    interrupted,
    worktrees,
    runList,
    titles,
    leftRunning,
    commandsAtWork,
    ports,
    undo,
    branches,
    changedFiles,
    hunks,
    reviewComments,
  };
}
