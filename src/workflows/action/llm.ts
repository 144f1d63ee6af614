import * as z from 'zod';
import type { AdapterResult, CompletionOptions } from '../../llm/adapter/adapter.ts';
import type { ChatRequest } from '../../llm/core/client.ts';
import type { Message, TokenUsage } from '../../protocol/content/messages.ts';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, toErrorInfo } from '../../protocol/text/localized.ts';
import { maxJsonAnswerLength, parseLimitedJson } from '../../tools/core/parseLimits.ts';
import { type WorkflowAction, type WorkflowActionContext, WorkflowActionError } from './action.ts';
import {
  type LlmCallParameters,
  llmAnswerShape,
  llmCallSchema,
  llmRetrySchema,
  type responseFormatSchema,
} from './llmParameters.ts';
import { createJsonSchemaValidator } from './schemaCheck.ts';

export const llmCallAction: WorkflowAction = {
  parameters: llmCallSchema,
  gives: z.strictObject(llmAnswerShape),
  async run(given, context) {
    const reply = await ask(parseWorkflowActionParameters(llmCallSchema, given, 'llm.call'), context, {});
    return answerOf(reply);
  },
};

export const llmStreamAction: WorkflowAction = {
  parameters: llmCallSchema,
  gives: z.strictObject({
    ...llmAnswerShape,
    streamed: z.literal(true).describe('It was shown while it came.'),
    chunk_count: z.number().describe('In how many pieces it came.'),
  }),
  async run(given, context) {
    let chunks = 0;
    const reply = await ask(parseWorkflowActionParameters(llmCallSchema, given, 'llm.stream'), context, {
      onText: () => chunks++,
    });
    return { ...answerOf(reply), streamed: true, chunk_count: chunks };
  },
};

const usualMaxDelay = 60;

/** Retries a call; a failure is a value for the workflow. */
export const llmRetryAction: WorkflowAction = {
  parameters: llmRetrySchema,
  gives: z.strictObject({
    ...z.strictObject(llmAnswerShape).partial().shape,
    attempts: z.number().describe('How often it was asked.'),
    total_delay: z.number().describe('Seconds that it waited in between.'),
    success: z.literal(false).optional().describe('Only of a call that failed in the end; there is no `content` then.'),
    error: z.string().optional().describe('Why it failed.'),
  }),
  async run(given, context) {
    const { max_retries, base_delay, max_delay, jitter, ...params } = parseWorkflowActionParameters(
      llmRetrySchema,
      given,
      'llm.retry',
    );
    const limits = {
      retries: max_retries,
      baseDelayMs: base_delay * 1000,
      maxDelayMs: (max_delay ?? usualMaxDelay) * 1000,
      ...(max_delay !== undefined && { retryAfterCapMs: max_delay * 1000 }),
      jitter,
    };
    const counted = { attempts: 0, delayMs: 0 };
    const counts = () => ({ attempts: counted.attempts, total_delay: counted.delayMs / 1000 });
    try {
      const reply = await ask(params, context, { limits }, counted);
      return { ...answerOf(reply), ...counts() };
    } catch (error) {
      if (!(error instanceof WorkflowActionError)) throw error;
      return { error: error.message, success: false, ...counts() };
    }
  },
};

/** Parses parameters. Throws `WorkflowActionError` that names the invalid parameters as written in the file. */
export function parseWorkflowActionParameters<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  name: string,
): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.');
  throw new WorkflowActionError({
    code: 'TOOL_ARGS_INVALID',
    ...toErrorInfo(joinLocalizableTexts([name, ...(where ? [where] : []), { english: String(issue?.message) }], ': ')),
  });
}

/** Converts parameters to a request without messages. Leading system messages become the system prompt. */
export function llmRequestFromParameters(
  params: Omit<LlmCallParameters, 'messages'>,
  { defaults }: WorkflowActionContext,
) {
  const { temperature = defaults.temperature ?? (params.cache ? 0 : 0.7), max_tokens = defaults.max_tokens } = params;
  const format = params.response_format;
  return {
    temperature,
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(params.top_p !== undefined && { topP: params.top_p }),
    ...(params.stop && { stopSequences: params.stop }),
    ...(format && format.type !== 'text' && { responseFormat: formatOf(format) }),
  } satisfies Partial<ChatRequest>;
}

