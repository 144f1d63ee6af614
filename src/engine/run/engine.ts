// @invariant no-indirection: There are no import cycles between files or folders, and no default exports, barrels, base classes,
// containers or event buses.
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunEvent, RunEventBody } from '../../protocol/run/events.ts';
import { interruptedWork } from '../../protocol/run/interruptions.ts';
import { answerableQuestionIds, pendingApprovalIds } from '../../protocol/run/pending.ts';
import { isRunHeldByDenial } from '../../protocol/run/resumable.ts';
import type { Run } from '../../protocol/run/run.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { createIsolatedListener } from '../../protocol/values/listeners.ts';
import type { WritableRun } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { AcceptedRequestSizes } from '../context/acceptedRequests.ts';
import { SummaryPrefetcher } from '../context/summaryPrefetch.ts';
import { RunAbortedError, type StopPoint, stopPointOf } from '../core/abortReason.ts';
import { suspensionBeforeCompaction } from '../core/compactionRefused.ts';
import { errorInfoOf } from '../core/errorInfo.ts';
import { RunLog } from '../core/runLog.ts';
import {
  type EngineResult,
  engineResultOf,
  failedEngineResult,
  type Suspension,
  untrustedWorkspaceMessage,
} from '../core/runResult.ts';
import {
  finishWithinStopDeadline,
  type ResultWithClosePromise,
  raceWithStop,
  stopDeadlineMs,
  waitForStopDeadline,
} from '../core/stopDeadlines.ts';
import { type ActiveRun, createActiveRun, undeliveredMark, waitForUndo } from '../input/activeRun.ts';
import type { QueuedMessageChange } from '../input/messageQueue.ts';
import { attachRunLog, recordOutOfTurn } from '../input/outOfTurnEvents.ts';
import { isLateChoice, type UserInput, UserQuestionQueue } from '../input/questionQueue.ts';
import {
  changeQueuedMessage,
  type InputDependencies,
  type RunInput,
  recordRunMetadata,
  sendInput,
  withdrawInput,
} from '../input/userInput.ts';
import { endUnfinishedCalls, unsettledCallIds } from '../notices/interruptedCalls.ts';
import { sayToTask, stopTasks } from '../tasks/openTasks.ts';
import { TaskSlots } from '../tasks/taskSlots.ts';
import {
  advanceUntilMessagesDelivered,
  chatAdvancePlan,
  createRecoveryProbe,
  resolveToolHost,
  type WorkflowAdvancePlan,
} from './advance.ts';
import type { EngineOptions } from './engineOptions.ts';
import { type FileRestorationRequest, restoreFiles, undoLocationOf } from './fileRestoration.ts';
import type { UndoConfirmation, UndoResult } from './undo.ts';

type BodyOf<Type extends RunEventBody['type']> = Omit<Extract<RunEventBody, { type: Type }>, 'type'>;
export type InterruptionChoice = BodyOf<'interruption-choice'>;

type Start = { runId: string } & Partial<Omit<WorkflowAdvancePlan, 'model'>> & UserInput;

/** Running runs of this window by id. Methods resolve with a result and never throw for failures of models or disks. */
export class ExecutionEngine {
  private readonly active = new Map<string, ActiveRun>();
  private readonly grants = new Map<string, Set<string>>();
  private readonly ahead = new Map<string, SummaryPrefetcher>();
  private readonly accepted = new AcceptedRequestSizes();
  private readonly failedAt = new Map<string, number>();
  private readonly slots = new TaskSlots();

  private readonly input: InputDependencies = {
    active: this.active,
    read: async (runId) => this.live(runId) ?? this.options.store.read(runId),
    note: (runId, body) => this.note(runId, body),
  };

  private readonly options: EngineOptions;

  constructor(options: EngineOptions) {
    const { onListenerError = () => {} } = options;
    const onEvent = createIsolatedListener<RunEvent>([(event) => options.onEvent(event)], onListenerError);
    this.options = { ...options, onEvent };
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
    const inputs = userInput === undefined ? [] : [{ ...input, userInput }];
    const plan = { ...chatAdvancePlan, ...(model !== undefined && { model }), ...(onlyApprovals && { onlyApprovals }) };
    return this.enter(runId, inputs, () => this.options.store.open(runId), plan);
  }

  say(input: RunInput): Promise<boolean> {
    return sendInput(this.input, input);
  }

