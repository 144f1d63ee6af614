import type { TurnOptions, WorkflowContext } from '../core/workflow.ts';

/** Agent that receives a task. `mayChange`: it has tools that change files or run commands. */
export interface TaskAgent {
  id: string;
  name: string;
  mayChange: boolean;
  /** Returns the turn of the agent. The tools of the run that gives the task are narrowed further, and never extended. */
  turnOptions(run: WorkflowContext): TurnOptions;
}

/** Settings of delegation and its questions to the user. */
export interface TaskOptions {
  /** Number of tasks of a run that work at the same time; 0 switches delegation off. */
  parallel(): number;
  /** Milliseconds of work of one task without the time for approvals; default 30 minutes. */
  maxMs?: number;
  /** Finds the agent of a task, and asks for a consent to its file if necessary. Throws a `RunError` or `ToolError` with the reason. */
  agent(idOrName: string | undefined): Promise<TaskAgent>;
  /** Reads the spending of this day and its limit in US dollars; undefined: no limit applies, or it is checked at each request only. */
  today?(): Promise<{ spent: number; limit: number } | undefined>;
  /** Asks the user before tasks that could exceed a spending limit (US dollars). Resolves to false if they must not start. */
  confirmSpending(question: { runId: string; tasks: number; limit: number; of: 'run' | 'day' }): Promise<boolean>;
}
