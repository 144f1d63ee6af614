import * as z from 'zod';

/**
 * What fills a model's window, in tokens: `total` as the provider has counted it, with what came since; the parts as they are
 * estimated. What a model wrote in answer to them is in `answers`.
 */
export const fillingSchema = z.object({
  total: z.number(),
  /** That the model keeps in view; absent: not known. */
  size: z.number().optional(),
  /** Where room is made by itself. */
  roomAt: z.number().optional(),
  instructions: z.number(),
  /** Files of the workspace among these. `cut`: not all of the file is sent. `hidden`: it contains invisible characters, which are marked. */
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
  /** Of the person. */
  words: z.number(),
  /** What calls gave: files, output, pages. */
  output: z.number(),
  answers: z.number(),
  /** Of what came before, in the place of that. */
  summary: z.number(),
  /** Of what was said, and is not sent any more. */
  leftOut: z.number(),
  /** Read from the provider's cache by the newest call. */
  cached: z.number().optional(),
});
export type ContextUsage = z.infer<typeof fillingSchema>;
