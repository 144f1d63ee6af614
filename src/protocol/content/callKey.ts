/** Identity of a tool call across all runs. Providers restart call ids in every run. */
export interface CallKey {
  runId: string;
  toolCallId: string;
}

export const isSameCall = (one: CallKey, other: CallKey): boolean =>
  one.runId === other.runId && one.toolCallId === other.toolCallId;
