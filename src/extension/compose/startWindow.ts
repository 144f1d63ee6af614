import * as vscode from 'vscode';
import { offerFormerSettingsMove } from '../providers/formerSettingsNotice.ts';
import { mergeWindowStorages } from '../records/storage.ts';
import { UndoHistoryLimit } from '../records/undoHistory.ts';
import type { PanelServices } from './composePanel.ts';

/** Milliseconds of delay before obsolete data is removed. */
const sweepAfterMs = 60_000;

/** Starts the work of a composed window: follows the runs of other windows, removes obsolete data, and then receives messages of the panel. */
export function startWindowServices(services: PanelServices): void {
  const { context, log, changes, view, storage, store, localEngine, policies, panel, jobWorkers } = services;
  const { engine, events, shelf, conversation, approvals, asks, states, worktrees, leftRunning } = services;
  const sweep = async () => {
    await store.sweep();
    await shelf.sweep(() => store.workflowIds()).catch((error) => log.error(error));
    await localEngine.sweep();
    await worktrees.sweep().catch((error) => log.error(error));
  };
  const sweeping = setTimeout(sweep, sweepAfterMs);
  const undoHistory = new UndoHistoryLimit({
    store,
    liveIds: () => engine.liveIds,
    boundSnapshots: (request) => jobWorkers.snapshots.run('boundSnapshots', request),
  });
  events.add((event) => undoHistory.onEvent(event));
  policies.look();
  // At most one notice about an update: this one waits for the next start.
  if (!policies.hasShownUpdateNotice) offerFormerSettingsMove(context.globalState).catch((error) => log.error(error));

  const lookAround = async () => {
    await states.look();
    await conversation.catchUp();
  };
  const watching = store.marks.watch(() => void lookAround());
  context.subscriptions.push(
    { dispose: () => clearTimeout(sweeping) },
    { dispose: () => void watching.then((watch) => watch.dispose()) },
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (!focused) return;
      worktrees.recordUse();
      void lookAround();
    }),
  );
  void states.look();
  if (context.storageUri)
    mergeWindowStorages(storage)
      .then((came) => came > 0 && changes.runList.notify())
      .catch((error) => log.error(error));
  leftRunning.find().catch((error) => log.error(error));
  worktrees.recordUse();
  worktrees.arrive().catch((error) => log.error(error));
  view.listen({
    receive: (message) => panel.receive(message),
    turned() {
      approvals.panelTurned();
      asks.panelTurned();
      void policies.checkSandbox();
    },
  });
}