  changeWaiting(runId: string, queued: number, changed: QueuedMessageChange): Promise<boolean> {
    return changeQueuedMessage(this.input, runId, queued, changed);
  }

  takeBack(runId: string, queued: number): Promise<void> {
    return withdrawInput(this.input, runId, queued);
  }

  rename(runId: string, title: string): Promise<ErrorInfo | undefined> {
    return recordRunMetadata(this.input, runId, { type: 'title', title, by: 'person' });
  }

  pin(runId: string, pinned: boolean): Promise<ErrorInfo | undefined> {
    return recordRunMetadata(this.input, runId, { type: 'pin', pinned });
  }

  chooseAgent(runId: string, agentId: string): Promise<ErrorInfo | undefined> {
    return recordRunMetadata(this.input, runId, { type: 'agent', agentId });
  }

  /** Records the effort of the conversation's model, valid from the next request. Resolves to the error of a failed record. */
  chooseEffort(runId: string, chosen: BodyOf<'model'>): Promise<ErrorInfo | undefined> {
    return recordRunMetadata(this.input, runId, { type: 'model', ...chosen });
  }

  /**
   * Compacts the conversation: at once for a run at rest, before the next model call for a running run (`later`). Resolves to true if the
   * prompt is smaller, to `stopped`, or to an error.
   *
   * @param model overrides the model of the run
   */
  async compact(runId: string, model?: string): Promise<'later' | 'stopped' | boolean | ErrorInfo> {
    const active = this.active.get(runId);
    if (active && !active.ended && !active.undoing && !active.controller.signal.aborted) {
      active.wantsCompaction = true;
      return 'later';
    }
    const before = await this.options.store.read(runId).catch(errorInfoOf);
    if ('code' in before) return before;
    const undo = this.active.get(runId);
    if (undo?.undoing) return (await waitForUndo(undo)) ? this.compact(runId, model) : 'stopped';
    const plan = { ...chatAdvancePlan, onlyCompacts: true as const, ...(model !== undefined && { model }) };
    const entered = this.enter(runId, [], () => this.options.store.open(runId), plan);
    const { controller, closed } = this.active.get(runId)!;
    const { error } = await entered;
    if (error?.code === 'ENGINE_BUSY') return error; // another caller was faster
    await closed;
    const after = await this.options.store.read(runId).catch(errorInfoOf);
    if ('code' in after) return after;
    if (after.compactions.length > before.compactions.length) return true;
    if (controller.signal.aborted) return 'stopped';
    return error && (suspensionBeforeCompaction(error) || error.message !== before.error?.message) ? error : false;
  }

  /** Records a raised spending limit, valid from the next call. Resolves to the error of a failed record. */
  raiseLimit(runId: string, raise: BodyOf<'limit-raise'>): Promise<ErrorInfo | undefined> {
    return recordRunMetadata(this.input, runId, { type: 'limit-raise', ...raise });
  }

  /** Records the decision on interrupted calls that are still open, for the next `continue`. Resolves to the error of a failed record. */
  async chooseAfterInterruption(runId: string, choice: InterruptionChoice): Promise<ErrorInfo | undefined> {
    const run = await this.input.read(runId).catch(errorInfoOf);
    if ('code' in run) return run;
    const open = new Set(interruptedWork(run).flatMap(({ calls }) => calls));
    if (!choice.toolCallIds.every((id) => open.has(id))) return undefined; // decided meanwhile
    return recordRunMetadata(this.input, runId, { type: 'interruption-choice', ...choice });
  }

  async usedLater(runId: string, node: string, step: number): Promise<string[]> {
    const run = await this.input.read(runId).catch(() => undefined);
    const workflow = run && (await this.options.workflow(run.workflowId).catch(() => undefined));
    return workflow?.usedLater?.(node, step) ?? [];
  }

  /** Ends a hold without feedback, at any time. Resolves to the error of a failed record. */
  async endHold(runId: string): Promise<ErrorInfo | undefined> {
    const run = await this.input.read(runId).catch(errorInfoOf);
    if ('code' in run) return run;
    return run.held ? recordRunMetadata(this.input, runId, { type: 'hold-end' }) : undefined;
  }

  /**
   * Stops the run: callers get the result and the end is reported without waiting for a slow disk. Resolves when all is on disk. No effect
   * on a run at rest.
   */
  async stop(runId: string): Promise<void> {
    const active = this.active.get(runId);
    const { log } = active ?? {};
    if (log?.run.held) log.emit({ type: 'hold-end' }).catch(() => {}); // the run ends with its record
    active?.controller.abort(RunAbortedError.byPerson());
    if (active?.undoing) active.controller = new AbortController(); // what waits for it from now on is not stopped
    this.ahead.get(runId)?.giveUp();
    await active?.closed;
  }

