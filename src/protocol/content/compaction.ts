/** Reduction of the prompt after the context window was full. The stored and displayed conversation stays complete. */
export interface Compaction {
  /** Long texts of the messages before this index are truncated in requests: tool output and arguments of calls. */
  upTo: number;
  /** Characters per text; `usualMost` if absent. */
  most?: number;
  /** Replaces the messages before `upTo` in requests. */
  summary?: string;
  /** Text sent verbatim with the summary: the open plan, files, decisions. Absent in records of earlier versions. */
  kept?: string;
  /** Number of messages at the time of the compaction. */
  at: number;
}

/** Default limit of a truncated text, in characters. */
export const usualMost = 600;

/** Describes for the user the older content in the prompt. A limit below the default also truncates the model's own answers. */
export function seesOf({ summary, most = usualMost }: Pick<Compaction, 'summary' | 'most'>) {
  if (summary !== undefined) return 'a summary of the oldest steps';
  return most < usualMost ? 'older tool output, and long answers of its own, shortened' : 'older tool output shortened';
}

export function compactionOf({ upTo, most, summary, kept }: Omit<Compaction, 'at'>, at: number): Compaction {
  return {
    upTo,
    ...(most !== undefined && { most }),
    ...(summary !== undefined && { summary }),
    ...(kept !== undefined && { kept }),
    at,
  };
}
