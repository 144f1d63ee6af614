// @invariant no-indirection: There are no import cycles between files or folders, and no default exports, barrels, base classes,

// containers or event buses.
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { EventBody, LimitOf, RunEvent } from '../../protocol/run/events.ts';
import { interruptedWork } from '../../protocol/run/interruptions.ts';
import { openApprovals } from '../../protocol/run/pending.ts';
import { isHeld } from '../../protocol/run/resumable.ts';
import type { Run } from '../../protocol/run/run.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import { isolated } from '../../protocol/values/listeners.ts';
import type { BranchFiles } from '../../runs/branchFiles.ts';
import type { OpenRun } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { AcceptedRequests } from '../context/acceptedRequests.ts';
import { PrefetchState } from '../context/summaryPrefetch.ts';
import { RunAborted, type StopPoint, stopPointOf } from '../core/abortReason.ts';
import { restedBefore } from '../core/compactionRefused.ts';
import { toInfo } from '../core/errorInfo.ts';
import { RunLog } from '../core/runLog.ts';
import { type EngineResult, failedWith, resultOf, type Suspension, untrustedMessage } from '../core/runResult.ts';
import { patience, raceWithStop, type Worked, withinStopDeadline, withStopDeadline } from '../core/stopDeadlines.ts';
import { type Active, newActive } from '../input/activeRun.ts';
import type { ChangedQueue } from '../input/messageQueue.ts';
import { attach, recordOutOfTurn } from '../input/outOfTurnEvents.ts';
import { isLate, type UserInput, UserQuestionQueue } from '../input/questionQueue.ts';
import {
  changeQueued,
  type InputDependencies,
  type RunInput,
  record,
  sendInput,
  withdrawInput,
} from '../input/userInput.ts';
import { endCalls, unsettledIn } from '../notices/interruptedCalls.ts';
import { type AdvancePlan, advanceUntilDelivered, evidenceOf, hostOf, plainPlan } from './advance.ts';
import type { EngineOptions } from './engineOptions.ts';
import {
  type RedoRequest,
  redo,
  restore,
  type UndoAnswer,
  type UndoQuestion,
  type UndoRequest,
  type UndoResult,
  undo,
} from './undo.ts';

export type InterruptionChoice = Pick<
  Extract<EventBody, { type: 'interruption-choice' }>,
  'toolCallIds' | 'choice' | 'result'
>;

type Start = { runId: string } & Partial<Omit<AdvancePlan, 'model'>> & UserInput;

/** Running runs of this window by id. Methods resolve with a result and never throw for failures of models or disks. */
export class ExecutionEngine {
  private readonly active = new Map<string, Active>();
  private readonly grants = new Map<string, Set<string>>();
  private readonly ahead = new Map<string, PrefetchState>();
  private readonly accepted = new AcceptedRequests();
  private readonly failedAt = new Map<string, number>();

  private readonly hearing: InputDependencies = {
    active: this.active,
    read: async (runId) => this.live(runId) ?? this.options.store.read(runId),
    note: (runId, body) => this.noted(runId, body),
  };

  private readonly options: EngineOptions;

  constructor(options: EngineOptions) {
    const { onListenerError = () => {} } = options;
    this.options = { ...options, tell: isolated([(event) => options.tell(event)], onListenerError) };
  }

  /** Starts a run with the first message. `runId` comes from `RunStore.newId()`; `workflowId` defaults to `chat`. */
  start({ runId, workflowId = 'chat', agentId, values = {}, ...input }: Start): Promise<EngineResult> {
    const plan = { workflowId, values, ...(agentId !== undefined && { agentId }) };
    return this.enter(runId, [input], () => this.options.store.create(runId), plan);
  }

  /**
   * Continues a stored run, with input or (after a limit, a broken stream or a reload) without. `model` (`provider/model`) overrides every
   * model until the next rest. Input to a run with an open user question is its answer. Without input, pending approvals of an earlier
   * window are requested again; with `onlyApprovals`, the model is called only after an answer. A late answer alone changes nothing.
   */
  continue({
    runId,
    model,
    onlyApprovals,
    ...input
  }: { runId: string; model?: string; onlyApprovals?: true } & Partial<UserInput>): Promise<EngineResult> {
    const { userInput } = input;
    const said = userInput === undefined ? [] : [{ ...input, userInput }];
    const plan = { ...plainPlan, ...(model !== undefined && { model }), ...(onlyApprovals && { onlyApprovals }) };
    return this.enter(runId, said, () => this.options.store.open(runId), plan);
  }

