import * as z from 'zod';

/** What the work of a run took since it last began or went on, told where it has reached its limit of `turns`. */
export const workStatsSchema = z.object({
  turns: z.number().int(),
  ms: z.number(),
  tokens: z.number(),
  /** US dollars, where they are known. */
  cost: z.number().optional(),
  /** How many files are not as they were, by what the calls told; commands may have changed more. */
  files: z.number().int(),
});
export type WorkStats = z.infer<typeof workStatsSchema>;
