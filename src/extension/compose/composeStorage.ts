import path from 'node:path';
import * as vscode from 'vscode';
import type { SequenceStateCacheOptions } from '../../llm/local/ipc/stateCacheOptions.ts';
import { sequenceStatesFolder } from '../../runs/modelStates.ts';
import { RunStore } from '../../runs/store.ts';
import { AuditLog } from '../records/auditLog.ts';
import { FullDiskMonitor } from '../records/freeSpace.ts';
import { RunLogChannel } from '../records/runLogPage.ts';
import { allWorkspaceStorages, sharedWorkspaceStorageFolder } from '../records/storage.ts';
import { DecisionFile } from '../settings/decisionFile.ts';
import { Secrets } from '../settings/secrets.ts';
import { settings } from '../settings/settings.ts';
import type { WindowServices } from './composeWindow.ts';

export type StorageServices = ReturnType<typeof composeStorage>;

/** Creates the storage of the workspace: runs, decisions, secrets and logs. `storage` is its folder. */
export function composeStorage(window: WindowServices) {
  const { context, log, workspace, changes } = window;
  // Without an open folder there is no workspace storage; runs are stored with the profile.
  const withoutFolder = path.join(context.globalStorageUri.fsPath, 'no-workspace');
  const given = context.storageUri ? sharedWorkspaceStorageFolder(context.storageUri.fsPath) : withoutFolder;
  const storage = vscode.Uri.file(given).fsPath;
  const secrets = new Secrets(context.secrets, context.globalState);
  const runLogs = new RunLogChannel(log, () => secrets.all());
  const memory = new DecisionFile(path.join(storage, 'approvals.json'));
  const audit = new AuditLog({
    folder: () => settings()['audit.folder'],
    secrets: () => secrets.all(),
    roots: () => workspace.roots.map((root) => root.path),
    about: { towpath: context.extension.packageJSON.version, editor: vscode.version, window: windowName() },
  });
  const storeFolder = storeIn(storage);
  const store = new RunStore(storeFolder, Date.now, windowName(), audit.keep);
  const allStores = () => allWorkspaceStorages(storage, withoutFolder).map(storeIn);
  const stateCache = (): SequenceStateCacheOptions | undefined => {
    const bytes = settings()['local.stateQuota'];
    const folders = allStores().map(sequenceStatesFolder);
    return bytes > 0 ? { folder: store.modelStates, folders, runs: store.runsFolder, bytes } : undefined;
  };
  const diskSpaceMonitor = new FullDiskMonitor(storage, changes.state.notify);
  context.subscriptions.push(diskSpaceMonitor);
  return {
    ...window,
    storage,
    storeFolder,
    memory,
    secrets,
    runLogs,
    audit,
    store,
    allStores,
    stateCache,
    diskSpaceMonitor,
  };
}

const storeIn = (storage: string) => path.join(storage, 'store');

/** Name of this window in its locks, for display in other windows. */
const windowName = () => [vscode.workspace.name, vscode.env.appName].filter(Boolean).join(' · ');
