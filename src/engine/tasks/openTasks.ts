import { toToolResult } from '../../protocol/content/tools.ts';
import { pendingCalls } from '../../protocol/run/pending.ts';
import type { Run } from '../../protocol/run/run.ts';
import { isTaskAtWork, openTasks, taskToolName } from '../../protocol/run/tasks.ts';
import { limitOutcomeSize, toSuccessOutcome } from '../../tools/core/outcome.ts';
import { shortenTaskReport } from '../../tools/run/runTask.ts';
import { RunAbortedError } from '../core/abortReason.ts';
import type { RunLog } from '../core/runLog.ts';
import type { ActiveRun } from '../input/activeRun.ts';
import type { UserInput } from '../input/questionQueue.ts';
import { type InputDependencies, userTextOf } from '../input/userInput.ts';
import { taskReport } from './taskReport.ts';

/** Returns the `task.run` calls without a result. Their tasks go on with the run. */
const openTaskCalls = ({ messages }: Pick<Run, 'messages'>) =>
  pendingCalls(messages).filter(({ name }) => name === taskToolName);

/**
 * Prepares the tasks of a run at rest for new input. They go on, and the input is queued for the next turn of the run; after a stop by the
 * user, they end with what they have found.
 */
export async function settleOpenTasks(
  log: RunLog,
  active: Pick<ActiveRun, 'early'>,
  keepOutput: (text: string) => Promise<string>,
): Promise<void> {
  const { run, emit } = log;
  const open = openTaskCalls(run);
  if (open.length === 0) return;
  const { code, reason } = run.error ?? {};
  const isReplaced = run.queued.some(({ when }) => when === 'now');
  if (isReplaced || (active.early.length > 0 && code === 'ENGINE_ABORTED' && reason !== 'closed')) {
    for (const { id, name } of open) {
      const task = run.tasks?.[id];
      if (!task) continue; // it did not start
      if (isTaskAtWork(task)) await emit({ type: 'task-end', task: id, status: 'stopped' });
      let outputId: string | undefined;
      const keep = async (text: string) => (outputId = await keepOutput(text));
      const outcome = limitOutcomeSize(toSuccessOutcome(await shortenTaskReport(taskReport(task), keep)));
      if (run.calls[id]?.ok === undefined)
        await emit({ type: 'tool-end', toolCallId: id, name, ok: true, ms: 0, ...(outputId && { outputId }) });
      const toolResults = [toToolResult(id, outcome)];
      await emit({ type: 'message', message: { role: 'tool', content: '', toolResults } });
    }
    return;
  }
  while (active.early.length > 0) {
    await emit({ type: 'queued', ...userTextOf(active.early[0]!) });
    active.early.shift();
  }
}

/** Stops a task of a run, or all of them; the run goes on. A task at rest ends, too. Resolves when all is recorded. */
export async function stopTasks(dependencies: InputDependencies, runId: string, task?: string): Promise<void> {
  const active = dependencies.active.get(runId);
  const run = await dependencies.read(runId).catch(() => undefined);
  for (const [id] of run ? openTasks(run) : []) {
    if (task !== undefined && id !== task) continue;
    const controller = active?.tasks.get(id);
    if (controller) controller.abort(RunAbortedError.byPerson());
    else await dependencies.note(runId, { type: 'task-end', task: id, status: 'stopped' });
  }
}

/** Queues a message of the user for a task. Resolves to false if the task has ended. */
export async function sayToTask(
  dependencies: InputDependencies,
  runId: string,
  task: string,
  input: UserInput,
): Promise<boolean> {
  const run = await dependencies.read(runId).catch(() => undefined);
  const state = run?.tasks?.[task];
  if (!state || !isTaskAtWork(state)) return false;
  return (await dependencies.note(runId, { type: 'queued', ...userTextOf(input), task })) === undefined;
}
