import type { TaskState } from '../../protocol/run/run.ts';
import { toEnglishText } from '../../protocol/text/l10n.ts';
import { storedLocalizableText } from '../../protocol/text/localized.ts';
import type { TaskReport } from '../../tools/core/tool.ts';

/** Returns the report of an ended task: its last answer, whole. */
export function taskReport(task: TaskState): TaskReport {
  const { status, steps, messages } = task;
  const result = messages.findLast((one) => one.role === 'assistant' && one.content.trim() !== '')?.content ?? '';
  const reason = reasonOf(task);
  return { status: status as TaskReport['status'], result, ...(reason !== undefined && { reason }), steps };
}

function reasonOf({ status, limit, error }: TaskState): string | undefined {
  if (error) return toEnglishText(storedLocalizableText(error));
  if (status !== 'stopped') return undefined;
  return limit === undefined ? 'The user stopped it.' : `It reached its limit of ${limit}.`;
}
