import type { RunEvent } from '../../protocol/run/events.ts';
import type { RunStore } from '../../runs/store.ts';
import type { ToolHost } from '../../tools/host/host.ts';
import type { WorkspaceInstructions } from '../../tools/instructions/instructions.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';
import type { LeftCommands } from '../../tools/shell/orphanedCommands.ts';
import type { ReadLimit } from '../core/budget.ts';
import type { Workflow } from '../core/workflow.ts';
import type { AskedModel, RunModel } from './runContext.ts';

/** What the runs of a window work with. */
export interface EngineOptions {
  store: RunStore;
  /** Always this one, or what gives it once a run first needs it; what that throws is the run's failure. */
  host: ToolHost | (() => Promise<ToolHost>);
  /** Throws an `EngineError` with a sentence for the person when there is none of this id, or it is not in order. */
  workflow(id: string): Promise<Workflow>;
  /**
   * The model chosen now, or the one called so (`provider/model`, or a name at the chosen provider) by the person or the file
   * that a run follows. Throws an `Error` with a sentence for the person when there is none to talk to.
   */
  model(asked?: AskedModel): Promise<RunModel>;
  /**
   * The model for small work (summaries) where the person has one for it; else the run's own does it. Throws as `model`.
   * `quiet`: also where the person would have to be asked something for it.
   */
  small?(how?: { quiet: true }): Promise<RunModel | undefined>;
  /** The one that names runs, where there is one that is in nobody's way; without it their first words do. Throws as `model`. */
  naming?(): Promise<RunModel | undefined>;
  /** What the model chosen now is called (`provider/model`), known before there is one to talk to: for the record. */
  modelId?(): string;
  /** The names of the open folders. */
  workspace(): Promise<{ names: string[]; virtual?: true }>;
  /** What those say to agents; without it nobody looks. */
  instructions?: WorkspaceInstructions;
  /** Model calls before the person is asked whether it should go on; 20 unless said. */
  maxTurns?(): number;
  /** Temperature of requests in a conversation that say none; undefined: the provider's. */
  temperature?(): number | undefined;
  /** What a run may spend before the person is asked; without it there is no limit. */
  runLimit?: ReadLimit;
  /** Tells whether a person has the run before them; without it nobody has, and `on_error` of a workflow decides. */
  isAttended?(runId: string): boolean;
  /** Commands that outlived an editor. */
  left?: LeftCommands;
  /** Commands that go on in this window. */
  background?: Pick<BackgroundCommands, 'has'>;
  /** Receives every event of every run. What it throws is reported to `onListenerError`, and the run goes on. */
  tell(event: RunEvent): void;
  /** Reports a listener that threw or rejected. */
  onListenerError?(error: unknown): void;
  now?(): number;
}
