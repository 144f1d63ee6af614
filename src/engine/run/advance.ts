import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { userMessage } from '../../protocol/content/messages.ts';
import { answerableQuestionIds, pendingApprovalIds } from '../../protocol/run/pending.ts';
import { isRunHeldByDenial } from '../../protocol/run/resumable.ts';
import type { CallState, Run } from '../../protocol/run/run.ts';
import { taskToolName } from '../../protocol/run/tasks.ts';
import { StoreError } from '../../runs/journal.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { ToolHost } from '../../tools/host/host.ts';
import { OrphanedCommands } from '../../tools/shell/orphanedCommands.ts';
import type { AcceptedRequestSizes } from '../context/acceptedRequests.ts';
import type { SummaryPrefetcher } from '../context/summaryPrefetch.ts';
import { RunAbortedError, RunSuspendedError, type StopPoint, stopPointOf } from '../core/abortReason.ts';
import { runBudget } from '../core/budget.ts';
import { compactionRefusedError, suspensionBeforeCompaction } from '../core/compactionRefused.ts';
import { errorInfoOf } from '../core/errorInfo.ts';
import type { RunLog } from '../core/runLog.ts';
import type { Suspension } from '../core/runResult.ts';
import type { Agent } from '../core/workflow.ts';
import { startWorkStats } from '../core/workStats.ts';
import type { ActiveRun } from '../input/activeRun.ts';
import { deliverQueued, deliverQueuedMessage, nextMessageAfterWork } from '../input/messageQueue.ts';
import { answerQuestionsAtRest, type UserInput } from '../input/questionQueue.ts';
import { userTextOf } from '../input/userInput.ts';
import { reportCommandEnds } from '../notices/commandEnds.ts';
import { reportCorruption } from '../notices/corruption.ts';
import {
  createCommandOwnerCheck,
  endUnfinishedCalls,
  type InterruptedCallProbe,
  settleInterruptedCalls,
  unsettledCallIds,
} from '../notices/interruptedCalls.ts';
import { type FindUserEdits, reportUserEdits } from '../notices/userEdits.ts';
import { reportChangedInstructions } from '../notices/workspaceInstructions.ts';
import { settleOpenTasks } from '../tasks/openTasks.ts';
import type { TaskSlots } from '../tasks/taskSlots.ts';
import type { EngineOptions } from './engineOptions.ts';
import { createRunContext, type ModelSelectionRequest, type RunContextOptions, type RunModel } from './runContext.ts';
import { nameRun } from './title.ts';

export interface WorkflowAdvancePlan {
  workflowId: string;
  agentId?: string;
  values: Record<string, unknown>;
  onlyApprovals?: true;
  onlyCompacts?: true;
  model?: string;
}

export const chatAdvancePlan: WorkflowAdvancePlan = { workflowId: 'chat', values: {} };

type Advancing = EngineOptions & {
  grantsOf(runId: string): Set<string>;
  ahead: SummaryPrefetcher;
  accepted: AcceptedRequestSizes;
  slots: TaskSlots;
};

/** Repeats the advance for messages that arrive after the last check of the loop. */
export async function advanceUntilMessagesDelivered(
  log: RunLog,
  active: ActiveRun,
  plan: WorkflowAdvancePlan,
  options: Advancing,
): Promise<Suspension> {
  if (plan.onlyCompacts) {
    const asked = log.run.seq;
    const stop = await compact(log, active, options, { instead: plan.model });
    await log.idle();
    if (stop.error || !log.run.queued.some(({ queued, when }) => queued > asked && when !== 'done')) {
      active.ended = true;
      return stop;
    }
  }
  for (let unheard = Number.POSITIVE_INFINITY; ; ) {
    const { held, ...rest } = await advance(log, active, plan, options);
    const isLeft = active.wantsCompaction && !active.controller.signal.aborted; // no model call came after the request
    const stop = isLeft ? await compact(log, active, options, { before: rest }) : rest;
    await log.idle();
    const waiting = log.run.queued.filter(({ when }) => when !== 'done').length;
    if (held && !log.run.held && !active.pausing && !active.controller.signal.aborted) continue; // the hold ended as the run came to rest
    const next = active.pausing || waiting > 0 ? undefined : nextMessageAfterWork(log.run, stop);
    if (next) {
      await deliverQueuedMessage(log, next);
      continue;
    }
    if (stop.error || active.pausing || waiting === 0 || waiting >= unheard) {
      active.ended = true; // from this moment on, input starts new work
      return stop;
    }
    unheard = waiting;
  }
}

