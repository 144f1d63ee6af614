import * as z from 'zod';

/**
 * Reason of a decision that was made without an approval request, as stored. `by` is a `ApprovalBasisCode`; a later version may write other codes.
 * `rules` are the deciding rules with their scopes and subjects (`shell.run npm test`). `grant` is the permission that the user gave for
 * the run.
 */
export const approvalBasisSchema = z.object({
  by: z.string(),
  rules: z.array(z.object({ scope: z.string(), what: z.string() })).optional(),
  preset: z.string().optional(),
  grant: z.string().optional(),
});
export type ApprovalBasis = z.infer<typeof approvalBasisSchema>;

/**
 * Codes of automatic decisions. `of-run`: the change is below a folder of the run itself. `command-of-run`: the call stops a command of the
 * run. `read-only-command`: the command is known to only read.
 */
export type ApprovalBasisCode = 'rules' | 'preset' | 'read-only-command' | 'grant' | 'of-run' | 'command-of-run';

export type RunOwnApprovalBasis = Extract<ApprovalBasisCode, 'of-run' | 'command-of-run'>;
