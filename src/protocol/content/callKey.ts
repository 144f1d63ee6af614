/** Identity of a tool call over all runs: providers number their calls anew in every run. */
export interface CallKey {
  runId: string;
  toolCallId: string;
}

export const isSameCall = (one: CallKey, other: CallKey): boolean =>
  one.runId === other.runId && one.toolCallId === other.toolCallId;
