import type { ChatRequest } from '../../core/client.ts';
import { toWireName } from '../../core/wireToolNames.ts';
import { normalizeHistory, replaceLoneSurrogates, toWellFormedJson } from '../../messages/normalizeHistory.ts';
import { clampOutputTokens, outputTokenLimit } from '../../messages/outputLimit.ts';
import { supportsReasoningEffort, toReasoningEffort } from '../thinking.ts';
import { isStrictSchema } from '../wire.ts';
import type { ResponsesFlags } from './flags.ts';
import { toResponsesInput } from './input.ts';

/** Minimum output tokens; fewer are a 400. */
const leastOutput = 16;

/**
 * Builds the body of `POST /responses`, always streaming. The server stores nothing (`store: false`): each request contains the whole
 * conversation, with the encrypted reasoning of earlier replies.
 */
export function toWire(request: ChatRequest, flags: ResponsesFlags): Record<string, unknown> {
  const { model, temperature, topP } = request;
  const { system, normalized } = normalizeHistory(request);
  const tools = request.tools?.map(({ name, description, parameters }) => ({
    type: 'function',
    name: toWireName(name),
    description: replaceLoneSurrogates(description),
    parameters: toWellFormedJson(parameters),
    strict: false, // the default would be true
  }));
  const format = formatOf(request, flags);
  const reasoning = responsesReasoning(request, flags);
  const asked = outputTokenLimit(request, reasoning?.effort ? request.thinkingBudget : 0);
  const limit = clampOutputTokens(asked, flags.outputLimit);
  const body: Record<string, unknown> = {
    model,
    instructions: system === '' ? undefined : replaceLoneSurrogates(system),
    input: toResponsesInput(normalized, request, flags),
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

function formatOf({ responseFormat }: ChatRequest, { schemaInPrompt }: ResponsesFlags): object | undefined {
  if (responseFormat?.type !== 'json_schema') return responseFormat;
  if (schemaInPrompt) return { type: 'json_object' };
  const schema = toWellFormedJson(responseFormat.schema);
  return { type: 'json_schema', name: toWireName(responseFormat.name), schema, strict: isStrictSchema(schema) };
}

/** Returns the effort, with a request for the summary, which the API omits by default. */
export function responsesReasoning(
  { model, thinkingBudget = 0 }: Pick<ChatRequest, 'model' | 'thinkingBudget'>,
  { omit = [] }: Pick<ResponsesFlags, 'omit'>,
): { effort?: string; summary?: 'auto' } | undefined {
  if (!supportsReasoningEffort(model)) return undefined;
  const reasoning = {
    ...(thinkingBudget > 0 && !omit.includes('reasoning.effort') && { effort: toReasoningEffort(thinkingBudget) }),
    ...(!omit.includes('reasoning.summary') && { summary: 'auto' as const }),
  };
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}
