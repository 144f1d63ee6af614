import type { AdapterResult, CompleteOptions } from '../../llm/adapter/adapter.ts';
import type { ChatRequest } from '../../llm/core/client.ts';
import type { Compaction } from '../../protocol/content/compaction.ts';
import type { Message, ToolCall } from '../../protocol/content/messages.ts';
import type { Outline } from '../../protocol/content/outline.ts';
import type { ToolDefinition, ToolOutcome } from '../../protocol/content/tools.ts';
import type { EventBody } from '../../protocol/run/events.ts';
import type { Run } from '../../protocol/run/run.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { StopPoint } from './abortReason.ts';

/** Who speaks to the model, besides the person. */
export interface Agent {
  id: string;
  name: string;
  instructions: string;
  /** `provider/model`, or a model's name at the provider that is chosen; absent: the model chosen now. */
  model?: string;
  /** `ask`: what was allowed for the run, or by a setting, is asked about all the same. Never wider than the person's own. */
  approval?: 'ask';
}

/** The plan a run follows. */
export interface Workflow {
  id: string;
  /** Who speaks to the model when a new run begins. */
  agent: Agent;
  /** Who speaks in this run, where that is not always the same. */
  speaker?(run: Run): Agent;
  /** All of it, to be shown, when it has nodes. */
  outline?: Outline;
  /**
   * Takes the run from where it stands to a stop point. Called on start, on every message and on continue; what the person
   * said is in `run.messages` by then. Where the run stands is in `run`, and nowhere else.
   */
  advance(context: WorkflowContext): Promise<StopPoint>;
  /** Names that the workflow reads of the result of a step of a node. */
  usedLater?(node: string, step: number): string[];
  /** Where changes of a run at rest are undone, when that is not only the workspace. Throws an `Error` with a sentence. */
  undoing?(context: Pick<WorkflowContext, 'run' | 'emit'>): Promise<Workspace>;
}

/** What a workflow may do, for one way from where a run stands to a stop point. */
export interface WorkflowContext {
  /** The live fold of the run's events. */
  readonly run: Run;
  /** `continue`: with new words, after a limit, or after a reload. */
  readonly intent: 'start' | 'continue';
  readonly signal: AbortSignal;
  /** The person wants it to rest at the next good moment: `WaitingUser`. */
  readonly pausing: boolean;
  /** A person has the run before them, and can decide. */
  readonly isAttended: boolean;
  /** Values that the run was started with; empty when it goes on. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The limit of the person's settings. */
  readonly maxTurns: number;
  /** What the workspace offers now, in an order that never changes. */
  readonly tools: readonly ToolDefinition[];
  /** The tool of this name only reads, so it is never asked about. */
  reads(tool: string): boolean;
  /** The tool of this name changes nothing, whether it is asked about or not. */
  onlyReads(tool: string): boolean;
  /** Resolves when a stored event is on disk; rejects with a `StoreError`, which is for the engine to handle. */
  emit(event: EventBody): Promise<void>;
  /** Adds what the person has said for this turn to the conversation; `turns` does so by itself. */
  hear(): Promise<void>;
  /** The one loop, as `agent`, until a stop point. The run has one conversation: a second caller waits for the first. */
  turns(options: TurnOptions): Promise<StopPoint>;
  /**
   * One model call outside the conversation. Its tokens are counted; what it says is shown with `node` when it is streamed. Rejects with
   * `RunSuspended` where it would cost more than the person allows.
   */
  complete(request: Omit<ChatRequest, 'model'> & { model?: string }, options: CallOptions): Promise<AdapterResult>;
  /**
   * One tool through the gate, for its effect: the same events as for a model's call, but what is so already is a success, and what
   * this very call is known to have done before the editor's end is not done again. Data of a tool that changes files says which it
   * was (`changed`). Never throws but for a store that fails.
   * @param approval of the agent that it is done for
   */
  execute(call: ToolCall, approval?: Agent['approval']): Promise<ToolOutcome>;
}

/** A tool of the workflow's own. */
export interface ExtraTool {
  definition: ToolDefinition;
  /** Only reads: it may start while the model is still writing, and beside others. */
  free: boolean;
  /** Returns the arguments of a call as they are meant. Throws `ToolError` for those that it refuses. */
  understood(call: ToolCall): ToolCall['arguments'];
  /** What it does to the world it does through `WorkflowContext.execute`. */
  run(call: ToolCall): Promise<ToolOutcome>;
}

export interface TurnOptions {
  agent: Agent;
  /** Which of the workspace's tools are offered and run; without it all. */
  allows?(tool: ToolDefinition): boolean;
  /** Offered before the workspace's; one with the name of a workspace tool stands in for it. */
  extraTools?: readonly ExtraTool[];
  /** Asked at a reply without tool calls: `Completed`, or (without it) the person's turn. */
  isComplete?(): boolean;
  /** Asked after each turn: true hands back to the workflow (`WaitingUser`), which says something and goes on. */
  handsBack?(): boolean;
  maxTurns?: number;
  /** What the tools see instead of the workspace. */
  workspace?: Workspace;
  /** How the model is asked: `temperature`, `toolChoice`, … */
  request?: Partial<Omit<ChatRequest, 'model' | 'messages' | 'tools'>>;
  /** A conversation apart from the run's. */
  apart?: Apart;
  /** No turn is taken: room is made in its window, as far as there is something to leave out. */
  onlyRoom?: true;
  /** What the conversation told the model to do here, in a system message: it stays as it was said when room is made. */
  brief?: string;
}

export interface Apart {
  node: string;
  /** What was said so far. */
  readonly messages: Message[];
  /** Records the next message, and `messages` has it then. Without it, it is pushed to `messages`, and is lost with the window. */
  add?(message: Message): Promise<void>;
  /**
   * A model is asked without an agent: no instructions are added. A reply is shown when it is whole, so that one that breaks off can
   * be asked for again.
   */
  bare?: true;
  /** Key of a recorded conversation of a step (`node-message`). */
  conversation?: string;
  /** Ids that its calls have in the run, by the model's ids, where it is recorded by them. */
  readonly callIds?: Readonly<Record<string, string>>;
  /** What was done about its model's window so far, where that is kept as well: with this branch. */
  readonly compactions?: readonly Compaction[];
  branch?: string;
  /** Ids of its calls begin with this, so that they are unique in the run. */
  callPrefix: string;
}

export interface CallOptions extends Omit<CompleteOptions, 'signal' | 'onChunk' | 'shows' | 'onRetry' | 'onWait'> {
  node: string;
  /** Shows the reply while it comes; called with each piece of its text, too. */
  onText?(text: string): void;
}
