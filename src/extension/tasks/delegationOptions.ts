import type { TaskOptions } from '../../engine/tasks/taskOptions.ts';
import { builtInTaskAgents } from '../../workflows/agents/taskAgents.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { spendingQuestion } from './spendingQuestion.ts';
import type { TaskAgentList } from './taskAgentList.ts';

interface Dependencies {
  parallel(): number;
  today: TaskOptions['today'];
  list: Pick<TaskAgentList, 'find' | 'use'>;
  dialogs: Pick<Dialogs, 'askWhenQuiet'>;
  /** Title of a run that is not the shown one; undefined: it is shown. */
  otherRun(runId: string): string | undefined;
}

/** Creates the delegation of the engine from the settings, the agents and the dialogs of this window. */
export const createTaskOptions = ({ parallel, today, list, dialogs, otherRun }: Dependencies): TaskOptions => ({
  parallel,
  today,
  agent: async (idOrName) =>
    idOrName === undefined ? builtInTaskAgents.explorer : list.use(await list.find(idOrName)),
  async confirmSpending({ runId, ...subject }) {
    const { start, ...question } = spendingQuestion(subject, otherRun(runId));
    return (await dialogs.askWhenQuiet(question)) === start;
  },
});
