import { waitingRunsBadge } from '../panel/status.ts';
import { StatusBar } from '../panel/statusBar.ts';
import type { RunServices } from './composeRuns.ts';

/** Creates the status bar items and the badge of the view. A rendering failure never stops approvals, runs or commands. */
export function composeStatusBar(services: RunServices): void {
  const { context, page, changes, policies, engine, events, conversation, approvals, background } = services;
  const { asks, interrupted, states } = services;
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
        inputs: background.prompts?.waiting.length ?? 0,
        runs: states.all,
        widest: policies.widest([conversation.id, ...engine.liveIds]),
        commands: background.atWork,
      }),
  );
  events.add((event) => event.type === 'phase' && changes.status.notify());
  context.subscriptions.push(statusBar);
}
