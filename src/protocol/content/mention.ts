import * as z from 'zod';
import { toEnglishText } from '../text/l10n.ts';
import type { LocalizableText } from '../text/localized.ts';
import { localizedMessageSchema } from '../text/localizedSchema.ts';
import { maxMentions, maxMentionText } from './mentionText.ts';
import type { SlashCommand } from './slash.ts';

const path = z.string().min(1).max(4096);
const line = z.int().min(1).max(1e9);
const name = z.string().min(1).max(200);
const text = z.string().max(maxMentionText);

/**
 * Mention in a message of the user; the content is read when the message is sent. Paths are in the form of the tools. Kinds: `changes` and
 * `change` are uncommitted changes (of all files, of one file); `lines` count from 1; `problem` is a diagnostic of the editor; `test` is a
 * failed test with its output; `terminal` without a text is the last command of the active terminal with its output.
 */
export const mentionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), path }),
  z.strictObject({ kind: z.literal('folder'), path }),
  z.strictObject({ kind: z.literal('selection') }),
  z.strictObject({ kind: z.literal('problems') }),
  z.strictObject({ kind: z.literal('changes') }),
  z.strictObject({ kind: z.literal('lines'), path, from: line, to: line }),
  z.strictObject({ kind: z.literal('problem'), path, line }),
  z.strictObject({ kind: z.literal('change'), path }),
  z.strictObject({ kind: z.literal('test'), name, text, path: path.optional(), line: line.optional() }),
  z.strictObject({ kind: z.literal('terminal'), name: name.optional(), text: text.optional() }),
]);
export type Mention = z.infer<typeof mentionSchema>;

export const mentionsSchema = z.array(mentionSchema).min(1).max(maxMentions);

const mentionKinds = mentionSchema.options.map(({ shape }) => shape.kind.value);

/**
 * Record of a file attached to a message by a mention. `note`: a short label beside the name (`12 of 40 files`, `not read`); `why`: the
 * reason in sentences; `noteSaid` and `whySaid`: their localizable forms, absent in records of earlier versions.
 */
export const mentionRecordSchema = z.object({
  kind: z.enum(mentionKinds),
  path: z.string().optional(),
  line: z.number().int().optional(),
  note: z.string().optional(),
  why: z.string().optional(),
  noteSaid: localizedMessageSchema.optional(),
  whySaid: localizedMessageSchema.optional(),
  unread: z.literal(true).optional(),
});
export type MentionRecord = z.infer<typeof mentionRecordSchema>;

export type MentionNotes = Pick<MentionRecord, 'note' | 'why' | 'noteSaid' | 'whySaid' | 'unread'>;

/** Stored form of the notes of a mention. */
export function toMentionNotes(notes: { note?: LocalizableText; why?: LocalizableText }): MentionNotes {
  const { note, why } = notes;
  return {
    ...(note !== undefined && { note: toEnglishText(note), ...(typeof note === 'object' && { noteSaid: note }) }),
    ...(why !== undefined && { why: toEnglishText(why), ...(typeof why === 'object' && { whySaid: why }) }),
  };
}

export type ComposerCompletion = { label: string; detail?: string } & ({ mention: Mention } | { slash: SlashCommand });
