import * as z from 'zod';

export const compactionShape = {
  /** Long texts of the messages before this one are sent shortened: tool output, and the arguments of calls. */
  upTo: z.number().int().min(0),
  /** How many characters of each text; 600 without it. */
  most: z.number().int().min(1).optional(),
  /** Sent in place of those messages. */
  summary: z.string().optional(),
  /** Sent with the summary, word for word as it was said: the open plan, files, decisions. Absent: of before there was such a thing. */
  kept: z.string().optional(),
};

export const compactionSchema = z.object({
  ...compactionShape,
  /** How many messages there were. */
  at: z.number().int(),
});

/** What was done about a full window. What is kept and shown stays whole; what is sent gets less. */
export type Compaction = z.infer<typeof compactionSchema>;

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
