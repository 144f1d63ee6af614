import type { RunEvent } from '../../protocol/run/events.ts';
import type { ThinkingEffort } from '../../protocol/values/thinkingEffort.ts';
import type { RunStore } from '../../runs/store.ts';
import type { ToolHost } from '../../tools/host/host.ts';
import type { WorkspaceInstructions } from '../../tools/instructions/instructions.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';
import type { OrphanedCommands } from '../../tools/shell/orphanedCommands.ts';
import type { ReadSpendingLimit } from '../core/budget.ts';
import type { Workflow } from '../core/workflow.ts';
import type { TaskOptions } from '../tasks/taskOptions.ts';
import type { ModelSelectionRequest, RunModel } from './runContext.ts';

export interface EngineOptions {
  store: RunStore;
  host: ToolHost | (() => Promise<ToolHost>);
  workflow(id: string): Promise<Workflow>;
  /**
   * Returns the selected model, or the model requested by the user or a workflow file (`provider/model`, or a name at the selected
   * provider). Throws an `Error` with a sentence if unavailable.
   */
  model(asked?: ModelSelectionRequest): Promise<RunModel>;
  /** Model for summaries if configured. Throws like `model`. `quiet`: never shows a dialog. */
  small?(options?: { quiet: true }): Promise<RunModel | undefined>;
  /** Model for titles, if one is available without delaying runs; else the first message is the title. Throws like `model`. */
  naming?(): Promise<RunModel | undefined>;
  modelId?(): string;
  /** Returns the effort selected last for a model (`provider/model`), for a conversation that begins to use the model. */
  effortOf?(id: string): ThinkingEffort | undefined;
  workspace(): Promise<{ names: string[]; virtual?: true }>;
  instructions?: WorkspaceInstructions;
  /** Model calls before the user must continue the run; default 20. */
  maxTurns?(): number;
  temperature?(): number | undefined;
  runLimit?: ReadSpendingLimit;
  /** Tells whether the run is visible to a user; if absent, `on_error` of a workflow decides. */
  isAttended?(runId: string): boolean;
  /** Delegation; absent: `task.run` is not offered. */
  tasks?: TaskOptions;
  left?: OrphanedCommands;
  background?: Pick<BackgroundCommands, 'has'>;
  /** Receives every event. Errors go to `onListenerError`, and the run continues. */
  onEvent(event: RunEvent): void;
  onListenerError?(error: unknown): void;
  now?(): number;
}
