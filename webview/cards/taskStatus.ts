import type { ToolCall } from '../../src/protocol/content/messages.ts';
import { localizedDollars } from '../../src/protocol/run/money.ts';
import type { Run, TaskState } from '../../src/protocol/run/run.ts';
import { isTaskAtWork, openTasks } from '../../src/protocol/run/tasks.ts';
import { errorMessageForUser } from '../../src/protocol/text/codeText.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import { shortenText } from '../../src/protocol/text/shorten.ts';
import type { PanelContext } from '../context.ts';
import { formatCount, formatElapsedTime } from '../time.ts';
import { toolCallCardLine } from './card.ts';
import type { CardStatusIcon } from './cardLine.ts';
import { pieceText } from './cardText.ts';

/** State of a task on its card. `asking`: call of the task that needs an answer of the user. */
interface TaskStatus {
  text: string;
  mark: CardStatusIcon;
  asking?: ToolCall;
}

const longest = 300;

export const taskTitle = ({ name, title }: TaskState): string => escapeInvisibleInLine(`${name}: ${title}`);

/** Returns the calls of the newest reply of a task, with their ids in the run. */
function newestCallsOfTask(id: string, { messages }: TaskState): ToolCall[] {
  const reply = messages.findLast(({ role }) => role === 'assistant');
  return reply?.role === 'assistant' ? callsInRun(id, reply.toolCalls) : [];
}

export const callsInRun = (task: string, calls: readonly ToolCall[] = []): ToolCall[] =>
  calls.map((call) => ({ ...call, id: `${task}:${call.id}` }));

export function taskStatus(context: PanelContext, run: Run, id: string, task: TaskState): TaskStatus {
  if (!isTaskAtWork(task)) return endedStatus(context, task);
  const calls = newestCallsOfTask(id, task);
  const asking = calls.find((call) => toolCallCardLine(context, run, call).mark === 'asks');
  if (asking) {
    const isQuestion = run.calls[asking.id]?.asked !== undefined;
    return { text: t(isQuestion ? 'Waiting for your answer' : 'Waiting for approval'), mark: 'asks', asking };
  }
  if (run.phase !== 'Running') return { text: t('Paused'), mark: 'none' };
  if (task.status === 'queued') return { text: queuedText(run), mark: 'waits' };
  const { steps, maxSteps, usage } = task;
  const parts = [
    activity(context, run, task, calls),
    t('step {0} of {1}', Math.max(1, steps), maxSteps),
    ...(usage.totalTokens > 0 ? [t('{0} tokens', formatCount(usage.totalTokens))] : []),
    ...cost(task),
  ];
  return { text: parts.join(' · '), mark: 'working' };
}

function endedStatus({ now }: PanelContext, task: TaskState): TaskStatus {
  const { status, limit, error, steps, maxSteps, startedAt, endedAt = now } = task;
  if (status === 'done') {
    const time = startedAt === undefined ? [] : [formatElapsedTime(endedAt - startedAt)];
    return {
      text: [t('Done'), t(localizedCount(steps, 'step')), ...cost(task), ...time].join(' · '),
      mark: 'check',
    };
  }
  if (status === 'failed') {
    const reason = errorMessageForUser(error ?? { code: 'UNKNOWN', message: '' });
    return { text: t('Failed: {0}', shortenText(escapeInvisibleInLine(reason), longest)), mark: 'cross' };
  }
  if (limit === undefined) return { text: t('Stopped by you'), mark: 'none' };
  const reached = limit === 'steps' ? t(localizedCount(maxSteps, 'step')) : t('time limit');
  return { text: t('Stopped: {0}', reached), mark: 'none' };
}

const cost = ({ usage }: TaskState): string[] => (usage.cost ? [t(localizedDollars(usage.cost))] : []);

function queuedText(run: Run): string {
  const running = openTasks(run).filter(([, { status }]) => status === 'running').length;
  if (running === 0) return t('Queued');
  return running === 1 ? t('Queued: 1 task is running') : t('Queued: {0} tasks are running', running);
}

/** Describes the running call, else the newest. */
function activity(context: PanelContext, run: Run, { progress }: TaskState, calls: readonly ToolCall[]): string {
  if (progress) return escapeInvisibleInLine(progress.said ? t(progress.said) : progress.text);
  const begun = calls.filter(({ id }) => run.calls[id]?.startedAt !== undefined);
  const call = begun.findLast(({ id }) => run.calls[id]!.status === 'running') ?? begun.at(-1);
  if (!call) return t('Working');
  const { verb, object } = toolCallCardLine(context, run, call);
  return shortenText(escapeInvisibleInLine([verb, ...object.map(pieceText)].join(' ')), longest);
}
