/** What was done about a full window. What is kept and shown stays whole; what is sent gets less. */
export interface Compaction {
  /** Long texts of the messages before this one are sent shortened: tool output, and the arguments of calls. */
  upTo: number;
  /** How many characters of each text; 600 without it. */
  most?: number;
  /** Sent in place of those messages. */
  summary?: string;
  /** Sent with the summary, word for word as it was said: the open plan, files, decisions. Absent: of before there was such a thing. */
  kept?: string;
  /** How many messages there were. */
  at: number;
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
