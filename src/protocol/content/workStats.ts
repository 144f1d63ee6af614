import * as z from 'zod';

/**
 * Work of a run since its last start or continuation, reported at the turn limit. `cost`: US dollars, absent if unknown. `files`: number of
 * changed files according to the calls; commands may have changed more.
 */
export const workStatsSchema = z.object({
  turns: z.number().int(),
  ms: z.number(),
  tokens: z.number(),
  cost: z.number().optional(),
  files: z.number().int(),
});
export type WorkStats = z.infer<typeof workStatsSchema>;
