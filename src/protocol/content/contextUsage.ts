import * as z from 'zod';

/**
 * Content of a model's context window in tokens. `total` is the count of the provider plus an estimate of newer messages; the parts are
 * estimates.
 * - `size`: the context window, absent if unknown; `roomAt`: the threshold of automatic compaction.
 * - `files`: instruction files, a part of `instructions` (`cut`: truncated; `hidden`: contains invisible characters, which are escaped).
 * - `words`: messages of the user; `output`: results of calls; `answers`: text of the model; `summary`: the summary of earlier messages.
 * - `leftOut`: messages no longer sent; `cached`: tokens of the newest call read from the provider's cache.
 */
export const contextUsageSchema = z.object({
  total: z.number(),
  size: z.number().optional(),
  roomAt: z.number().optional(),
  instructions: z.number(),
  files: z
    .array(
      z.object({
        path: z.string(),
        tokens: z.number(),
        cut: z.literal(true).optional(),
        hidden: z.literal(true).optional(),
      }),
    )
    .optional(),
  tools: z.number(),
  words: z.number(),
  output: z.number(),
  answers: z.number(),
  summary: z.number(),
  leftOut: z.number(),
  cached: z.number().optional(),
});
export type ContextUsage = z.infer<typeof contextUsageSchema>;
