// @invariant tasks-only-narrow: A task can do nothing that its run may not do, and its result returns whatever happens to other tasks.
import { isUnansweredQuestion, unansweredQuestionCode, userQuestionToolName } from '../../protocol/content/askTool.ts';
import { type Message, type ToolCall, userMessage } from '../../protocol/content/messages.ts';
import type { TaskRequest } from '../../protocol/content/tasks.ts';
import { type ToolDefinition, type ToolOutcome, toToolResult } from '../../protocol/content/tools.ts';
import type { RunEventBody } from '../../protocol/run/events.ts';
import { callsToContinue, pendingCalls } from '../../protocol/run/pending.ts';
import { planToolName } from '../../protocol/run/plan.ts';
import type { TaskState } from '../../protocol/run/run.ts';
import { isTaskAtWork, taskToolName } from '../../protocol/run/tasks.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { StoreError } from '../../runs/journal.ts';
import { limitOutcomeSize, toFailureOutcome, toSuccessOutcome } from '../../tools/core/outcome.ts';
import { type TaskReport, ToolError } from '../../tools/core/tool.ts';
import { shortenTaskReport } from '../../tools/run/runTask.ts';
import { RunAbortedError, RunSuspendedError, type StopPoint } from '../core/abortReason.ts';
import type { RunLog } from '../core/runLog.ts';
import type { TaskConversation, TurnOptions, WorkflowContext } from '../core/workflow.ts';
import { lostOutcome } from '../notices/interruptedCalls.ts';
import { TaskClock } from './taskClock.ts';
import type { TaskAgent, TaskOptions } from './taskOptions.ts';
import { taskReport } from './taskReport.ts';
import type { TaskSlots } from './taskSlots.ts';

/** Model calls of a task whose agent sets no limit. */
const defaultSteps = 20;
const defaultMs = 30 * 60_000;

/** Tools of the conversation with the user, and of further tasks. */
const withheld: ReadonlySet<string> = new Set([userQuestionToolName, planToolName, taskToolName]);

/** The turn of the run that gives the task, which limits it. */
type Giver = Pick<TurnOptions, 'agent' | 'allows' | 'workspace'>;

export interface TaskRunnerOptions {
  log: RunLog;
  signal: AbortSignal;
  options: TaskOptions;
  slots: TaskSlots;
  /** Controllers of the tasks at work, by id, to stop one alone. */
  atWork: Map<string, AbortController>;
  context(): WorkflowContext;
  /** Tests if the model runs on this machine. `namedBy`: agent file that names it. */
  isLocal(model: string | undefined, namedBy: string | undefined): Promise<boolean>;
  isPausing(): boolean;
  /** False while the run waits for approvals of an earlier window only. */
  mayRequest(): boolean;
  keepOutput(text: string): Promise<string>;
  runLimit(): number;
}

type End = Omit<Extract<RunEventBody, { type: 'task-end' }>, 'type' | 'task'>;

/** Runs the tasks of a run from its start or continuation to its next stop point. */
export class TaskRunner {
  /** Model calls of tasks so far; they count in the limit of the run. */
  steps = 0;
  private readonly confirmed = new WeakMap<Message, Promise<boolean>>();

  constructor(private readonly parts: TaskRunnerOptions) {}

  /** False if delegation is switched off. Tasks that have started go on. */
  get isOn(): boolean {
    return this.parts.options.parallel() > 0;
  }

  /**
   * Runs a task, or continues it after a reload or a pause, and returns its report. Throws `ToolError`: `TOOL_UNANSWERED` if the task
   * rests with its run, else it did not start. Rejects with a `StoreError` if the record fails.
   */
  async run(id: string, request: TaskRequest, giver: Giver): Promise<TaskReport> {
    const { run } = this.parts.log;
    const known = run.tasks?.[id];
    if (known && !isTaskAtWork(known)) return taskReport(known);
    if (!known && !this.isOn) throw new ToolError('TOOL_NOT_AVAILABLE', 'The user has switched off tasks.');
    const agent = await this.parts.options.agent(known ? known.agent : request.agent);
    if (!known) await this.begin(id, request, agent);
    const task = run.tasks![id]!;
    if (task.messages.length === 0)
      await this.parts.log.emit({ type: 'task-message', task: id, message: userMessage(request.prompt) });
    const end = await this.work(id, task, agent, giver);
    await this.parts.log.emit({ type: 'task-end', task: id, ...end });
    return taskReport(task);
  }

