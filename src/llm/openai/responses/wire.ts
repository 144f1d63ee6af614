import type { ChatRequest } from '../../core/client.ts';
import { toWireToolName } from '../../core/wireToolNames.ts';
import { normalizeGrowingHistory, replaceLoneSurrogates, toWellFormedJson } from '../../messages/normalizeHistory.ts';
import { clampOutputTokens, outputTokenLimit } from '../../messages/outputLimit.ts';
import { canSwitchReasoningOff, supportsReasoningEffort, toReasoningEffort } from '../thinking.ts';
import { isStrictSchema } from '../wire.ts';
import type { OpenAIResponsesRestrictions } from './flags.ts';
import { toOpenAIResponsesInput } from './input.ts';

/** Minimum output tokens; fewer are a 400. */
const leastOutput = 16;

/**
 * Builds the body of `POST /responses`, always streaming. The server stores nothing (`store: false`): each request contains the whole
 * conversation, with the encrypted reasoning of earlier replies.
 */
export function toOpenAIResponsesWireRequest(
  request: ChatRequest,
  flags: OpenAIResponsesRestrictions,
): Record<string, unknown> {
  const { model, temperature, topP } = request;
  const history = normalizeGrowingHistory(request);
  const tools = request.tools?.map(({ name, description, parameters }) => ({
    type: 'function',
    name: toWireToolName(name),
    description: replaceLoneSurrogates(description),
    parameters: toWellFormedJson(parameters),
    strict: false, // the default would be true
  }));
  const format = formatOf(request, flags);
  const reasoning = openAIResponsesReasoningParameter(request, flags);
  const asked = outputTokenLimit(request, reasoning?.effort ? request.thinkingBudget : 0);
  const limit = clampOutputTokens(asked, flags.outputLimit);
  const body: Record<string, unknown> = {
    model,
    instructions: history.system === '' ? undefined : replaceLoneSurrogates(history.system),
    input: toOpenAIResponsesInput(history, request, flags),
    ...(tools && tools.length > 0 && { tools, tool_choice: request.toolChoice ?? 'auto' }),
    text: format && { format },
    reasoning,
    include: ['reasoning.encrypted_content'],
    temperature,
    top_p: topP,
    max_output_tokens: limit && Math.max(limit, leastOutput),
    prompt_cache_key: flags.cacheKey ? request.cacheKey : undefined,
    store: false,
    stream: true,
  };
  const sent = Object.entries(body).filter(([name, value]) => value !== undefined && !flags.omit?.includes(name));
  return Object.fromEntries(sent);
}

function formatOf(
  { responseFormat }: ChatRequest,
  { schemaInPrompt }: OpenAIResponsesRestrictions,
): object | undefined {
  if (responseFormat?.type !== 'json_schema') return responseFormat;
  if (schemaInPrompt) return { type: 'json_object' };
  const schema = toWellFormedJson(responseFormat.schema);
  return { type: 'json_schema', name: toWireToolName(responseFormat.name), schema, strict: isStrictSchema(schema) };
}

/** Returns the effort, with a request for the summary, which the API omits by default. */
export function openAIResponsesReasoningParameter(
  { model, thinkingBudget = 0, thinkingOff }: Pick<ChatRequest, 'model' | 'thinkingBudget' | 'thinkingOff'>,
  { omit = [] }: Pick<OpenAIResponsesRestrictions, 'omit'>,
): { effort?: string; summary?: 'auto' } | undefined {
  if (!supportsReasoningEffort(model)) return undefined;
  if (thinkingOff && canSwitchReasoningOff(model) && !omit.includes('reasoning.effort')) return { effort: 'none' };
  const reasoning = {
    ...(thinkingBudget > 0 && !omit.includes('reasoning.effort') && { effort: toReasoningEffort(thinkingBudget) }),
    ...(!omit.includes('reasoning.summary') && { summary: 'auto' as const }),
  };
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}