export function splitSystemPrompt(messages: LlmCallParameters['messages']): {
  systemPrompt?: string;
  messages: Message[];
} {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const leading = messages.slice(0, first < 0 ? messages.length - 1 : first);
  const systemPrompt = leading.map(({ content }) => content).join('\n\n');
  return { ...(systemPrompt && { systemPrompt }), messages: messages.slice(leading.length) };
}

function formatOf(format: Exclude<z.output<typeof responseFormatSchema>, { type: 'text' }>) {
  if (format.type === 'json_object') return { type: 'json_object' as const };
  return { type: 'json_schema' as const, name: format.json_schema.name, schema: format.json_schema.schema };
}

async function ask(
  params: LlmCallParameters,
  context: WorkflowActionContext,
  options: Pick<CompletionOptions, 'limits'> & { onText?(text: string): void },
  counted = { attempts: 0, delayMs: 0 },
): Promise<AdapterResult> {
  const { run, node, defaults } = context;
  const { systemPrompt, messages } = splitSystemPrompt(params.messages);
  const request = { ...llmRequestFromParameters(params, context), ...(systemPrompt && { systemPrompt }) };
  const model = params.model ?? defaults.model;
  const once = async (messages: Message[]) => {
    const asked = { ...request, messages: messages, ...(model && { model }) };
    const reply = await run.complete(asked, { node, cache: params.cache, ...options });
    counted.attempts += reply.attempts;
    counted.delayMs += reply.delayMs;
    if (reply.aborted) throw run.signal.reason;
    if (!reply.success)
      throw new WorkflowActionError(
        reply.error ?? { code: 'UNKNOWN', ...toErrorInfo(message('The model call failed.')) },
      );
    return reply;
  };
  const reply = await once(messages);
  const problem = formatProblem(contentOf(reply), params.response_format);
  if (!problem) return reply;
  // not every provider enforces a schema: one more attempt with the error
  const wish = `That is not what was asked for: ${toEnglishText(problem)} Answer with the JSON alone, nothing around it.`;
  const repaired = await once([
    ...messages,
    { role: 'assistant', content: contentOf(reply) },
    { role: 'user', content: wish },
  ]);
  const still = formatProblem(contentOf(repaired), params.response_format);
  if (still)
    throw new WorkflowActionError({
      code: 'LLM_BAD_RESPONSE',
      ...toErrorInfo(message('The answer does not have the requested format: {0}', still)),
    });
  return { ...repaired, ...(reply.usage && repaired.usage && { usage: sum(reply.usage, repaired.usage) }) };
}

/** Returns the answer; `cached` marks an earlier answer, with its original usage. */
const answerOf = (reply: AdapterResult) => ({
  content: contentOf(reply),
  usage: usageOf(reply.usage),
  ...(reply.cached && { cached: true }),
});

const contentOf = (reply: AdapterResult) => reply.message?.content ?? '';

function formatProblem(content: string, format: LlmCallParameters['response_format']): LocalizableText | undefined {
  if (!format || format.type === 'text') return undefined;
  let value: unknown;
  try {
    value = parseLimitedJson(content, maxJsonAnswerLength);
  } catch (error) {
    return message('it is not JSON ({0}).', (error as Error).message);
  }
  if (format.type === 'json_object')
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? undefined
      : message('it is not a JSON object.');
  const [issue] = createJsonSchemaValidator(format.json_schema.schema).safeParse(value).error?.issues ?? [];
  return issue && joinLocalizableTexts([issue.path.join('.') || message('the value'), ': ', issue.message, '.'], '');
}

const sum = (one: TokenUsage, other: TokenUsage): TokenUsage => ({
  promptTokens: one.promptTokens + other.promptTokens,
  completionTokens: one.completionTokens + other.completionTokens,
  totalTokens: one.totalTokens + other.totalTokens,
});

function usageOf(usage: TokenUsage | undefined): Record<string, number> {
  if (!usage) return {};
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(usage.cachedTokens !== undefined && { cached_tokens: usage.cachedTokens }),
    ...(usage.thinkingTokens !== undefined && { thinking_tokens: usage.thinkingTokens }),
  };
}
