import type * as z from 'zod';
import type { Agent, SeparateConversationLog, WorkflowContext } from '../../engine/core/workflow.ts';
import type { ErrorInfo, Message } from '../../protocol/content/messages.ts';
import { storedLocalizableText, UserFacingError } from '../../protocol/text/localized.ts';
import type { ToolSpec, WorkflowFile } from '../plan/schema.ts';
import type { TemplateScope } from '../template/template.ts';

export interface WorkflowActionContext {
  run: WorkflowContext;
  node: string;
  /** Unique in the run; ids of the action's tool calls equal or start with this id. */
  callId: string;
  defaults: NonNullable<WorkflowFile['settings']['llm']>;
  tools: readonly ToolSpec[];
  approval?: Agent['approval'];
  scope: TemplateScope;
  /**
   * Returns the recorded model conversation for this call; absent if an agent calls the action as a tool, because the agent then receives a
   * failure itself.
   */
  conversation?(callId: string): RecordedNodeConversation;
  perform(
    name: string,
    params: Record<string, unknown>,
    context: Omit<WorkflowActionContext, 'perform'>,
  ): Promise<unknown>;
}

export interface RecordedNodeConversation {
  readonly apart: SeparateConversationLog;
  /** Number of messages before the first model call. */
  readonly given: number;
  begin(messages: readonly Message[]): Promise<void>;
}

export interface WorkflowAction {
  /** Schema of the parameters in snake_case; undefined: the parameters of the tool. */
  parameters: z.ZodObject | undefined;
  /** Schema of the result with descriptions; undefined: the result of the tool, or unknown in advance. */
  gives?: z.ZodObject;
  /** Runs with resolved but unvalidated parameters and returns plain data. Throws `WorkflowActionError`, or the signal's reason. */
  run(params: Record<string, unknown>, context: WorkflowActionContext): Promise<unknown>;
}

export class WorkflowActionError extends UserFacingError {
  override readonly name = 'ActionError';
  constructor(readonly info: ErrorInfo) {
    super(storedLocalizableText(info));
  }
}
