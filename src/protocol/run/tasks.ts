import { createCompactionRecord } from '../content/compaction.ts';
import { createDictionary, sortedDictionaryEntries } from '../values/dictionary.ts';
import type { RunEvent } from './events.ts';
import { addUsage, appendStreamedReply, type Run, type TaskState } from './run.ts';

export const taskToolName = 'task.run';

export type TaskEvent = Extract<RunEvent, { task?: string }>;

export const taskOfEvent = (event: RunEvent): string | undefined => (event as TaskEvent).task;

/** Folds an event of a task into the tasks of its run, in place. The usage of the run is counted by the caller. */
export function applyTaskEvent(run: Pick<Run, 'tasks'>, event: TaskEvent): void {
  run.tasks ??= createDictionary();
  const id = event.task!;
  if (event.type === 'task-start') {
    const { title, agent, name, maxSteps, mayChange } = event;
    run.tasks[id] = { ...newTask, title, agent, name, maxSteps, ...(mayChange && { mayChange }), ...emptyLists() };
    return;
  }
  const task = run.tasks[id];
  if (!task) return;
  if (event.type !== 'progress') delete task.progress;
  switch (event.type) {
    case 'task-message':
      if (event.message.role === 'assistant') {
        delete task.live;
        task.steps++;
      }
      if (event.queued !== undefined) task.waiting = task.waiting.filter(({ queued }) => queued !== event.queued);
      task.messages.push(event.message);
      task.messageTimes.push(event.at);
      break;
    case 'task-end':
      delete task.live;
      task.status = event.status;
      task.endedAt = event.at;
      if (event.limit) task.limit = event.limit;
      if (event.error) task.error = event.error;
      break;
    case 'queued': {
      const { text, attachments, seq: queued, when = 'turn' } = event;
      task.waiting.push({ text, ...(attachments && { attachments }), queued, when });
      break;
    }
    case 'request':
    case 'usage':
      begin(task, event.at);
      if (event.type === 'request') break;
      task.model = event.model;
      addUsage(task, event.usage);
      break;
    case 'compaction':
      task.compactions.push(createCompactionRecord(event, task.messages.length));
      break;
    case 'chunk':
      task.live ??= { content: '', thinking: '', calls: [] };
      appendStreamedReply(task.live, event);
      break;
    case 'progress': {
      const { type: _, runId: __, seq: ___, at: ____, task: _____, ...progress } = event;
      task.progress = progress;
      break;
    }
  }
}

export const isTaskAtWork = ({ status }: Pick<TaskState, 'status'>): boolean =>
  status === 'queued' || status === 'running';

/** Returns the tasks of a run that have not ended, in the order of their ids. */
export const openTasks = ({ tasks }: Pick<Run, 'tasks'>): [task: string, state: TaskState][] =>
  tasks ? sortedDictionaryEntries(tasks).filter(([, task]) => isTaskAtWork(task)) : [];

/** Returns the id of the task that a call belongs to; undefined: the call is the run's own. */
export function taskOfCall({ tasks }: Pick<Run, 'tasks'>, toolCallId: string): string | undefined {
  if (!tasks) return undefined;
  for (let end = toolCallId.indexOf(':'); end >= 0; end = toolCallId.indexOf(':', end + 1)) {
    const id = toolCallId.slice(0, end);
    if (Object.hasOwn(tasks, id)) return id;
  }
  return undefined;
}

/** Returns the id of the call in the run's own conversation that a call belongs to: itself, or the call that gave its task. */
export const conversationCallId = (run: Pick<Run, 'tasks'>, toolCallId: string): string =>
  taskOfCall(run, toolCallId) ?? toolCallId;

/** Returns the title of the task that a call belongs to; undefined: the call is the run's own, or the run is not live. */
export function taskTitleOfCall(run: Pick<Run, 'tasks'> | undefined, toolCallId: string): string | undefined {
  const task = run && taskOfCall(run, toolCallId);
  return task === undefined ? undefined : run!.tasks![task]!.title;
}

function begin(task: TaskState, at: number): void {
  task.startedAt ??= at;
  if (task.status === 'queued') task.status = 'running';
}

const newTask = {
  status: 'queued',
  steps: 0,
  model: '',
  usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
} as const;

const emptyLists = (): Pick<TaskState, 'messages' | 'messageTimes' | 'compactions' | 'waiting'> => ({
  messages: [],
  messageTimes: [],
  compactions: [],
  waiting: [],
});
