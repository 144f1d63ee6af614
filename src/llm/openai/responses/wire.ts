import type { ChatRequest } from '../../core/client.ts';
import { toWireName } from '../../core/wireToolNames.ts';
import { normalizeHistory, wellFormed, wellFormedData } from '../../messages/normalizeHistory.ts';
import { outputLimit, withinLimit } from '../../messages/outputLimit.ts';
import { effortOf, takesEffort } from '../thinking.ts';
import { isStrict } from '../wire.ts';
import type { ResponsesFlags } from './flags.ts';
import { toInput } from './input.ts';

/** Minimum output tokens; fewer are a 400. */
const leastOutput = 16;

/**
 * Builds the body of `POST /responses`, always streaming. The server stores nothing (`store: false`): each request contains the whole
 * conversation, with the encrypted reasoning of earlier replies.
 */
export function toWire(request: ChatRequest, flags: ResponsesFlags): Record<string, unknown> {
  const { model, temperature, topP } = request;
  const { system, said } = normalizeHistory(request);
  const tools = request.tools?.map(({ name, description, parameters }) => ({
    type: 'function',
    name: toWireName(name),
    description: wellFormed(description),
    parameters: wellFormedData(parameters),
    strict: false, // the default would be true
  }));
  const format = formatOf(request, flags);
  const reasoning = reasoningOf(request, flags);
  const asked = outputLimit(request, reasoning?.effort ? request.thinkingBudget : 0);
  const limit = withinLimit(asked, flags.outputLimit);
  const body: Record<string, unknown> = {
    model,
    instructions: system === '' ? undefined : wellFormed(system),
    input: toInput(said, request, flags),
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

function formatOf({ responseFormat }: ChatRequest, { schemaInWords }: ResponsesFlags): object | undefined {
  if (responseFormat?.type !== 'json_schema') return responseFormat;
  if (schemaInWords) return { type: 'json_object' };
  const schema = wellFormedData(responseFormat.schema);
  return { type: 'json_schema', name: toWireName(responseFormat.name), schema, strict: isStrict(schema) };
}

/** Returns the effort, with a request for the summary, which the API omits by default. */
export function reasoningOf(
  { model, thinkingBudget = 0 }: Pick<ChatRequest, 'model' | 'thinkingBudget'>,
  { omit = [] }: Pick<ResponsesFlags, 'omit'>,
): { effort?: string; summary?: 'auto' } | undefined {
  if (!takesEffort(model)) return undefined;
  const reasoning = {
    ...(thinkingBudget > 0 && !omit.includes('reasoning.effort') && { effort: effortOf(thinkingBudget) }),
    ...(!omit.includes('reasoning.summary') && { summary: 'auto' as const }),
  };
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}