  /** Continues a recorded task for its call, which passed the gate when it started. */
  async continue({ id, name, arguments: given }: ToolCall, giver: Giver): Promise<ToolOutcome> {
    const { log, signal } = this.parts;
    const startedAt = performance.now();
    let outputId: string | undefined;
    const keepOutput = async (text: string) => (outputId = await this.parts.keepOutput(text));
    const outcome = await this.run(id, given as unknown as TaskRequest, giver).then(
      async (report) => limitOutcomeSize(toSuccessOutcome(await shortenTaskReport(report, keepOutput))),
      (error): ToolOutcome => {
        if (error instanceof StoreError) throw error;
        return toFailureOutcome(error, signal);
      },
    );
    if (isUnansweredQuestion(outcome) || log.run.calls[id]?.ok !== undefined) return outcome;
    const ms = Math.round(performance.now() - startedAt);
    await log.emit({ type: 'tool-end', toolCallId: id, name, ok: outcome.ok, ms, ...(outputId && { outputId }) });
    return outcome;
  }

  private async begin(id: string, { title }: TaskRequest, agent: TaskAgent): Promise<void> {
    const { log } = this.parts;
    const { maxTurns = defaultSteps } = agent.turnOptions(this.parts.context());
    const maxSteps = Math.min(maxTurns, this.parts.context().maxTurns);
    if (!(await this.confirmSpending(maxSteps)))
      throw new ToolError('TOOL_DENIED', 'The user did not start the task: it could exceed the spending limit.');
    const mayChange = agent.mayChange && { mayChange: true as const };
    await log.emit({ type: 'task-start', task: id, title, agent: agent.id, name: agent.name, maxSteps, ...mayChange });
  }

  private async work(id: string, task: TaskState, agent: TaskAgent, giver: Giver): Promise<End> {
    const { log, signal, slots, atWork, options } = this.parts;
    const controller = new AbortController();
    const stopListening = onAbort(signal, (reason) => controller.abort(reason));
    atWork.set(id, controller);
    let free: (() => void) | undefined;
    let clock: TaskClock | undefined;
    try {
      const own = agent.turnOptions(this.parts.context());
      const model = own.agent.model ?? giver.agent.model;
      const namedBy = own.agent.model === undefined ? undefined : agent.id;
      free = await slots.take({
        runId: log.run.id,
        mayChange: agent.mayChange,
        isLocal: await this.parts.isLocal(model, namedBy),
        parallel: () => options.parallel(),
        signal: controller.signal,
      });
      if (signal.aborted || (free && this.parts.isPausing())) throw resting();
      if (!free) return { status: 'stopped' };
      let isTimedOut = false;
      clock = new TaskClock(options.maxMs ?? defaultMs, () => {
        isTimedOut = true;
        controller.abort(RunAbortedError.byPerson());
      });
      await this.settleInterruptedCalls(id, task);
      const turn: TurnOptions = {
        ...own,
        agent: {
          ...own.agent,
          ...(model !== undefined && { model }),
          ...(giver.agent.approval && { approval: giver.agent.approval }),
        },
        allows: (tool) => isAllowed(tool, own, giver),
        extraTools: [],
        ...(giver.workspace && { workspace: giver.workspace }),
        apart: this.conversation(task, {
          id,
          signal: controller.signal,
          observe: (event) => clock?.observe(event),
          ...(namedBy !== undefined && { modelNamedBy: namedBy }),
        }),
      };
      for (;;) {
        if (task.steps >= task.maxSteps) return { status: 'stopped', limit: 'steps' };
        const stop = await this.turns(task, { ...turn, maxTurns: task.maxSteps - task.steps });
        if (signal.aborted) throw resting();
        if (controller.signal.aborted) return isTimedOut ? { status: 'stopped', limit: 'time' } : { status: 'stopped' };
        await log.idle();
        if (!stop.error && task.waiting.length > 0 && !this.parts.isPausing()) continue;
        return this.endOf(task, stop);
      }
    } finally {
      clock?.end();
      free?.();
      atWork.delete(id);
      stopListening();
    }
  }

