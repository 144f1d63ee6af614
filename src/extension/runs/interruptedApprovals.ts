import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { CallKey } from '../../protocol/content/callKey.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { openApprovals } from '../../protocol/run/pending.ts';
import type { Run } from '../../protocol/run/run.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { UserActivity } from '../view/userActivity.ts';
import type { Conversation } from './conversation.ts';
import type { RunStates } from './runStates.ts';
import { untrustedNotice } from './untrustedNotice.ts';

interface Dependencies {
  engine: ExecutionEngine;
  store: RunStore;
  conversation: Conversation;
  approvals: Pick<Approvals, 'expect'>;
  presence: Pick<UserActivity, 'quiet'>;
  workspace: Pick<Workspace, 'trusted'>;
  states: Pick<RunStates, 'all'>;
  changed(): void;
}

/**
 * Approvals that an earlier window left open. Their runs rest until the user answers one: then the call is worked out anew, and its
 * dialog opens as any other. The model is not asked before.
 */
export class InterruptedApprovals {
  private shown?: { runId: string; calls: readonly string[] };
  private waiting?: AbortController;

  constructor(private readonly dependencies: Dependencies) {}

  /** How many the shown run has, while it rests. */
  get count(): number {
    const { engine } = this.dependencies;
    return this.shown && !engine.liveIds.includes(this.shown.runId) ? this.shown.calls.length : 0;
  }

  /** Other runs at rest that have some, of which no window works on any. */
  get otherRuns(): string[] {
    const { engine, states } = this.dependencies;
    const isOther = (runId: string) => runId !== this.shown?.runId && !engine.liveIds.includes(runId);
    return states.all.flatMap((run) => (run.awaitsApproval && !run.elsewhere && isOther(run.runId) ? [run.runId] : []));
  }

  /** Called with the run that the panel shows now, as it was read. */
  show(run: Run | null, isElsewhere: boolean): void {
    this.waiting?.abort();
    this.waiting = undefined;
    this.shown = run && !isElsewhere ? { runId: run.id, calls: openApprovals(run) } : undefined;
    this.dependencies.changed();
  }

  /** Called with every event of every run. */
  told({ runId, type }: RunEvent): void {
    if (type !== 'phase' || this.shown?.runId !== runId) return;
    const run = this.dependencies.engine.live(runId);
    this.shown = { runId, calls: run ? openApprovals(run) : [] };
  }

  /** Opens the dialog of a call; without one, of the oldest call of the shown run. Resolves to false when none is left open. */
  async answer(key: CallKey | undefined): Promise<boolean> {
    const runId = key?.runId ?? this.shown?.runId;
    return runId !== undefined && this.answerIn(runId, key?.toolCallId);
  }

  /** The same for the oldest call of another run, which is shown then. */
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

  async deny(key: CallKey): Promise<void> {
    if ((await this.open(key.runId)).includes(key.toolCallId)) await this.resume(key, 'deny');
  }

  /** The user has clicked or typed in the panel: the dialog opens by itself as soon as they pause. */
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

  /** Of a run at rest that no other window works on. */
  private async open(runId: string): Promise<string[]> {
    const { engine, store } = this.dependencies;
    if (engine.liveIds.includes(runId) || (await store.isElsewhere(runId))) return [];
    return openApprovals(await store.read(runId));
  }

  private async resume(key: CallKey, how: 'show' | 'deny'): Promise<void> {
    const { approvals, conversation, workspace } = this.dependencies;
    if (!workspace.trusted) return conversation.notice(untrustedNotice());
    this.waiting?.abort();
    approvals.expect(key, how);
    await conversation.resume(key.runId);
  }
}