  say(words: RunInput): Promise<boolean> {
    return sendInput(this.hearing, words);
  }

  changeWaiting(runId: string, queued: number, changed: ChangedQueue): Promise<boolean> {
    return changeQueued(this.hearing, runId, queued, changed);
  }

  takeBack(runId: string, queued: number): Promise<void> {
    return withdrawInput(this.hearing, runId, queued);
  }

  rename(runId: string, title: string): Promise<ErrorInfo | undefined> {
    return record(this.hearing, runId, { type: 'title', title, by: 'person' });
  }

  pin(runId: string, pinned: boolean): Promise<ErrorInfo | undefined> {
    return record(this.hearing, runId, { type: 'pin', pinned });
  }

  chooseAgent(runId: string, agentId: string): Promise<ErrorInfo | undefined> {
    return record(this.hearing, runId, { type: 'agent', agentId });
  }

  /**
   * Compacts the conversation: at once for a run at rest, before the next model call for a running run (`later`). Resolves to true if the
   * prompt is smaller, to `stopped`, or to an error.
   *
   * @param model overrides the model of the run
   */
  async compact(runId: string, model?: string): Promise<'later' | 'stopped' | boolean | ErrorInfo> {
    const active = this.active.get(runId);
    if (active && !active.ended && !active.controller.signal.aborted) {
      active.wantsRoom = true;
      return 'later';
    }
    const before = await this.options.store.read(runId).catch(toInfo);
    if ('code' in before) return before;
    const plan = { ...plainPlan, onlyRoom: true as const, ...(model !== undefined && { model }) };
    const entered = this.enter(runId, [], () => this.options.store.open(runId), plan);
    const { controller, closed } = this.active.get(runId)!;
    const { error } = await entered;
    if (error?.code === 'ENGINE_BUSY') return error; // another caller was faster
    await closed;
    const after = await this.options.store.read(runId).catch(toInfo);
    if ('code' in after) return after;
    if (after.compactions.length > before.compactions.length) return true;
    if (controller.signal.aborted) return 'stopped';
    return error && (restedBefore(error) || error.message !== before.error?.message) ? error : false;
  }

  /** Records a raised spending limit, valid from the next call. Resolves to the error of a failed record. */
  raiseLimit(runId: string, raise: { of: LimitOf; more: number; to: number }): Promise<ErrorInfo | undefined> {
    return record(this.hearing, runId, { type: 'limit-raise', ...raise });
  }

  /** Records the decision on interrupted calls that are still open, for the next `continue`. Resolves to the error of a failed record. */
  async chooseAfterInterruption(runId: string, choice: InterruptionChoice): Promise<ErrorInfo | undefined> {
    const run = await this.hearing.read(runId).catch(toInfo);
    if ('code' in run) return run;
    const open = new Set(interruptedWork(run).flatMap(({ calls }) => calls));
    if (!choice.toolCallIds.every((id) => open.has(id))) return undefined; // decided meanwhile
    return record(this.hearing, runId, { type: 'interruption-choice', ...choice });
  }

  async usedLater(runId: string, node: string, step: number): Promise<string[]> {
    const run = await this.hearing.read(runId).catch(() => undefined);
    const workflow = run && (await this.options.workflow(run.workflowId).catch(() => undefined));
    return workflow?.usedLater?.(node, step) ?? [];
  }

  /** Ends a hold without feedback, at any time. Resolves to the error of a failed record. */
  async endHold(runId: string): Promise<ErrorInfo | undefined> {
    const run = await this.hearing.read(runId).catch(toInfo);
    if ('code' in run) return run;
    return run.held ? record(this.hearing, runId, { type: 'hold-end' }) : undefined;
  }

  /**
   * Stops the run: callers get the result and the end is reported without waiting for a slow disk. Resolves when all is on disk. No effect
   * on a run at rest.
   */
  async stop(runId: string): Promise<void> {
    const active = this.active.get(runId);
    const { log } = active ?? {};
    if (log?.run.held) log.emit({ type: 'hold-end' }).catch(() => {}); // the run ends with its record
    active?.controller.abort(RunAborted.byPerson());
    this.ahead.get(runId)?.giveUp();
    await active?.closed;
  }

