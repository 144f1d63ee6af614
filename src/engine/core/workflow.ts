// @invariant workflows-only-choose: A workflow chooses the next step and acts only through `WorkflowContext`.
import type { AdapterResult, CompletionOptions } from '../../llm/adapter/adapter.ts';
import type { ChatRequest } from '../../llm/core/client.ts';
import type { Compaction } from '../../protocol/content/compaction.ts';
import type { Message, ToolCall } from '../../protocol/content/messages.ts';
import type { WorkflowDiagram } from '../../protocol/content/outline.ts';
import type { ToolDefinition, ToolOutcome } from '../../protocol/content/tools.ts';
import type { RunEventBody } from '../../protocol/run/events.ts';
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
  outline?: WorkflowDiagram;
  /**
   * Advances the run from its current position to a stop point. Called at the start, after each message and on continue; new messages are
   * in `run.messages`. The position is stored only in `run`.
   */
  advance(context: WorkflowContext): Promise<StopPoint>;
  usedLater?(node: string, step: number): string[];
  /** Returns the workspace for an undo at rest, if different from the open workspace. Throws an `Error` with a sentence. */
  undoing?(context: Pick<WorkflowContext, 'run' | 'emit'>): Promise<Workspace>;
}

/**
 * Capabilities of a workflow during one advance to a stop point.
 * - `intent`: `continue` after a new message, a limit or a reload; `values`: start values of the run, empty on continue.
 * - `pausing`: the user requested a pause at the next turn boundary (`WaitingUser`); `isAttended`: a user sees the run and can decide.
 * - `tools`: tools of the workspace in a stable order; `reads`: read-only tools, which need no approval; `onlyReads`: tools without
 * effects, with or without an approval.
 * - `emit`: resolves after a stored event is on disk; rejects with a `StoreError`, to be handled by the engine.
 * - `receiveMessages`: delivers queued messages for this turn; `turns` does so itself.
 */
export interface WorkflowContext {
  readonly run: Run;
  readonly intent: 'start' | 'continue';
  readonly signal: AbortSignal;
  readonly pausing: boolean;
  readonly isAttended: boolean;
  readonly values: Readonly<Record<string, unknown>>;
  readonly maxTurns: number;
  readonly tools: readonly ToolDefinition[];
  reads(tool: string): boolean;
  onlyReads(tool: string): boolean;
  emit(event: RunEventBody): Promise<void>;
  receiveMessages(): Promise<void>;
  /** Runs the loop as `agent` until a stop point. The run has one conversation: concurrent callers wait. */
  turns(options: TurnOptions): Promise<StopPoint>;
  /**
   * Calls a model outside of the conversation. Tokens are counted; streamed output is displayed at `node`. Rejects with `RunSuspendedError`
   * above a spending limit.
   */
  complete(
    request: Omit<ChatRequest, 'model'> & { model?: string },
    options: WorkflowModelCallOptions,
  ): Promise<AdapterResult>;
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
  free: boolean;
  /** Returns the corrected arguments of a call. Throws `ToolError` for rejected arguments. */
  understood(call: ToolCall): ToolCall['arguments'];
  run(call: ToolCall): Promise<ToolOutcome>;
}

export interface TurnOptions {
  agent: Agent;
  allows?(tool: ToolDefinition): boolean;
  extraTools?: readonly ExtraTool[];
  /** Names of tools to offer even if another offered tool covers them. */
  needed?: readonly string[];
  isComplete?(): boolean;
  handsBack?(): boolean;
  maxTurns?: number;
  workspace?: Workspace;
  request?: Partial<Omit<ChatRequest, 'model' | 'messages' | 'tools'>>;
  apart?: SeparateConversationLog;
  onlyCompacts?: true;
  brief?: string;
}

/**
 * Conversation beside that of the run: of a workflow node or a task. `callPrefix`: its calls are recorded under this prefix and their id.
 */
export interface SeparateConversationLog {
  node?: string;
  task?: TaskConversation;
  readonly messages: Message[];
  /** Records a message and adds it to `messages`. If absent, messages are not recorded. */
  add?(message: Message): Promise<void>;
  /** No agent and no instructions; replies are displayed when complete, so that an interrupted reply can be retried. */
  bare?: true;
  conversation?: string;
  readonly callIds?: Readonly<Record<string, string>>;
  readonly compactions?: readonly Compaction[];
  branch?: string;
  callPrefix: string;
}

interface WorkflowModelCallOptions
  extends Omit<CompletionOptions, 'signal' | 'onChunk' | 'shows' | 'onRetry' | 'onWait'> {
  node: string;
  onText?(text: string): void;
}

/** `signal` stops the task alone; `observe` receives the events of its calls; `modelNamedBy`: agent file that names the model. */
export interface TaskConversation {
  id: string;
  signal: AbortSignal;
  observe(event: RunEventBody): void;
  modelNamedBy?: string;
}
