import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { pendingApprovalIds } from '../../protocol/run/pending.ts';
import type { Run } from '../../protocol/run/run.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { ApprovalDialogQueue } from '../approvals/approvals.ts';
import type { UserActivity } from '../view/userActivity.ts';
import type { PanelConversation } from './conversation.ts';
import type { RunStates } from './runStates.ts';
import { untrustedNotice } from './untrustedNotice.ts';

interface Dependencies {
  engine: ExecutionEngine;
  store: RunStore;
  conversation: PanelConversation;
  approvals: Pick<ApprovalDialogQueue, 'expect'>;
  presence: Pick<UserActivity, 'quiet'>;
  workspace: Pick<Workspace, 'trusted'>;
  states: Pick<RunStates, 'all'>;
  changed(): void;
}

/**
 * Approvals left open by an earlier window. The runs rest until the user answers one; then the call is planned again and its dialog opens
 * as usual. No model is called before.
 */
export class InterruptedApprovals {
  private shown?: { runId: string; calls: readonly string[] };
  private waiting?: AbortController;

  constructor(private readonly dependencies: Dependencies) {}

  get count(): number {
    const { engine } = this.dependencies;
    return this.shown && !engine.liveIds.includes(this.shown.runId) ? this.shown.calls.length : 0;
  }

  /** Other runs at rest with open approvals that no window works on. */
  get otherRuns(): string[] {
    const { engine, states } = this.dependencies;
    const isOther = (runId: string) => runId !== this.shown?.runId && !engine.liveIds.includes(runId);
    return states.all.flatMap((run) => (run.awaitsApproval && !run.elsewhere && isOther(run.runId) ? [run.runId] : []));
  }

  show(run: Run | null, isElsewhere: boolean): void {
    this.waiting?.abort();
    this.waiting = undefined;
    this.shown = run && !isElsewhere ? { runId: run.id, calls: pendingApprovalIds(run) } : undefined;
    this.dependencies.changed();
  }

  onEvent({ runId, type }: RunEvent): void {
    if (type !== 'phase' || this.shown?.runId !== runId) return;
    const run = this.dependencies.engine.live(runId);
    this.shown = { runId, calls: run ? pendingApprovalIds(run) : [] };
  }

  /** Opens the dialog of a call, by default the oldest of the displayed run. Resolves to false if none is open. */
  async answer(key: ToolCallKey | undefined): Promise<boolean> {
    const runId = key?.runId ?? this.shown?.runId;
    return runId !== undefined && this.answerIn(runId, key?.toolCallId);
  }

  async answerOther(): Promise<boolean> {
    for (const runId of this.otherRuns) {
      if ((await this.open(runId)).length === 0) continue;
      await this.dependencies.conversation.open(runId);
      return this.answerIn(runId);
    }
    return false;
  }

  private async answerIn(runId: string, asked?: string): Promise<boolean> {
    const open = await this.open(runId);
    const toolCallId = asked ?? open[0];
    if (toolCallId === undefined || !open.includes(toolCallId)) return false;
    await this.resume({ runId, toolCallId }, 'show');
    return true;
  }

  async deny(key: ToolCallKey): Promise<void> {
    if ((await this.open(key.runId)).includes(key.toolCallId)) await this.resume(key, 'deny');
  }

  /** Opens the dialog automatically at the next pause after activity in the panel. */
  async active(runId: string): Promise<void> {
    const { presence, conversation, workspace } = this.dependencies;
    if (this.waiting || this.count === 0 || this.shown?.runId !== runId || !workspace.trusted) return;
    const waiting = new AbortController();
    this.waiting = waiting;
    await presence.quiet(waiting.signal);
    if (this.waiting === waiting) this.waiting = undefined;
    const isStill = !waiting.signal.aborted && this.count > 0 && conversation.runId === runId;
    if (isStill && (await this.open(runId)).length > 0) await conversation.resume(runId);
  }

  private async open(runId: string): Promise<string[]> {
    const { engine, store } = this.dependencies;
    if (engine.liveIds.includes(runId) || (await store.isElsewhere(runId))) return [];
    return pendingApprovalIds(await store.read(runId));
  }

  private async resume(key: ToolCallKey, response: 'show' | 'deny'): Promise<void> {
    const { approvals, conversation, workspace } = this.dependencies;
    if (!workspace.trusted) return conversation.notice(untrustedNotice());
    this.waiting?.abort();
    approvals.expect(key, response);
    await conversation.resume(key.runId);
  }
}
