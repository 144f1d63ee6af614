import type * as vscode from 'vscode';
import { waitingRunsBadge } from '../panel/status.ts';
import { StatusBar } from '../panel/statusBar.ts';
import type { ChatPage } from '../view/chatPage.ts';
import type { EngineServices } from './composeEngine.ts';
import type { PolicyServices } from './composePolicies.ts';
import type { RunServices } from './composeRuns.ts';
import type { WindowServices } from './composeWindow.ts';

/** Creates the status bar items and the badge of the view. A rendering failure never stops approvals, runs or commands. */
export function composeStatus(
  context: vscode.ExtensionContext,
  page: ChatPage,
  { changes }: WindowServices,
  { policies }: PolicyServices,
  { engine, events, conversation, approvals, background }: EngineServices,
  { asks, interrupted, states }: RunServices,
): void {
  const statusBar = new StatusBar();
  changes.status.add(
    () => {
      page.badge = waitingRunsBadge(states.all);
    },
    () =>
      statusBar.show({
        working: engine.liveIds.length,
        approvals: approvals.count + interrupted.count + interrupted.otherRuns.length,
        questions: asks.count,
        runs: states.all,
        widest: policies.widest([conversation.id, ...engine.liveIds]),
        commands: background.atWork,
      }),
  );
  events.add((event) => event.type === 'phase' && changes.status.notify());
  context.subscriptions.push(statusBar);
}
