/** What was done about a full window. What is kept and shown stays whole; what is sent gets less. */
export interface Compaction {
  /** Long texts of the messages before this one are sent shortened: tool output, and the arguments of calls. */
  upTo: number;
  /** How many characters of each text; `usualMost` without it. */
  most?: number;
  /** Sent in place of those messages. */
  summary?: string;
  /** Sent with the summary, word for word as it was said: the open plan, files, decisions. Absent: of before there was such a thing. */
  kept?: string;
  /** How many messages there were. */
  at: number;
}

/** Characters of each text that are sent of it where nothing else is said. */
export const usualMost = 600;

/** What the model sees in the place of what is older, in words for a person. With so little room, what it said itself is cut, too. */
export function seesOf({ summary, most = usualMost }: Pick<Compaction, 'summary' | 'most'>) {
  if (summary !== undefined) return 'a summary of the oldest steps';
  return most < usualMost ? 'older tool output, and long answers of its own, shortened' : 'older tool output shortened';
}

/** What happened, as it is kept with its conversation. */
export function compactionOf({ upTo, most, summary, kept }: Omit<Compaction, 'at'>, at: number): Compaction {
  return {
    upTo,
    ...(most !== undefined && { most }),
    ...(summary !== undefined && { summary }),
    ...(kept !== undefined && { kept }),
    at,
  };
}
