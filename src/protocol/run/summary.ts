import * as z from 'zod';
import { errorInfoSchema } from '../content/messages.ts';
import { localizedMessageSchema } from '../text/localizedSchema.ts';
import { readOnlyReasonCodes } from '../text/readOnlyReason.ts';
import { runBranchOriginSchema } from './branches.ts';
import { runPhaseSchema } from './events.ts';

/**
 * List entry of a run. `live`: the loop runs in this window. `damaged`: location and extent of unreadable records, until the run continues.
 * `readOnly`: reason that prevents continuation. `commands`: a command may still run, see `callsWithOrphanedCommand`. `awaitsApproval`: includes requests
 * of earlier windows. `model`: the newest model, as `provider/model`. `cost`: US dollars without inherited costs. `error`: reason of an
 * unintended end or a stop. `named`: the user set the title.
 */
export const runSummarySchema = z.object({
  id: z.string(),
  title: z.string(),
  phase: runPhaseSchema,
  createdAt: z.number(),
  updatedAt: z.number(),
  live: z.boolean(),
  commands: z.boolean().optional(),
  awaitsApproval: z.boolean().optional(),
  damaged: z.string().optional(),
  damagedSaid: localizedMessageSchema.optional(),
  readOnly: z.enum(readOnlyReasonCodes).optional(),
  imported: z.boolean().optional(),
  parent: runBranchOriginSchema.optional(),
  model: z.string().optional(),
  cost: z.number().optional(),
  error: errorInfoSchema.optional(),
  named: z.boolean().optional(),
  pinned: z.boolean().optional(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;