  pause(runId: string): void {
    const active = this.active.get(runId);
    if (!active || active.ended) return;
    active.pausing = true;
    void active.log?.emit({ type: 'pausing' });
  }

  /** Stops prefetches on the local model and resolves when it is free. */
  async makeWay(): Promise<void> {
    await Promise.all([...this.ahead.values()].map((ahead) => ahead.makeWay()));
  }

  retryNow(runId: string): void {
    this.active.get(runId)?.hurry.dispatchEvent(new Event('now'));
  }

  /**
   * Undoes changes of a run at rest, restores files to the state that the run left, or redoes an undo. Resolves to an error if the run is
   * running or cannot be opened or written.
   */
  async undo(
    runId: string,
    request: UndoRequest | RedoRequest | BranchFiles,
    workspace: Workspace,
    ask: (question: UndoQuestion) => Promise<UndoAnswer>,
  ): Promise<UndoResult | ErrorInfo> {
    const before = this.active.get(runId);
    if (before && !before.ended)
      return {
        code: 'ENGINE_BUSY',
        ...toErrorInfo(message('This run is in progress. Stop it, then undo its changes.')),
      };
    const { store, tell, now = Date.now } = this.options;
    let close = () => {};
    const active = { ...newActive(), closed: new Promise<void>((resolve) => (close = resolve)) };
    this.active.set(runId, active); // blocks a concurrent start
    let log: RunLog | undefined;
    try {
      await before?.closed;
      log = new RunLog(await store.open(runId), tell, now);
      attach(active, log);
      const place = await this.undoPlace(log, workspace);
      await endCalls(
        log,
        evidenceOf(log, await hostOf(this.options), this.options, async () => place.workspace),
        [...(log.run.asking ?? []), ...unsettledIn(log.run)], // these can still be answered
      ); // interrupted calls are judged before the undo
      const parts = { store, ...place };
      if ('undo' in request) return await redo(log, parts, request);
      return await ('files' in request ? restore(log, parts, request, ask) : undo(log, parts, request, ask));
    } catch (error) {
      return toInfo(error);
    } finally {
      active.ended = true; // later work waits for the record to close
      await log?.end().catch(() => {}); // the failure was thrown already
      if (this.active.get(runId) === active) this.active.delete(runId);
      close();
    }
  }

  async note(runId: string, body: EventBody): Promise<void> {
    await this.noted(runId, body);
  }

  private noted(runId: string, body: EventBody): Promise<unknown> {
    const { store, tell, now = Date.now } = this.options;
    const hold = (closed: Promise<void>) => ({ ...newActive(), ended: true, closed });
    const open = async (id: string) => new RunLog(await store.open(id), tell, now, { toldUpTo: this.failedAt.get(id) });
    return recordOutOfTurn({ active: this.active, hold, open }, runId, body);
  }

  private async undoPlace(
    log: RunLog,
    workspace: Workspace,
  ): Promise<{ workspace: Workspace; problem?: ReturnType<typeof messageOf> }> {
    try {
      const workflow = await this.options.workflow(log.run.workflowId);
      return { workspace: (await workflow.undoing?.(log)) ?? workspace };
    } catch (error) {
      return { workspace, problem: messageOf(error) };
    }
  }

  async close(): Promise<void> {
    for (const active of this.active.values()) active.controller.abort(RunAborted.byClosing());
    for (const ahead of this.ahead.values()) ahead.giveUp();
    await Promise.all([...this.active.values()].map((active) => active.closed));
  }

  live(runId: string): Run | undefined {
    return this.active.get(runId)?.log?.run;
  }

  get liveIds(): string[] {
    return [...this.active].filter(([, { ended }]) => !ended).map(([runId]) => runId);
  }

  private enter(
    runId: string,
    said: UserInput[],
    open: () => Promise<OpenRun>,
    plan: AdvancePlan,
  ): Promise<EngineResult> {
    const before = this.active.get(runId);
    if (before && !before.ended && !before.controller.signal.aborted)
      return Promise.resolve(failedWith('ENGINE_BUSY', message('This run is already in progress.')));
    void this.makeWay();
    const active = newActive(said);
    this.active.set(runId, active);
    // Retains only the promise: a reference to the previous entry would retain the whole chain.
    const closedBefore = before?.closed;
    const opened = async () => {
      await closedBefore; // the previous work must be on disk
      return open();
    };
    const work = this.work(runId, active, opened, plan);
    const { signal } = active.controller;
    const unopened = () => (active.log ? undefined : { success: false, ...stopPointOf(signal) });
    active.done = withinStopDeadline(signal, work, unopened).finally(() => {
      active.ended = true;
    });
    active.closed = Promise.all([work.then(({ closed }) => closed), active.done]).then(() => {
      if (this.active.get(runId) === active) this.active.delete(runId);
    });
    return active.done;
  }