  private async turns(task: TaskState, turn: TurnOptions): Promise<StopPoint> {
    const before = task.steps;
    try {
      return await this.parts.context().turns(turn);
    } catch (error) {
      if (error instanceof RunSuspendedError) throw resting();
      throw error;
    } finally {
      this.steps += task.steps - before;
    }
  }

  private endOf(task: TaskState, { error }: StopPoint): End {
    if (error?.code === 'ENGINE_MAX_TURNS_EXCEEDED') return { status: 'stopped', limit: 'steps' };
    if (error) return { status: 'failed', error };
    const last = task.messages.at(-1);
    if (last?.role === 'assistant' && !last.incomplete && !last.toolCalls?.length) return { status: 'done' };
    if (this.parts.isPausing() || !this.parts.mayRequest()) throw resting();
    const isDenied = last?.role === 'tool' && last.toolResults.every((result) => result.error === 'TOOL_DENIED');
    if (!isDenied) return { status: 'done' }; // an empty answer after results ends the work
    return { status: 'failed', error: { code: 'TOOL_DENIED', ...toErrorInfo(message('Its calls were denied.')) } };
  }

  private conversation(task: TaskState, of: TaskConversation): NonNullable<TurnOptions['apart']> {
    const { emit } = this.parts.log;
    const { id } = of;
    return {
      task: of,
      get messages() {
        return task.messages;
      },
      get compactions() {
        return task.compactions;
      },
      add: (added) => emit({ type: 'task-message', task: id, message: added }),
      callPrefix: `${id}:`,
    };
  }

  /** Adds results to calls that the end of the editor left open, except those that can still be approved. */
  private async settleInterruptedCalls(id: string, task: TaskState): Promise<void> {
    const { run, emit } = this.parts.log;
    const open = new Set(callsToContinue(task.messages, run.calls, `${id}:`).map((call) => call.id));
    for (const call of pendingCalls(task.messages)) {
      if (open.has(call.id)) continue;
      const toolResults = [toToolResult(call.id, lostOutcome(run, `${id}:${call.id}`))];
      await emit({ type: 'task-message', task: id, message: { role: 'tool', content: '', toolResults } });
    }
  }

  /** Asks once for the tasks of a reply if their calls, at the average cost of the run's calls, could exceed a limit. */
  private confirmSpending(maxSteps: number): Promise<boolean> {
    const { run } = this.parts.log;
    const reply = run.messages.findLast(({ role }) => role === 'assistant');
    if (reply?.role !== 'assistant') return Promise.resolve(true);
    const tasks = (reply.toolCalls ?? []).filter(({ id, name }) => name === taskToolName && !run.tasks?.[id]).length;
    const answer = this.confirmed.get(reply) ?? this.askAboutSpending(tasks, maxSteps);
    this.confirmed.set(reply, answer);
    return answer;
  }

  private async askAboutSpending(tasks: number, maxSteps: number): Promise<boolean> {
    const { log, options, runLimit } = this.parts;
    const { run } = log;
    const spent = run.usage.cost ?? 0;
    if (spent === 0) return true;
    const calls = run.messages.filter(({ role }) => role === 'assistant').length + this.steps;
    const expected = (tasks * maxSteps * spent) / calls;
    const ofRun = runLimit() > 0 && { spent, limit: Math.max(runLimit(), run.allowed ?? 0) };
    if (ofRun && ofRun.spent + expected > ofRun.limit)
      return options.confirmSpending({ runId: run.id, tasks, limit: ofRun.limit, of: 'run' });
    const today = await options.today?.();
    if (today && today.spent + expected > today.limit)
      return options.confirmSpending({ runId: run.id, tasks, limit: today.limit, of: 'day' });
    return true;
  }
}

/** Outcome for a call that rests with its run: it has no result yet. */
const resting = () => new ToolError(unansweredQuestionCode, 'The task rests with its run.');

const isAllowed = (tool: ToolDefinition, own: TurnOptions, giver: Giver): boolean =>
  !withheld.has(tool.name) && (own.allows?.(tool) ?? true) && (giver.allows?.(tool) ?? true);