  /** Stops a task of a run, or all of them; the run goes on. */
  stopTask(runId: string, task?: string): Promise<void> {
    return stopTasks(this.input, runId, task);
  }

  /** Sends a message of the user to a task. Resolves to false if the task has ended. */
  sayToTask(runId: string, task: string, input: UserInput): Promise<boolean> {
    return sayToTask(this.input, runId, task, input);
  }

  pause(runId: string): void {
    const active = this.active.get(runId);
    if (!active || active.ended || active.undoing) return;
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
   * running or cannot be opened or written. Waits for an earlier undo or redo, as a continuation does.
   */
  async undo(
    runId: string,
    request: FileRestorationRequest,
    workspace: Workspace,
    ask: UndoConfirmation,
  ): Promise<UndoResult | ErrorInfo> {
    const before = this.active.get(runId);
    if (before?.undoing && !before.ended) {
      if (await waitForUndo(before)) return this.undo(runId, request, workspace, ask);
      return { undone: [], left: [] }; // the window closes
    }
    if (before && !before.ended)
      return {
        code: 'ENGINE_BUSY',
        ...toErrorInfo(message('This run is in progress. Stop it, then undo its changes.')),
      };
    const { store, onEvent, now = Date.now } = this.options;
    let close = () => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    const active: ActiveRun = { ...createActiveRun(), undoing: true, closed };
    this.active.set(runId, active); // blocks a concurrent start
    let log: RunLog | undefined;
    try {
      await before?.closed;
      const host = await resolveToolHost(this.options);
      log = new RunLog(await store.open(runId), onEvent, now);
      attachRunLog(active, log);
      const undoLocation = await undoLocationOf(this.options, log, workspace);
      await endUnfinishedCalls(
        log,
        createRecoveryProbe(log, host, this.options, async () => undoLocation.workspace),
        [...answerableQuestionIds(log.run), ...unsettledCallIds(log.run)], // these can still be answered
      ); // interrupted calls are judged before the undo
      const hold = () => host.holdCommandChanges(runId);
      return await restoreFiles(log, { store, ...undoLocation }, request, { ask, hold });
    } catch (error) {
      return errorInfoOf(error);
    } finally {
      active.ended = true; // later work waits for the record to close
      await log?.end().catch(() => {}); // the failure was thrown already
      if (this.active.get(runId) === active) this.active.delete(runId);
      close();
    }
  }

  note(runId: string, body: RunEventBody): Promise<unknown> {
    const { store, onEvent, now = Date.now } = this.options;
    const hold = (closed: Promise<void>) => ({ ...createActiveRun(), ended: true, closed });
    const open = async (id: string) =>
      new RunLog(await store.open(id), onEvent, now, { reportedUpTo: this.failedAt.get(id) });
    return recordOutOfTurn({ active: this.active, hold, open }, runId, body);
  }

  async close(): Promise<void> {
    for (const active of this.active.values()) active.controller.abort(RunAbortedError.byClosing());
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
    inputs: UserInput[],
    open: () => Promise<WritableRun>,
    plan: WorkflowAdvancePlan,
  ): Promise<EngineResult> {
    const before = this.active.get(runId);
    if (before?.undoing && !before.ended) return this.enterAfterUndo(before, runId, inputs, open, plan);
    if (before && !before.ended && !before.controller.signal.aborted)
      return Promise.resolve(failedEngineResult('ENGINE_BUSY', message('This run is already in progress.')));
    void this.makeWay();
    const active = createActiveRun(inputs);
    this.active.set(runId, active);
    active.earlier = before;
    const opened = async () => {
      await active.earlier?.closed; // the previous work must be on disk
      active.earlier = undefined; // else the whole chain would be retained
      return open();
    };
    const work = this.work(runId, active, opened, plan);
    const { signal } = active.controller;
    const unopened = () => (active.log ? undefined : { success: false, ...stopPointOf(signal) });
    active.done = finishWithinStopDeadline(signal, work, unopened).finally(() => {
      active.ended = true;
    });
    active.closed = Promise.all([work.then(({ closed }) => closed), active.done]).then(() => {
      if (this.active.get(runId) === active) this.active.delete(runId);
    });
    return active.done;
  }

  /** Another message may have waited, too: the later ones are said to the run that it starts. */
  private async enterAfterUndo(
    undo: ActiveRun,
    runId: string,
    inputs: UserInput[],
    open: () => Promise<WritableRun>,
    plan: WorkflowAdvancePlan,
  ): Promise<EngineResult> {
    const { signal } = undo.controller;
    if (!(await waitForUndo(undo)))
      return { success: false, ...stopPointOf(signal), ...undeliveredMark({ early: inputs }) };
    const other = this.active.get(runId);
    if (!other || other.undoing) return this.enter(runId, inputs, open, plan);
    const left: UserInput[] = [];
    for (const input of inputs) if (!(await this.say({ runId, ...input }))) left.push(input);
    return left.length === 0 ? other.done : this.enter(runId, left, open, plan);
  }

  private async work(
    runId: string,
    active: ActiveRun,
    open: () => Promise<WritableRun>,
    plan: WorkflowAdvancePlan,
  ): Promise<ResultWithClosePromise<EngineResult>> {
    const { signal } = active.controller;
    const { onEvent, now = Date.now } = this.options;
    let log: RunLog;
    try {
      log = new RunLog(await open(), onEvent, now, {
        hurry: waitForStopDeadline(signal, stopDeadlineMs.disk),
        reportedUpTo: this.failedAt.get(runId),
        onFailure: (error) => active.controller.abort(RunAbortedError.byStore(errorInfoOf(error))),
      });
    } catch (error) {
      const stop: Suspension = { phase: 'Failed', error: errorInfoOf(error) };
      return { result: { success: false, ...stop, ...undeliveredMark(active) }, closed: Promise.resolve() };
    }
    attachRunLog(active, log);
    const notBegun = (code: string, text: LocalizedMessage) => ({
      result: failedEngineResult(code, text),
      closed: log.end().catch(() => {}), // the next work finds the unrecorded events
    });
    if (active.early.length > 0 && active.early.every((input) => isLateChoice(log.run, input)))
      return notBegun('ENGINE_NOT_ASKED', message('This approval is no longer open.'));
    const waiting = pendingApprovalIds(log.run).length;
    if (plan.onlyApprovals && waiting === 0)
      return notBegun('ENGINE_NOT_ASKED', message('This approval has already been answered.'));
    if (waiting > 0 && !plan.onlyCompacts && active.early.length === 0 && !(await this.canApprove()))
      return notBegun('ENGINE_UNTRUSTED', message(untrustedWorkspaceMessage));
    active.asking = new UserQuestionQueue(log, signal);
    let stop: Suspension;
    let isReported = false;
    const failing = (error: unknown) => {
      const point: StopPoint = { phase: 'Failed', error: errorInfoOf(error) };
      if (!isReported) this.reportFailure(log, point);
      isReported = true;
      return point;
    };
    try {
      stop = await raceWithStop(
        signal,
        log.run,
        advanceUntilMessagesDelivered(log, active, plan, {
          ...this.options,
          grantsOf: (id) => this.grantsOf(id),
          ahead: this.aheadOf(runId),
          accepted: this.accepted,
          slots: this.slots,
        }),
      );
      const recorded = log.emit({ type: 'phase', ...stop });
      if (signal.aborted) log.leave();
      await recorded;
      if (!stop.error && !isRunHeldByDenial(log.run) && this.liveIds.length === 0)
        this.aheadOf(runId).rest((body) => onEvent({ runId, seq: log.run.seq, at: now(), ...body } as RunEvent));
    } catch (error) {
      stop = failing(error);
    }
    const result = { ...engineResultOf(log.run, stop), ...undeliveredMark(active) };
    return { result, closed: log.end().catch((error) => void failing(error)) };
  }

  /** False in an untrusted window. Errors of loading tools are reported by the work. */
  private async canApprove(): Promise<boolean> {
    return (await resolveToolHost(this.options).catch(() => undefined))?.canApprove ?? true;
  }

  /** Reports a failed record. Unrecorded events have no effect; the panel is notified, the journal cannot be. */
  private reportFailure(log: RunLog, point: StopPoint): void {
    log.reportUnstored({ type: 'phase', ...point });
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

  private aheadOf(runId: string): SummaryPrefetcher {
    const ahead = this.ahead.get(runId) ?? new SummaryPrefetcher((usage) => this.note(runId, usage));
    this.ahead.set(runId, ahead);
    return ahead;
  }
}
