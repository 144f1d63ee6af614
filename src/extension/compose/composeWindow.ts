import path from 'node:path';
import * as vscode from 'vscode';
import { setNetworkProbe } from '../../protocol/text/networkReason.ts';
import { hasExternalInterface } from '../../tools/network/networkInterfaces.ts';
import { Dialogs } from '../dialogs/dialogs.ts';
import { setNotificationTarget } from '../dialogs/notify.ts';
import { EditorWorkspace } from '../editor/editorWorkspace.ts';
import { ChangeErrorDetector } from '../editor/problems.ts';
import type { ChatPage } from '../view/chatPage.ts';
import { ChatView } from '../view/chatView.ts';
import { UserActivity } from '../view/userActivity.ts';
import { createJobWorkers } from '../worker/jobWorker.ts';
import { createWindowChangeEvents } from './windowChanges.ts';

export type WindowServices = ReturnType<typeof composeWindowServices>;

/** Creates the log, the chat view, the dialogs, the workspace and the parser workers of the window. */
export function composeWindowServices(context: vscode.ExtensionContext, page: ChatPage) {
  const log = vscode.window.createOutputChannel('Towpath', { log: true });
  const logError = (error: unknown) => log.error(error instanceof Error ? error : String(error));
  const problems = new ChangeErrorDetector();
  const workspace = new EditorWorkspace(problems, context.extensionPath);
  const view = new ChatView(page, log);
  setNotificationTarget(view, log);
  setNetworkProbe(hasExternalInterface);
  const presence = new UserActivity(view);
  const modals = new Dialogs(presence);
  const jobWorkers = createJobWorkers(path.join(context.extensionPath, 'dist'));
  context.subscriptions.push(log, problems, presence, modals);
  const changes = createWindowChangeEvents(logError);
  return { context, page, log, logError, changes, workspace, view, presence, modals, jobWorkers };
}
