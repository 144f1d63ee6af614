import type { Message } from '../../src/protocol/content/messages.ts';
import { newRun, type Run, type TaskState } from '../../src/protocol/run/run.ts';
import { isTaskAtWork } from '../../src/protocol/run/tasks.ts';
import { callsInRun } from '../cards/taskStatus.ts';

const views = new WeakMap<TaskState, Run>();

/**
 * Returns the conversation of a task as a run, with the id and the call states of its run. Calls have their ids in the run, so that their
 * cards act on it. The same task gives the same object, with new messages appended.
 */
export function runOfTask(run: Run, id: string): Run | undefined {
  const task = run.tasks?.[id];
  if (!task) return undefined;
  const shown = views.get(task) ?? newRun(run.id);
  views.set(task, shown);
  for (const message of task.messages.slice(shown.messages.length)) shown.messages.push(inRun(id, message));
  const isAtWork = isTaskAtWork(task);
  const stop = { code: 'ENGINE_ABORTED', message: '' };
  return Object.assign(shown, {
    seq: run.seq,
    phase: isAtWork ? run.phase : 'Completed',
    error: task.error ?? (isAtWork ? run.error : task.status === 'stopped' ? stop : undefined),
    calls: run.calls,
    asking: run.asking,
    held: run.held,
    queued: task.waiting,
    undos: run.undos,
    readOnly: run.readOnly,
    progress: task.progress,
    live: task.live,
    messageTimes: task.messageTimes,
    compactions: task.compactions,
  } satisfies { [Key in keyof Run]?: Run[Key] | undefined });
}

function inRun(task: string, message: Message): Message {
  if (message.role === 'assistant' && message.toolCalls)
    return { ...message, toolCalls: callsInRun(task, message.toolCalls) };
  if (message.role !== 'tool') return message;
  return {
    ...message,
    toolResults: message.toolResults.map((one) => ({ ...one, toolCallId: `${task}:${one.toolCallId}` })),
  };
}
