import { type LocalizedMessage, message } from '../protocol/text/l10n.ts';
import type { CheckResult } from './taskResult.ts';
import { modelCheckTasks } from './tasks.ts';

/** Returns the uses that the result of a check supports; undefined if tasks were not run or belong to another version. */
export function suitableUses({ tasks, ended }: Pick<CheckResult, 'tasks' | 'ended'>): LocalizedMessage | undefined {
  const passed = new Map(tasks.map((task) => [task.id, task.passed]));
  if (ended !== undefined || !modelCheckTasks.every(({ id }) => passed.has(id))) return undefined;
  const shown = new Set<string>(modelCheckTasks.filter(({ id }) => passed.get(id)).map(({ needs }) => needs));
  if (shown.size === 0) return message('Use it for text at most. Pick another model for work on files.');
  if (shown.has('change'))
    return tasks.every((task) => task.passed)
      ? message('It can do everything that Towpath requires of a model.')
      : message('It can read and change files, with mistakes. Review its changes.');
  return shown.has('tool')
    ? message('It can call tools, but completed no task that changes files. Use it for questions about code.')
    : message(
        'It completed no task that needs a tool. Use it for questions and text, and pick another model for work on files.',
      );
}
