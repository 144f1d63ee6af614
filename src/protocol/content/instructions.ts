import * as z from 'zod';

/** What a file of the workspace says to agents, as it was read. */
export const instructionSchema = z.object({
  /** As the tools have it. */
  path: z.string(),
  text: z.string(),
  /** Of which files it speaks, where not of all: a folder (`docs/`), or globs. */
  scope: z.string().optional(),
  /** It lists what else can be read. */
  kind: z.literal('skills').optional(),
});
export type Instruction = z.infer<typeof instructionSchema>;

/** What the model was told on the way of such a file: the hash of its text; null: that it is gone. */
export const instructedSchema = z.object({
  path: z.string(),
  hash: z.string().nullable(),
  /** It holds for files that the run came to. */
  near: z.literal(true).optional(),
  /** What it took of the window; `cut`: it is not all of it. */
  tokens: z.number(),
  cut: z.literal(true).optional(),
  /** It contains invisible characters, which are marked. */
  hidden: z.literal(true).optional(),
});
export type Instructed = z.infer<typeof instructedSchema>;
