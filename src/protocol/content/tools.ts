import type { Code, OutcomeReason } from '../text/codes.ts';
import type { Attachment, ErrorInfo, ToolResult } from './messages.ts';

/** A tool as a model sees it. Names have dots (`fs.read`); each wire turns them into what its provider accepts. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON schema of the arguments; always an object. */
  parameters: JsonSchema;
  /** The name of the tool that does the work of this one as well. */
  within?: string;
}

/** What a model is told of the tools that it may call: not of one whose work another one of them does as well. */
export function offeredTools(tools: readonly ToolDefinition[]): ToolDefinition[] {
  const names = new Set(tools.map(({ name }) => name));
  return tools.filter(({ within }) => within === undefined || !names.has(within));
}

export interface JsonSchema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  [keyword: string]: unknown;
}

/**
 * What running a call gave, with its pictures beside the data, and what the loop has to say to it (`hint`). A tool fails as a
 * value, because the model should read it.
 */
export type ToolOutcome =
  | { ok: true; data: unknown; attachments?: Attachment[]; hint?: string }
  | { ok: false; error: ErrorInfo };

/** The one bridge from what happened to what the model is told. */
export function toToolResult(toolCallId: string, outcome: ToolOutcome): ToolResult {
  if (!outcome.ok) {
    const { said: _, links: __, ...error } = outcome.error; // in English alone, without buttons
    return { toolCallId, content: JSON.stringify({ ok: false, error }), error: error.code };
  }
  const { attachments, ...told } = outcome;
  return { toolCallId, content: JSON.stringify(told), ...(attachments && { attachments }) };
}

/** Details of an outcome whose cause its code leaves open. */
export const because = (reason: OutcomeReason, more: object = {}): object => ({ ...more, reason });

export function failure(code: Code, message: string, details?: unknown): Extract<ToolOutcome, { ok: false }> {
  return { ok: false, error: details === undefined ? { code, message } : { code, message, details } };
}
