import * as z from 'zod';
import { attachmentSchema } from './messages.ts';

export const userQuestionsSchema = z.object({
  question: z.string(),
  answers: z.array(z.object({ label: z.string(), why: z.string().optional() })),
  many: z.boolean().optional(),
});
export type UserQuestions = z.infer<typeof userQuestionsSchema>;

const maxAnswerLength = 10_000;

// Answer to one question: indexes of the chosen answers, from 0, or a text instead.
const choiceSchema = z.strictObject({
  chosen: z.array(z.number().int().min(0).max(4)).max(5),
  words: z.string().min(1).max(maxAnswerLength).optional(),
});
export type UserQuestionChoice = z.infer<typeof choiceSchema>;

export const userQuestionChoicesSchema = z.array(choiceSchema).max(4);

export const userQuestionAnswerShape = {
  choices: userQuestionChoicesSchema,
  said: z.string().optional(),
  attachments: z.array(attachmentSchema).optional(),
};
export type UserQuestionAnswer = z.infer<z.ZodObject<typeof userQuestionAnswerShape>>;
