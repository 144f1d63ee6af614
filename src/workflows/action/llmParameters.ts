import * as z from 'zod';
import { toEnglishText } from '../../protocol/text/l10n.ts';
import { invalidSchemaReason } from './schemaCheck.ts';

/** Schema of a text; other values become JSON, and an undefined template becomes empty. */
const textValue = z.unknown().transform((value) => {
  const given = value ?? '';
  return typeof given === 'string' ? given : JSON.stringify(given);
});

export const responseFormatSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    json_schema: z.strictObject({
      name: z.string().default('answer'),
      strict: z.boolean().optional(),
      schema: z.record(z.string(), z.unknown()).superRefine((schema, { addIssue }) => {
        const problem = invalidSchemaReason(schema);
        if (problem) addIssue(toEnglishText(problem));
      }),
    }),
  }),
]);

/** Parameters of every `llm.*` action. The editor shows the descriptions. */
export const llmCallShape = {
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      '`provider/model`, a model of the chosen provider, or `plan` or `small`: what you have for that. Without it that of `settings.llm`, else the model chosen in the panel.',
    ),
  messages: z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: textValue }))
    .min(1)
    .describe('What the model is told: a list of `role` (`system`, `user`, `assistant`) and `content`.'),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('0 to 2; without it that of `settings.llm`, else 0.7, or 0 with `cache`.'),
  max_tokens: z.number().int().min(1).optional().describe('Tokens that the answer may have.'),
  top_p: z.number().min(0).max(1).optional().describe('The share of the likely tokens that is considered, 0 to 1.'),
  stop: z.array(z.string()).optional().describe('Texts at which the answer ends.'),
  response_format: responseFormatSchema
    .optional()
    .describe(
      '`{type: json_object}`, or `{type: json_schema, json_schema: {name, schema}}`. What comes is checked: an answer of another form is asked for once more, then the node fails.',
    ),
  cache: z
    .boolean()
    .default(false)
    .describe('An equal call is answered with the answer that it had, at temperature 0 (which it has by itself).'),
};
export const llmCallSchema = z.strictObject(llmCallShape);

export const llmAnswerShape = {
  content: z.string().describe('The answer.'),
  usage: z
    .record(z.string(), z.number())
    .describe('`prompt_tokens`, `completion_tokens`, `total_tokens`, as far as they are told.'),
  cached: z.literal(true).optional().describe('Of an answer that was given before.'),
};

export const llmRetrySchema = z.strictObject({
  ...llmCallShape,
  max_retries: z.number().int().min(0).max(20).default(3).describe('How often a call is tried again: 3 without it.'),
  base_delay: z.number().min(0).default(1).describe('Seconds before the first retry, then doubled: 1 without it.'),
  max_delay: z
    .number()
    .min(0)
    .optional()
    .describe(
      'Seconds that a wait has at most, also one that the provider asks for: 60 without it, and `towpath.retryAfterCap` for the provider’s.',
    ),
  jitter: z.boolean().default(true).describe('Waits differ by up to a quarter; `false`: they are exact.'),
});
export type LlmCallParameters = z.output<typeof llmCallSchema>;
