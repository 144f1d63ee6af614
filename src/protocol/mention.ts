import * as z from 'zod';
import { mostMentions } from './named.ts';

const path = z.string().min(1).max(4096);

/** What the person names in a message: it is read when that is sent. Paths as the tools have them. */
export const mentionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), path }),
  z.strictObject({ kind: z.literal('folder'), path }),
  z.strictObject({ kind: z.literal('selection') }),
  z.strictObject({ kind: z.literal('problems') }),
  /** What is not committed. */
  z.strictObject({ kind: z.literal('changes') }),
]);
export type Mention = z.infer<typeof mentionSchema>;

export const mentionsSchema = z.array(mentionSchema).min(1).max(mostMentions);

/** Of a file that goes with a message: that it was named in it, where it is, and what of it was not read. */
export const mentionedSchema = z.object({
  kind: z.enum(['file', 'folder', 'selection', 'problems', 'changes']),
  path: z.string().optional(),
  line: z.number().int().optional(),
  /** A few words, beside its name: `12 of 40 files`, `not read`. */
  note: z.string().optional(),
  /** In sentences. */
  why: z.string().optional(),
});
export type Mentioned = z.infer<typeof mentionedSchema>;

/** One that can be named. `detail`: where it is, or what there is of it. */
export interface Completion {
  mention: Mention;
  label: string;
  detail?: string;
}
