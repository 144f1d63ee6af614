/**
 * Reduction of the prompt after the context window was full. The stored and displayed conversation stays complete.
 * - `upTo`: long texts of the messages before this index are truncated in requests (tool output, arguments of calls).
 * - `most`: characters per text, `defaultTruncationLength` if absent.
 * - `summary`: replaces these messages in requests.
 * - `kept`: text sent verbatim with the summary (open plan, files, decisions); absent in records of earlier versions.
 * - `at`: number of messages at the time of the compaction.
 */
export interface Compaction {
  upTo: number;
  most?: number;
  summary?: string;
  kept?: string;
  at: number;
}

export const defaultTruncationLength = 600;

/** Describes for the user the older content in the prompt. A limit below the default also truncates the model's own answers. */
export function compactedContentDescription({
  summary,
  most = defaultTruncationLength,
}: Pick<Compaction, 'summary' | 'most'>) {
  if (summary !== undefined) return 'a summary of the oldest steps';
  return most < defaultTruncationLength
    ? 'older tool output, and long answers of its own, shortened'
    : 'older tool output shortened';
}

export function createCompactionRecord({ upTo, most, summary, kept }: Omit<Compaction, 'at'>, at: number): Compaction {
  return {
    upTo,
    ...(most !== undefined && { most }),
    ...(summary !== undefined && { summary }),
    ...(kept !== undefined && { kept }),
    at,
  };
}
