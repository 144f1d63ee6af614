import * as z from 'zod';
import { attachmentSchema } from './messages.ts';

/** As it was asked, within the bounds of the tool that asks. */
export const askedSchema = z.object({
  question: z.string(),
  answers: z.array(z.object({ label: z.string(), why: z.string().optional() })),
  /** Several of the answers may be chosen. */
  many: z.boolean().optional(),
});
export type UserQuestions = z.infer<typeof askedSchema>;

const mostWords = 10_000;

/** What was chosen for one question: its answers by their place, from 0, or words in their stead. */
const choiceSchema = z.strictObject({
  chosen: z.array(z.number().int().min(0).max(4)).max(5),
  words: z.string().min(1).max(mostWords).optional(),
});
export type Choice = z.infer<typeof choiceSchema>;

/** One for each question, in their order; none where the person only said something. */
export const choicesSchema = z.array(choiceSchema).max(4);

/** `said`: words to all of the questions. */
export const answerShape = {
  choices: choicesSchema,
  said: z.string().optional(),
  attachments: z.array(attachmentSchema).optional(),
};
export type Answer = z.infer<z.ZodObject<typeof answerShape>>;
