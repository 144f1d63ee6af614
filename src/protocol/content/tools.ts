import type { OutcomeReason, TowpathErrorCode } from '../text/codes.ts';
import type { Attachment, ErrorInfo, ToolResult } from './messages.ts';

/**
 * Tool definition for a model. Names have dots (`fs.read`); each wire converts the names to a form accepted by the provider. `within` names
 * a tool with the same capability.
 */
export interface ToolDefinition {
  name: string;
  description: string;
  parameters: JsonSchema;
  within?: string;
}

/** Returns the definitions to send to the model, without tools covered by another tool of the list, except `needed` ones. */
export function removeRedundantTools(
  tools: readonly ToolDefinition[],
  needed: readonly string[] = [],
): ToolDefinition[] {
  const names = new Set(tools.map(({ name }) => name));
  return tools.filter(({ name, within }) => within === undefined || !names.has(within) || needed.includes(name));
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
 * Outcome of a call, with images beside the data and a hint of the loop (`hint`). A tool fails as a value, because the model reads the
 * failure.
 */
export type ToolOutcome =
  | { ok: true; data: unknown; attachments?: Attachment[]; hint?: string }
  | { ok: false; error: ErrorInfo };

/** Converts an outcome to the text for the model. No other code does this conversion. */
export function toToolResult(toolCallId: string, outcome: ToolOutcome): ToolResult {
  if (!outcome.ok) {
    const { said: _, links: __, ...error } = outcome.error; // English only, without buttons
    return { toolCallId, content: JSON.stringify({ ok: false, error }), error: error.code };
  }
  const { attachments, ...data } = outcome;
  return { toolCallId, content: JSON.stringify(data), ...(attachments && { attachments }) };
}

export const outcomeDetails = (reason: OutcomeReason, more: object = {}): object => ({ ...more, reason });

export function failedToolOutcome(
  code: TowpathErrorCode,
  message: string,
  details?: unknown,
): Extract<ToolOutcome, { ok: false }> {
  return { ok: false, error: details === undefined ? { code, message } : { code, message, details } };
}
