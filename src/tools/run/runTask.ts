import { type TaskRequest, taskBounds } from '../../protocol/content/tasks.ts';
import { taskToolName } from '../../protocol/run/tasks.ts';
import { message } from '../../protocol/text/l10n.ts';
import { fitText } from '../../protocol/text/shorten.ts';
import { type CallContext, createReadOnlyTool, type TaskReport, type Tool, ToolError } from '../core/tool.ts';
import { taskRunDefinition } from '../definitions/userTools.ts';

/**
 * `task.run`: gives a task to an agent with its own conversation and returns its report. The call itself has no effect: each call of the
 * task passes the gate, with at most the permissions of the run.
 */
export const runTaskTool: Tool = {
  ...createReadOnlyTool(taskRunDefinition, async (request, { delegate, keepOutput }) => ({
    ...(await shortenTaskReport(await delegate(request), keepOutput)),
  })),
  waits: true,
  delegates: true,
  onDisk: true,
  describe(args) {
    const { title, agent } = args as TaskRequest;
    return agent === undefined
      ? message('Give a task to an agent: {0}', title)
      : message('Give a task to {0}: {1}', agent, title);
  },
};

/** Shortens the answer in a report, and stores the whole for `output.read`. */
export async function shortenTaskReport(
  report: TaskReport,
  keepOutput: (text: string) => Promise<string>,
): Promise<TaskReport & { outputId?: string }> {
  const { result } = report;
  if (result.length <= taskBounds.report) return report;
  const outputId = (await keepOutput(result)).slice(0, 12);
  return { ...report, result: fitText(result, taskBounds.report), outputId };
}

/** Gives a task to an agent of the run. Throws `ToolError` where none can be given: in a task, or without a run. */
export async function delegateTask(
  { delegate }: Pick<CallContext, 'delegate'>,
  toolCallId: string,
  request: TaskRequest,
): Promise<TaskReport> {
  if (!delegate) throw new ToolError('TOOL_NOT_AVAILABLE', `${taskToolName} is not available here.`);
  return delegate(toolCallId, request);
}
