import type * as z from 'zod';
import type { Agent, Apart, WorkflowContext } from '../../engine/core/workflow.ts';
import type { ErrorInfo, Message } from '../../protocol/content/messages.ts';
import { localizedMessageIn, UserFacingError } from '../../protocol/text/localized.ts';
import type { ToolSpec, WorkflowFile } from '../plan/schema.ts';
import type { TemplateScope } from '../template/template.ts';

/** What an action works with. */
export interface ActionContext {
  run: WorkflowContext;
  node: string;
  /** Unique in the run; ids of its tool calls are this, or begin with it. */
  callId: string;
  /** `settings.llm` of the workflow. */
  defaults: NonNullable<WorkflowFile['settings']['llm']>;
  /** Tools that the workflow defines; their templates are not filled in yet. */
  tools: readonly ToolSpec[];
  /** Of the agent that it is done for. */
  approval?: Agent['approval'];
  /** What templates can name. */
  scope: TemplateScope;
  /**
   * The recorded conversation with a model in the place of this call; absent where an agent calls the action as a tool, which hears of a
   * failure itself.
   */
  conversation?(callId: string): RecordedConversation;
  /** Another action. */
  perform(name: string, params: Record<string, unknown>, context: Omit<ActionContext, 'perform'>): Promise<unknown>;
}

/** Conversation of a step with a model, in the run's record. */
export interface RecordedConversation {
  readonly apart: Apart;
  /** Number of messages that were there before the model was asked. */
  readonly given: number;
  /** Records the messages that the model is asked with, unless it has answered before. */
  begin(messages: readonly Message[]): Promise<void>;
}

/** A named function that YAML can use. */
export interface Action {
  /** What it takes, in snake_case; undefined: whatever its tool takes. */
  parameters: z.ZodObject | undefined;
  /** What its result holds, with words for each key; undefined: whatever its tool gives, or what cannot be said before. */
  gives?: z.ZodObject;
  /** Parameters are filled in and not yet checked. Gives plain data. Throws `ActionError`, or the signal's reason. */
  run(params: Record<string, unknown>, context: ActionContext): Promise<unknown>;
}

/** Why an action did not work; it ends its node. */
export class ActionError extends UserFacingError {
  override readonly name = 'ActionError';
  constructor(readonly info: ErrorInfo) {
    super(localizedMessageIn(info));
  }
}
