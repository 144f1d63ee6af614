import { isDeepStrictEqual } from 'node:util';
import type { RunEvent } from '../../protocol/run/events.ts';
import { abortReasonOf } from '../../protocol/run/formerText.ts';
import type { RunState } from '../../protocol/run/run.ts';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { RunStore } from '../../runs/store.ts';
import type { PublishedRunStatus } from '../../runs/windowStatus.ts';

type End = 'asking' | 'failed' | 'at limit' | 'ended' | 'seen';

export interface LiveRunStatus extends PublishedRunStatus {
  runId: string;
  elsewhere?: boolean;
}

interface Dependencies {
  store: Pick<RunStore, 'marks' | 'holder' | 'has' | 'listed'>;
  liveIds(): readonly string[];
  /** Kind of input that a running run waits for. */
  waits(runId: string): 'approval' | 'question' | undefined;
  awaitsApproval(runId: string): boolean;
  titleOf(runId: string): string | undefined;
  inView(): string | undefined;
  /** Called for a run of this window that ended unseen. */
  ended(run: LiveRunStatus): void;
  changed(): void;
}

/**
 * States of runs in all windows: running, waiting, or ended unseen. Source of the list, the badge and the status bar. Windows share states
 * by window status files, which the next window reads, too.
 */
export class RunStates {
  private readonly own = new Map<string, PublishedRunStatus>();
  /** Ends of runs in this window; `seen`: nothing to report. */
  private readonly ends = new Map<string, End>();
  private others = new Map<string, PublishedRunStatus>();
  private heldElsewhere = new Set<string>();
  private looking = 0;

  constructor(private readonly parts: Dependencies) {}

  onEvent(event: RunEvent): void {
    const { runId } = event;
    if (event.type !== 'phase') return;
    if (event.phase === 'Running') this.ends.delete(runId);
    else this.ends.set(runId, this.parts.awaitsApproval(runId) ? 'asking' : endOf(event));
  }

  get all(): LiveRunStatus[] {
    const others = [...this.others].flatMap(([runId, mark]): LiveRunStatus[] => {
      if (this.own.has(runId)) return [];
      const elsewhere = this.heldElsewhere.has(runId);
      return [elsewhere ? { runId, ...mark, elsewhere } : { runId, ...mark }];
    });
    const ownRuns = [...this.own].map(([runId, mark]): LiveRunStatus => ({ runId, ...mark }));
    return [...ownRuns, ...others].sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
  }

  of(runId: string): LiveRunStatus | undefined {
    return this.all.find((one) => one.runId === runId);
  }

  /** Updates the states after changes in this window: running runs, requests, or the displayed run. */
  update(before = this.statusText()): void {
    const { liveIds, waits, titleOf, inView } = this.parts;
    const live = new Set(liveIds());
    const shown = inView();
    for (const runId of live) {
      const title = titleOf(runId) ?? this.own.get(runId)?.title ?? '';
      const what = waits(runId);
      this.setStatus(runId, {
        state: what ? 'asking' : 'working',
        title,
        ...(what === 'approval' && { awaitsApproval: true }),
      });
    }
    for (const [runId, { title }] of [...this.own]) {
      if (live.has(runId)) continue;
      this.own.delete(runId);
      const end = this.ends.get(runId) ?? 'seen'; // could not be opened, which was reported
      this.ends.delete(runId);
      if (end === 'seen') {
        this.leave(runId, undefined);
        continue;
      }
      const atLimit = end === 'at limit';
      const mark: PublishedRunStatus = {
        state: atLimit ? 'ended' : end,
        title: titleOf(runId) ?? title,
        ...(atLimit && { isAtLimit: true }),
      };
      this.leave(runId, end === 'asking' ? { ...mark, awaitsApproval: true } : mark);
      if (end !== 'asking' && runId !== shown) this.parts.ended({ runId, ...mark });
    }
    const seen =
      shown === undefined || live.has(shown) || this.heldElsewhere.has(shown) ? undefined : this.others.get(shown);
    if (seen && seen.state !== 'asking') this.leave(shown!, undefined); // an approval waits until answered
    if (this.statusText() !== before) this.parts.changed();
  }

  renamed(runId: string, title: string): void {
    const mark = this.others.get(runId);
    if (mark && !this.heldElsewhere.has(runId)) this.leave(runId, { ...mark, title });
    this.update();
  }

  async look(): Promise<void> {
    const { store } = this.parts;
    this.looking++;
    const current = this.looking;
    const marks = await store.marks.read();
    const held = new Set<string>();
    for (const [runId, mark] of marks) {
      const { state } = mark;
      if (this.own.has(runId)) continue;
      if (!(await store.has(runId))) {
        marks.delete(runId);
        await store.marks.set(runId, undefined); // deleted
      } else if ((state === 'asking' || state === 'working') && (await store.holder(runId))) held.add(runId);
      else marks.set(runId, restingRunStatus(await store.listed(runId).catch(() => undefined), mark));
    }
    if (current !== this.looking) return;
    const before = this.statusText();
    this.others = marks;
    this.heldElsewhere = held;
    this.update(before);
  }

  private setStatus(runId: string, mark: PublishedRunStatus): void {
    const before = this.own.get(runId);
    if (isDeepStrictEqual(before, mark)) return;
    this.own.set(runId, mark);
    void this.parts.store.marks.set(runId, mark);
  }

  private leave(runId: string, mark: PublishedRunStatus | undefined): void {
    this.looking++; // invalidates concurrent reads
    if (mark) this.others.set(runId, mark);
    else this.others.delete(runId);
    void this.parts.store.marks.set(runId, mark);
  }

  private statusText(): string {
    return JSON.stringify(this.all);
  }
}

const order: readonly RunState[] = ['asking', 'failed', 'ended', 'working'];

/** A stop by the user counts as seen; a run at its turn limit has not failed. */
function endOf({ phase, error }: Extract<RunEvent, { type: 'phase' }>): Exclude<End, 'asking'> {
  if (error?.code === 'ENGINE_ABORTED') return abortReasonOf(error) === 'closed' ? 'ended' : 'seen';
  if (error?.code === 'ENGINE_MAX_TURNS_EXCEEDED') return 'at limit';
  return phase === 'Failed' ? 'failed' : 'ended';
}

/** Status of a run without a working window; a run of a killed window has ended. */
export function restingRunStatus(
  run: RunSummary | undefined,
  { state, title, isAtLimit }: PublishedRunStatus,
): PublishedRunStatus {
  const isOver = state === 'failed' || state === 'ended';
  const over = { state: isOver ? state : 'ended', ...(isOver && isAtLimit && { isAtLimit }) } as const;
  return { title, ...(restingRunState(run) ?? over) };
}

export const restingRunState = (
  run: RunSummary | undefined,
): Pick<PublishedRunStatus, 'state' | 'awaitsApproval'> | undefined =>
  run?.awaitsApproval ? { state: 'asking', awaitsApproval: true } : undefined;

export function stateLabel({
  state,
  elsewhere,
  awaitsApproval,
  isAtLimit,
}: Omit<LiveRunStatus, 'runId' | 'title'>): string {
  if (state === 'ended' && isAtLimit) return t('Limit reached');
  const text = awaitsApproval ? t('waiting for approval') : t(stateTexts[state]);
  return elsewhere ? t('{0} in another window', text) : text;
}

const stateTexts = { asking: 'asks', working: 'running', failed: 'failed', ended: 'ended, not viewed yet' } as const;
