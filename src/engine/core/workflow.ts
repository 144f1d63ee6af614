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

/**
 * Agent of a run. `model`: `provider/model`, or a model of the selected provider; absent: the selected model. `approval: 'ask'`: grants and
 * presets do not apply. An agent never widens the policy of the user.
 */
export interface Agent {
  id: string;
  name: string;
  instructions: string;
  model?: string;
  approval?: 'ask';
}

/**
 * Workflow of a run. `agent`: the agent of a new run; `speaker`: the current agent, if variable; `outline`: the drawable form, if it has
 * nodes.
 */
export interface Workflow {
  id: string;
  agent: Agent;
  speaker?(run: Run): Agent;
  outline?: Outline;
  /**
   * Advances the run from its current position to a stop point. Called at the start, after each message and on continue; new messages are
   * in `run.messages`. The position is stored only in `run`.
   */
  advance(context: WorkflowContext): Promise<StopPoint>;
  /** Result names of a node's step that the workflow reads later. */
  usedLater?(node: string, step: number): string[];
  /** Returns the workspace for an undo at rest, if different from the open workspace. Throws an `Error` with a sentence. */
  undoing?(context: Pick<WorkflowContext, 'run' | 'emit'>): Promise<Workspace>;
}

/** Capabilities of a workflow during one advance to a stop point. */
export interface WorkflowContext {
  /** Live fold of the run's events. */
  readonly run: Run;
  /** `continue`: after a new message, a limit or a reload. */
  readonly intent: 'start' | 'continue';
  readonly signal: AbortSignal;
  /** The user requested a pause at the next turn boundary: `WaitingUser`. */
  readonly pausing: boolean;
  /** The run is visible to a user, who can decide. */
  readonly isAttended: boolean;
  /** Start values of the run; empty on continue. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly maxTurns: number;
  /** Tools of the workspace in a stable order. */
  readonly tools: readonly ToolDefinition[];
  /** True for read-only tools, which need no approval. */
  reads(tool: string): boolean;
  /** True for tools without effects, with or without an approval. */
  onlyReads(tool: string): boolean;
  /** Resolves after a stored event is on disk; rejects with a `StoreError`, to be handled by the engine. */
  emit(event: EventBody): Promise<void>;
  /** Delivers queued messages for this turn; `turns` does so itself. */
  hear(): Promise<void>;
  /** Runs the loop as `agent` until a stop point. The run has one conversation: concurrent callers wait. */
  turns(options: TurnOptions): Promise<StopPoint>;
  /**
   * Calls a model outside of the conversation. Tokens are counted; streamed output is displayed at `node`. Rejects with `RunSuspended`
   * above a spending limit.
   */
  complete(request: Omit<ChatRequest, 'model'> & { model?: string }, options: CallOptions): Promise<AdapterResult>;
  /**
   * Runs a tool through the gate for its effect, with the events of a model's call. An effect that already exists is a success, and a
   * recorded effect of this call from before a restart is not repeated. The data of a file tool reports `changed`. Throws only storage
   * errors.
   *
   * @param approval approval mode of the agent
   */
  execute(call: ToolCall, approval?: Agent['approval']): Promise<ToolOutcome>;
}

export interface ExtraTool {
  definition: ToolDefinition;
  /** Read-only: may start during the stream, in parallel with other calls. */
  free: boolean;
  /** Returns the corrected arguments of a call. Throws `ToolError` for rejected arguments. */
  understood(call: ToolCall): ToolCall['arguments'];
  /** Runs the call; effects go through `WorkflowContext.execute`. */
  run(call: ToolCall): Promise<ToolOutcome>;
}

export interface TurnOptions {
  agent: Agent;
  /** Filter of the workspace tools; absent: all. */
  allows?(tool: ToolDefinition): boolean;
  /** Tools listed before the workspace tools; equal names override. */
  extraTools?: readonly ExtraTool[];
  /** Decides after a reply without tool calls: `Completed`, or `WaitingUser` if absent. */
  isComplete?(): boolean;
  /** Checked after each turn: true returns control to the workflow (`WaitingUser`). */
  handsBack?(): boolean;
  maxTurns?: number;
  /** Workspace of the tools instead of the open workspace. */
  workspace?: Workspace;
  request?: Partial<Omit<ChatRequest, 'model' | 'messages' | 'tools'>>;
  /** Conversation separate from the run's conversation. */
  apart?: Apart;
  /** Compaction only, without a turn. */
  onlyRoom?: true;
  /** Task of the node in a system message, retained verbatim by compactions. */
  brief?: string;
}

export interface Apart {
  node: string;
  readonly messages: Message[];
  /** Records a message and adds it to `messages`. If absent, messages are not recorded. */
  add?(message: Message): Promise<void>;
  /** No agent and no instructions; replies are displayed when complete, so that an interrupted reply can be retried. */
  bare?: true;
  /** Key of a recorded step conversation (`node-message`). */
  conversation?: string;
  /** Run call ids by the model's ids, if recorded. */
  readonly callIds?: Readonly<Record<string, string>>;
  readonly compactions?: readonly Compaction[];
  branch?: string;
  /** Prefix that makes call ids unique in the run. */
  callPrefix: string;
}

export interface CallOptions extends Omit<CompleteOptions, 'signal' | 'onChunk' | 'shows' | 'onRetry' | 'onWait'> {
  node: string;
  onText?(text: string): void;
}