async function advance(
  log: RunLog,
  active: ActiveRun,
  { workflowId, agentId: chosen, values, model: instead, onlyApprovals }: WorkflowAdvancePlan,
  options: Advancing,
): Promise<Suspension & Pick<StopPoint, 'held'>> {
  const { run } = log;
  const { seq: restedAt, updatedAt: lastAt } = run;
  const intent = restedAt === 0 ? 'start' : 'continue';
  const workflow = await options.workflow(run.workflowId || workflowId).catch(errorInfoOf);
  if (intent === 'start') {
    const { id: agentId, model = options.modelId?.() ?? '' } = 'agent' in workflow ? workflow.agent : nobody;
    const effort = options.effortOf?.(model);
    await log.emit({ type: 'run-start', workflowId, agentId: chosen ?? agentId, model, ...(effort && { effort }) });
  }
  const outline = 'agent' in workflow ? workflow.outline : undefined;
  if (outline && !isDeepStrictEqual(outline, run.outline)) await log.emit({ type: 'outline', outline });
  await answerQuestionsAtRest(log, active.early);
  await settleOpenTasks(log, active, (text) => options.store.contents.keepOutput(run.id, text));
  const host = await resolveToolHost(options).catch(errorInfoOf);
  if (!('prepare' in host)) {
    // The end of the last calls is unknown now: messages stay queued.
    await deliverEach(active.early, (input) => log.emit({ type: 'queued', ...userTextOf(input) }));
    return { phase: 'Failed', error: host };
  }
  const undoWorkspace = () => ('agent' in workflow ? workflow.undoing?.(log) : undefined);
  // A message of the user settles open approvals: the calls do not run.
  const unsettled = active.early.length > 0 ? [] : unsettledCallIds(run);
  await settleInterruptedCalls(
    log,
    createRecoveryProbe(log, host, options, async () => undoWorkspace()?.catch(() => undefined)),
    lastAt,
    unsettled,
  );
  const readContent = (id: string) => options.store.contents.read(run.id, id);
  const edited: FindUserEdits = async (files) =>
    host.edited(files, readContent, await undoWorkspace()?.catch(() => undefined));
  const reportNotices = async () => {
    await reportCorruption(log);
    await reportCommandEnds(log); // before the message of the user
    await reportUserEdits(log, edited);
    await reportChangedInstructions(log, options.instructions);
  };
  if (unsettled.length === 0) await reportNotices(); // otherwise after each call has a result: results directly follow their calls
  if (active.early.length > 0) await deliverQueued(log, restedAt); // queued before the rest
  await deliverEach(active.early, ({ when, ...input }) =>
    when === 'done' ? log.emit({ type: 'queued', ...userTextOf(input), when }) : deliverInput(log, input),
  );
  if (isRunHeldByDenial(run) && !onlyApprovals) await log.emit({ type: 'hold-end' });
  await log.emit({ type: 'phase', phase: 'Running' });
  if (!('agent' in workflow)) return { phase: 'Failed', error: workflow };
  // Messages during a compaction answer no approval, and an untrusted window cannot approve. Calls stay open.
  if (unsettled.length > 0 && !host.canApprove && pendingApprovalIds(run).length > 0) return { phase: 'WaitingUser' };

  const { signal } = active.controller;
  const workStats = startWorkStats(run, options.now ?? Date.now);
  const models = withinLimit(run, options);
  const mayRequest = () => !onlyApprovals || unsettled.some((id) => isDecided(run.calls[id]));
  const context = contextOf(log, active, { ...options, ...models }, host, {
    intent,
    values,
    edited,
    ...(instead !== undefined && { instead }),
    async settled() {
      if (unsettled.length > 0) await reportNotices();
      return mayRequest();
    },
    mayRequest,
  });
  const naming = outline || unsettled.length > 0 ? undefined : nameRun(log, models.naming);
  try {
    await host.prepare(signal, (text) => void log.emit({ type: 'progress', text }));
    const { turns, ...stop } = await workflow.advance(context);
    return turns === undefined ? stop : { ...stop, took: workStats(turns) };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (error instanceof RunSuspendedError && !signal.aborted) return error.point;
    return signal.aborted ? stopPointOf(signal) : { phase: 'Failed', error: errorInfoOf(error) };
  } finally {
    await naming?.end();
  }
}

const isDecided = (state: CallState | undefined): boolean =>
  state?.decision !== undefined && state.automatic === undefined;