  private async work(
    runId: string,
    active: Active,
    open: () => Promise<OpenRun>,
    plan: AdvancePlan,
  ): Promise<Worked<EngineResult>> {
    const { signal } = active.controller;
    const { tell, now = Date.now } = this.options;
    let log: RunLog;
    try {
      log = new RunLog(await open(), tell, now, {
        hurry: withStopDeadline(signal, patience.disk),
        toldUpTo: this.failedAt.get(runId),
        onFailure: (error) => active.controller.abort(RunAborted.byStore(toInfo(error))),
      });
    } catch (error) {
      const stop: Suspension = { phase: 'Failed', error: toInfo(error) };
      return { result: { success: false, ...stop, ...unheardIn(active) }, closed: Promise.resolve() };
    }
    attach(active, log);
    const notBegun = (code: string, words: LocalizedMessage) => ({
      result: failedWith(code, words),
      closed: log.end().catch(() => {}), // the next work finds the unrecorded events
    });
    if (active.early.length > 0 && active.early.every((input) => isLate(log.run, input)))
      return notBegun('ENGINE_NOT_ASKED', message('This approval is no longer open.'));
    const waiting = openApprovals(log.run).length;
    if (plan.onlyApprovals && waiting === 0)
      return notBegun('ENGINE_NOT_ASKED', message('This approval has already been answered.'));
    if (waiting > 0 && !plan.onlyRoom && active.early.length === 0 && !(await this.canApprove()))
      return notBegun('ENGINE_UNTRUSTED', message(untrustedMessage));
    active.asking = new UserQuestionQueue(log, signal);
    let stop: Suspension;
    let isTold = false;
    const failing = (error: unknown) => {
      const point: StopPoint = { phase: 'Failed', error: toInfo(error) };
      if (!isTold) this.tellFailure(log, point);
      isTold = true;
      return point;
    };
    try {
      stop = await raceWithStop(
        signal,
        log.run,
        advanceUntilDelivered(log, active, plan, {
          ...this.options,
          grantsOf: (id) => this.grantsOf(id),
          ahead: this.aheadOf(runId),
          accepted: this.accepted,
        }),
      );
      const told = log.emit({ type: 'phase', ...stop });
      if (signal.aborted) log.leave();
      await told;
      if (!stop.error && !isHeld(log.run) && this.liveIds.length === 0)
        this.aheadOf(runId).rest((body) => tell({ runId, seq: log.run.seq, at: now(), ...body } as RunEvent));
    } catch (error) {
      stop = failing(error);
    }
    const result = { ...resultOf(log.run, stop), ...unheardIn(active) };
    return { result, closed: log.end().catch((error) => void failing(error)) };
  }

  /** False in an untrusted window. Errors of loading tools are reported by the work. */
  private async canApprove(): Promise<boolean> {
    const host = await hostOf(this.options).catch(() => undefined);
    return host?.canApprove ?? true;
  }

  /** Reports a failed record. Unrecorded events have no effect; the panel is notified, the journal cannot be. */
  private tellFailure(log: RunLog, point: StopPoint): void {
    log.tellOnly({ type: 'phase', ...point });
    this.failedAt.set(log.run.id, log.run.seq);
  }

  forget(runId: string): void {
    this.grants.delete(runId);
    this.ahead.get(runId)?.drop();
    this.ahead.delete(runId);
  }

  /** Grants end with the window: after a reload every approval is requested again. */
  private grantsOf(runId: string): Set<string> {
    const grants = this.grants.get(runId) ?? new Set();
    this.grants.set(runId, grants);
    return grants;
  }

  private aheadOf(runId: string): PrefetchState {
    const ahead = this.ahead.get(runId) ?? new PrefetchState((usage) => this.noted(runId, usage));
    this.ahead.set(runId, ahead);
    return ahead;
  }
}

const unheardIn = ({ early }: Active) => (early.length > 0 ? { isUnheard: true } : {});
