/** Identity of a tool call across all runs. Providers restart call ids in every run. */
export interface ToolCallKey {
  runId: string;
  toolCallId: string;
}

export const isSameToolCall = (one: ToolCallKey, other: ToolCallKey): boolean =>
  one.runId === other.runId && one.toolCallId === other.toolCallId;
