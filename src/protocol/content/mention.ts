import * as z from 'zod';
import { maxMentions, maxMentionText } from './mentionText.ts';
import type { Slash } from './slash.ts';

const path = z.string().min(1).max(4096);
const line = z.int().min(1).max(1e9);
const name = z.string().min(1).max(200);
const text = z.string().max(maxMentionText);

/** What the person names in a message: it is read when that is sent. Paths as the tools have them. */
export const mentionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), path }),
  z.strictObject({ kind: z.literal('folder'), path }),
  z.strictObject({ kind: z.literal('selection') }),
  z.strictObject({ kind: z.literal('problems') }),
  /** What is not committed. */
  z.strictObject({ kind: z.literal('changes') }),
  /** Lines of a file, from 1. */
  z.strictObject({ kind: z.literal('lines'), path, from: line, to: line }),
  /** What the editor says is wrong in a line. */
  z.strictObject({ kind: z.literal('problem'), path, line }),
  /** What is not committed of one file. */
  z.strictObject({ kind: z.literal('change'), path }),
  /** How a test has failed: it is told with what it said then, and where. */
  z.strictObject({ kind: z.literal('test'), name, text, path: path.optional(), line: line.optional() }),
  /** What stood in a terminal; without a text the last command of the one in front, and what that wrote. */
  z.strictObject({ kind: z.literal('terminal'), name: name.optional(), text: text.optional() }),
]);
export type Mention = z.infer<typeof mentionSchema>;

export const mentionsSchema = z.array(mentionSchema).min(1).max(maxMentions);

const mentionKinds = mentionSchema.options.map(({ shape }) => shape.kind.value);

/** Of a file that goes with a message: that it was named in it, where it is, and what of it was not read. */
export const mentionedSchema = z.object({
  kind: z.enum(mentionKinds),
  path: z.string().optional(),
  line: z.number().int().optional(),
  /** A few words, beside its name: `12 of 40 files`, `not read`. */
  note: z.string().optional(),
  /** In sentences. */
  why: z.string().optional(),
});
export type Mentioned = z.infer<typeof mentionedSchema>;

/** One that can be named, or (`slash`) said after a `/`. `detail`: where it is, or what there is of it. */
export type Completion = { label: string; detail?: string } & ({ mention: Mention } | { slash: Slash });
