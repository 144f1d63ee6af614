import type { TaskOptions } from '../../engine/tasks/taskOptions.ts';
import { localizedDollars } from '../../protocol/run/money.ts';
import { t, withDigitGrouping } from '../../protocol/text/l10n.ts';
import { safeRunTitle } from '../dialogs/approvalText.ts';
import type { DialogQuestion } from '../dialogs/dialogs.ts';

type SpendingQuestion = Parameters<TaskOptions['confirmSpending']>[0];

/**
 * Returns the question before tasks that could exceed a spending limit, and the button that starts them. Enter presses the other one.
 * @param run title of the run, if not the shown one
 */
export function spendingQuestion(
  { tasks, limit, of }: Pick<SpendingQuestion, 'tasks' | 'limit' | 'of'>,
  run?: string,
): DialogQuestion & { start: string } {
  const isOne = tasks === 1;
  const start = isOne ? t('Start Task') : t('Start Tasks');
  const values = [...(isOne ? [] : [withDigitGrouping(tasks)]), localizedDollars(limit)];
  return {
    text: t(isOne ? one[of] : several[of], ...values),
    ...(run !== undefined && { detail: t('“{0}”', safeRunTitle(run)) }),
    buttons: [t("Don't Start"), start],
    start,
  };
}

const several = {
  run: 'Start {0} tasks? They could exceed the limit of {1} for this run.',
  day: 'Start {0} tasks? They could exceed the limit of {1} for today.',
} as const;

const one = {
  run: 'Start the task? It could exceed the limit of {0} for this run.',
  day: 'Start the task? It could exceed the limit of {0} for today.',
} as const;
