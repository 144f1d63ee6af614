import * as z from 'zod';
import { errorInfoSchema } from '../content/messages.ts';
import { sentenceSchema } from '../text/localizedSchema.ts';
import { parentSchema } from './branches.ts';
import { runPhaseSchema } from './events.ts';
import { readOnlyCodes } from './readOnlyReason.ts';

/**
 * A run in a list. `live`: its loop is at work in this window. `damaged`: where and how much of its record cannot be read, until
 * somebody goes on with it; `damagedSaid`: what that is made of. `readOnly`: why that cannot be.
 */
export const runSummarySchema = z.object({
  id: z.string(),
  title: z.string(),
  phase: runPhaseSchema,
  createdAt: z.number(),
  updatedAt: z.number(),
  live: z.boolean(),
  /** A command of it may be at work: see `leftCalls`. */
  commands: z.boolean().optional(),
  /** A call of it waits for an approval, also since an earlier window. */
  awaitsApproval: z.boolean().optional(),
  damaged: z.string().optional(),
  damagedSaid: sentenceSchema.optional(),
  readOnly: z.enum(readOnlyCodes).optional(),
  imported: z.boolean().optional(),
  parent: parentSchema.optional(),
  /** The one it went to last, as `provider/model`. */
  model: z.string().optional(),
  /** US dollars that it took itself, where prices are known. */
  cost: z.number().optional(),
  /** Why it ended as nobody wanted it to, or was stopped. */
  error: errorInfoSchema.optional(),
  /** The title is the person's own. */
  named: z.boolean().optional(),
  /** Among the first in a list. */
  pinned: z.boolean().optional(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;
