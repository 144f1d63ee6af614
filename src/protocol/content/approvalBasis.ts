import * as z from 'zod';

/**
 * Reason of a decision that nobody was asked about, as stored. `by` is a `BasisCode`; a later version may write another.
 */
export const approvalBasisSchema = z.object({
  by: z.string(),
  /** The rules that decided: whose they are and what they name (`shell.run npm test`). */
  rules: z.array(z.object({ scope: z.string(), what: z.string() })).optional(),
  preset: z.string().optional(),
  /** The permission that was given for the run. */
  grant: z.string().optional(),
});
export type ApprovalBasis = z.infer<typeof approvalBasisSchema>;

/**
 * `of-run`: the change is below a folder of the run itself; `command-of-run`: it stops a command that the run started;
 * `read-only-command`: the command is known to only read.
 */
export type BasisCode = 'rules' | 'preset' | 'read-only-command' | 'grant' | 'of-run' | 'command-of-run';

/** Bases that a tool's own plan gives. */
export type OwnBasis = Extract<BasisCode, 'of-run' | 'command-of-run'>;
