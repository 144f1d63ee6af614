import * as z from 'zod';

/**
 * Instruction file of the workspace, as read at the start of the run. `scope`: a folder (`docs/`) or globs; absent: all files. `kind:
 * 'skills'`: the file is a list of readable skills.
 */
export const workspaceInstructionFileSchema = z.object({
  path: z.string(),
  text: z.string(),
  scope: z.string().optional(),
  kind: z.literal('skills').optional(),
});
export type WorkspaceInstructionFile = z.infer<typeof workspaceInstructionFileSchema>;

/**
 * Instruction file that the model received during the run, with the hash of the text; null: the file was deleted. `near`: the file applies
 * to files that the run accessed. `tokens`: the size in the context window. `cut`: the text is truncated. `hidden`: the file contains
 * invisible characters, which are escaped.
 */
export const deliveredInstructionSchema = z.object({
  path: z.string(),
  hash: z.string().nullable(),
  near: z.literal(true).optional(),
  tokens: z.number(),
  cut: z.literal(true).optional(),
  hidden: z.literal(true).optional(),
});
export type DeliveredInstruction = z.infer<typeof deliveredInstructionSchema>;