async function compact(
  log: RunLog,
  active: ActiveRun,
  options: Advancing,
  { before = restOf(log.run), instead }: { before?: Suspension; instead?: string },
): Promise<Suspension> {
  const { run } = log;
  const { signal } = active.controller;
  active.wantsCompaction = false;
  const workflow = await options.workflow(run.workflowId).catch(errorInfoOf);
  const host = await resolveToolHost(options).catch(errorInfoOf);
  if (!('agent' in workflow)) return { phase: 'Failed', error: workflow };
  if (!('prepare' in host)) return { phase: 'Failed', error: host };
  const undoWorkspace = async () => workflow.undoing?.(log).catch(() => undefined);
  await endUnfinishedCalls(log, createRecoveryProbe(log, host, options, undoWorkspace), [
    ...answerableQuestionIds(run),
    ...unsettledCallIds(run),
  ]); // these can still be answered
  await log.emit({ type: 'phase', phase: 'Running' });
  const context = contextOf(log, active, { ...options, ...withinLimit(run, options) }, host, {
    intent: 'continue',
    values: {},
    ...(instead !== undefined && { instead }),
  });
  try {
    const stop = await context.turns({ agent: workflow.speaker?.(run) ?? workflow.agent, onlyCompacts: true });
    return stop.error ? { ...stop, error: compactionRefusedError(stop.error, before) } : before;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    return signal.aborted ? stopPointOf(signal) : { phase: 'Failed', error: errorInfoOf(error) };
  }
}

function restOf({ phase, error, took }: Run): Suspension {
  if (phase === 'Running') return RunAbortedError.byClosing().point;
  const before = suspensionBeforeCompaction(error);
  if (before) return before;
  return { phase, ...(error && { error }), ...(took && { took }) };
}

const contextOf = (
  log: RunLog,
  active: ActiveRun,
  options: Advancing,
  host: ToolHost,
  settings: Pick<RunContextOptions, 'intent' | 'values' | 'instead' | 'edited' | 'settled' | 'mayRequest'>,
) =>
  createRunContext({
    maxTurns: () => 20,
    ...options,
    ...settings,
    host,
    log,
    signal: active.controller.signal,
    grants: options.grantsOf(log.run.id),
    isPausing: () => active.pausing ?? false,
    wantsCompaction() {
      const wants = active.wantsCompaction ?? false;
      active.wantsCompaction = false;
      return wants;
    },
    hurry: active.hurry,
    asking: active.asking!,
    tasks: options.tasks && {
      options: options.tasks,
      slots: options.slots,
      atWork: active.tasks,
      runLimit: options.runLimit ?? (() => 0),
    },
  });

/** Records a message of the user, and the call of a task that it gives. */
async function deliverInput({ emit }: RunLog, { userInput, attachments, task }: UserInput): Promise<void> {
  await emit({ type: 'message', message: userMessage(userInput, attachments) });
  if (!task) return;
  const call = { id: `task_${randomUUID()}`, name: taskToolName, arguments: { ...task } };
  await emit({ type: 'message', message: { role: 'assistant', content: '', toolCalls: [call] } });
}

async function deliverEach(early: ActiveRun['early'], deliver: (input: ActiveRun['early'][number]) => Promise<void>) {
  while (early.length > 0) {
    await deliver(early[0]!);
    early.shift();
  }
}

function withinLimit(run: Run, { model, small, naming, runLimit = () => 0 }: EngineOptions) {
  const within = runBudget(run, runLimit);
  const held = <Model extends RunModel | undefined>(chosen: Model): Model =>
    chosen && { ...chosen, budget: within(chosen.budget) };
  return {
    model: async (asked?: ModelSelectionRequest) => held(await model(asked)),
    small: async (options?: { quiet: true }) => held(await small?.(options)),
    naming: async () => held(await naming?.()),
  };
}

export const resolveToolHost = async ({ host }: EngineOptions): Promise<ToolHost> =>
  typeof host === 'function' ? host() : host;

export function createRecoveryProbe(
  { run }: RunLog,
  host: ToolHost,
  { store, left = new OrphanedCommands(), background }: EngineOptions,
  undoWorkspace: () => Promise<Workspace | undefined>,
): InterruptedCallProbe {
  const readContent = (id: string) => store.contents.read(run.id, id);
  return {
    left,
    recorded: (snapshot) => host.recorded(snapshot, () => store.contents.newPack(run.id)),
    forgetRecorded: host.forgetRecorded,
    isAttended: createCommandOwnerCheck(background),
    standing: async (doing) => host.standing(doing, await undoWorkspace(), readContent),
  };
}

const nobody: Pick<Agent, 'id' | 'model'> = { id: '' };
