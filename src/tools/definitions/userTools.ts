import * as z from 'zod';
import { userQuestionToolName } from '../../protocol/content/askTool.ts';
import { taskBounds, taskEndStatusSchema } from '../../protocol/content/tasks.ts';
import { planBounds, planItemStatuses, planToolName } from '../../protocol/run/plan.ts';
import { taskToolName } from '../../protocol/run/tasks.ts';

const line = (most: number) => z.string().trim().min(1, 'is empty').max(most, `is longer than ${most} characters`);
const twoToFive = 'needs 2 to 5 answers; the user can always write another one';

const withoutDoubles = (texts: readonly string[], context: z.core.$RefinementCtx): void => {
  const plain = texts.map((text) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim());
  const double = texts.find((_, index) => plain.indexOf(plain[index]!) < index);
  if (double !== undefined) context.addIssue({ code: 'custom', message: `has ${JSON.stringify(double)} twice` });
};

const questionSchema = z.strictObject({
  question: line(1000),
  answers: z
    .array(z.strictObject({ label: line(100), why: line(300).optional() }))
    .min(2, twoToFive)
    .max(5, twoToFive)
    .superRefine((answers, context) =>
      withoutDoubles(
        answers.map(({ label }) => label),
        context,
      ),
    ),
  many: z.boolean().optional(),
});

export const askUserDefinition = {
  name: userQuestionToolName,
  description: 'Ask the user.',
  arguments: {
    questions: z
      .array(questionSchema)
      .min(1, 'is empty')
      .max(4, 'holds more than 4 questions: ask the rest afterwards')
      .superRefine((questions, context) =>
        withoutDoubles(
          questions.map(({ question }) => question),
          context,
        ),
      )
      .meta({ help: 'Up to 4, each with 2 to 5 `answers`; `many` allows several.' }),
  },
  gives: {
    answers: z
      .array(z.strictObject({ question: z.string(), chosen: z.array(z.string()), words: z.string().optional() }))
      .optional()
      .describe('`chosen`: labels; `words`: an answer that the user wrote.'),
    said: z.string().optional().describe('A text for all questions.'),
    named: z
      .array(z.strictObject({ name: z.string(), text: z.string() }))
      .optional()
      .describe('Files and other context that the answer names, at that time.'),
    leftOut: z.array(z.string()).optional().describe('Why an image is not shown.'),
  },
};

const itemSchema = z.strictObject({ text: z.string().min(1).max(planBounds.text), status: z.enum(planItemStatuses) });

export const planUpdateDefinition = {
  name: planToolName,
  description: 'Show your whole to-do list.',
  arguments: { items: z.array(itemSchema).max(planBounds.items).meta({ help: 'The whole list.' }) },
  gives: { items: z.number().describe('Number of items.'), done: z.number().describe('Number of finished items.') },
};

export const taskRunDefinition = {
  name: taskToolName,
  description: 'Delegate a task; agent worker may edit.',
  arguments: {
    title: line(taskBounds.title).meta({ help: 'A short name of the task.' }),
    prompt: line(taskBounds.prompt).meta({
      help: 'All that the agent needs to know: it does not see the conversation.',
    }),
    agent: z.string().optional().meta({
      help: '`explorer` (default) and `reviewer` only read, `worker` may edit; or an agent of the repository.',
    }),
  },
  gives: {
    status: taskEndStatusSchema,
    result: z.string().describe('The last answer of the agent.'),
    outputId: z.string().optional().describe('Id of the whole answer for `output.read`.'),
    reason: z.string().optional().describe('Why the task is not done.'),
    steps: z.number().describe('Number of model calls.'),
  },
};
