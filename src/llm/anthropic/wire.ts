import type { JsonSchema, ToolDefinition } from '../../protocol/content/tools.ts';
import type { ChatRequest } from '../core/client.ts';
import { toWireName } from '../core/wireToolNames.ts';
import { wellFormed, wellFormedData } from '../messages/normalizeHistory.ts';
import { type CacheControl, toWireHistory, type WireMessage } from './messages.ts';
import { factsOf } from './models.ts';

/** What a model or an endpoint has taught by refusing; empty at first. */
export interface WireFlags {
  /** Parameters it refuses. */
  omit?: readonly OptionalParameter[];
  outputLimit?: number;
  thinking?: 'budget' | 'adaptive' | 'none';
  /** It cannot be held to a format: it is asked for one instead. */
  formatInWords?: boolean;
  /** Signatures of thinking it does not accept, from another endpoint or of another model. */
  refused?: ReadonlySet<string>;
}

export const optionalParameters = ['top_p', 'temperature', 'stop_sequences', 'cache_control', 'tool_choice'] as const;
type OptionalParameter = (typeof optionalParameters)[number];

interface WireTool extends CacheControl {
  name: string;
  description?: string;
  input_schema: JsonSchema;
}

export interface WireRequest {
  model: string;
  max_tokens: number;
  system?: ({ type: 'text'; text: string } & CacheControl)[];
  tools?: WireTool[];
  tool_choice?: { type: 'auto' | 'any' | 'none' };
  messages: WireMessage[];
  temperature?: number;
  top_p?: number;
  stop_sequences?: string[];
  thinking?: { type: 'enabled'; budget_tokens: number } | { type: 'adaptive'; display: 'summarized' };
  output_config?: { effort?: string; format?: { type: 'json_schema'; schema: JsonSchema } };
  stream: true;
}

/** Enough for a long file, and little enough not to be an answer that never ends. */
const usualOutput = 32_000;
/** The least a model can be told to think with. */
const leastThinking = 1024;

/** The body of `POST /v1/messages`, always streaming. */
export function toWire(request: ChatRequest, flags: WireFlags = {}): WireRequest {
  const { system, messages } = toWireHistory(request, flags.refused ?? new Set());
  const facts = factsOf(request.model);
  const tools = toTools(request.tools ?? [], messages);
  const { thinking, effort, maxTokens } = toThinking(request, flags);
  const format = flags.formatInWords ? undefined : formatOf(request);
  const sampled = facts.sampling && !thinking; // thinking goes with the default temperature only
  const stops = request.stopSequences?.filter((sequence) => sequence.trim() !== '') ?? [];
  const wish = format ? '' : formatInWords(request);

  const body: WireRequest = {
    model: request.model,
    max_tokens: maxTokens,
    ...((system || wish) && {
      system: [system, wish].filter(Boolean).map((one) => ({ type: 'text', text: wellFormed(one) })),
    }),
    ...(tools.length > 0 && { tools }),
    ...toToolChoice(request, tools),
    messages,
    ...(sampled && request.temperature !== undefined && { temperature: Math.min(request.temperature, 1) }),
    ...(sampled && request.topP !== undefined && { top_p: request.topP }),
    ...(stops.length > 0 && { stop_sequences: wellFormedData(stops) }),
    ...(thinking && { thinking }),
    ...((effort || format) && { output_config: { ...(effort && { effort }), ...(format && { format }) } }),
    stream: true,
  };
  for (const name of flags.omit ?? []) if (name !== 'cache_control') delete body[name];
  if (!flags.omit?.includes('cache_control')) markCached(body, system !== '');
  return body;
}

/**
 * What stays the same from request to request is kept by the provider up to each mark; four are allowed. The newest
 * user turn is read by the next request, which marks it once more: without the second mark a turn with many calls would
 * lie beyond the twenty blocks that are searched for it.
 */
function markCached({ tools, system, messages }: WireRequest, hasPrompt: boolean): void {
  const turns = messages.filter(({ role }) => role === 'user').slice(-2);
  const ends = [tools?.at(-1), hasPrompt ? system?.[0] : undefined, ...turns.map(({ content }) => content.at(-1))];
  for (const end of ends) if (end) end.cache_control = { type: 'ephemeral' };
}

/** Each name once. A history with calls is refused without tools: then those it knows stand in, and none may be called. */
function toTools(tools: readonly ToolDefinition[], messages: readonly WireMessage[]): WireTool[] {
  const byName = new Map<string, WireTool>();
  for (const { name, description, parameters } of tools) {
    if (byName.has(toWireName(name))) continue; // the way back leads to the first one too
    // Alternatives at the top of a schema are refused; the tool itself still checks them.
    const { oneOf: _, anyOf: __, allOf: ___, ...rest } = wellFormedData(parameters);
    const input_schema = { ...rest, type: 'object' };
    byName.set(toWireName(name), {
      name: toWireName(name),
      ...(description && { description: wellFormed(description) }),
      input_schema,
    });
  }
  if (byName.size > 0) return [...byName.values()];
  for (const block of messages.flatMap(({ content }) => content)) {
    if (block.type !== 'tool_use') continue;
    const { name } = block as { name: string };
    byName.set(name, { name, input_schema: { type: 'object' } });
  }
  return [...byName.values()];
}

function toToolChoice(
  { toolChoice, tools = [] }: ChatRequest,
  offered: readonly WireTool[],
): Pick<WireRequest, 'tool_choice'> {
  if (offered.length === 0) return {};
  if (toolChoice === 'none' || tools.length === 0) return { tool_choice: { type: 'none' } };
  return toolChoice === 'required' ? { tool_choice: { type: 'any' } } : {}; // `auto` is what it does anyway
}

/** The limit counts thinking and answer together, and must be above the budget. */
function toThinking(request: ChatRequest, flags: WireFlags) {
  const facts = factsOf(request.model);
  const limit = flags.outputLimit ?? facts.outputLimit;
  const budget = Math.min(Math.max(request.thinkingBudget ?? 0, leastThinking), limit - leastThinking);
  const forced = request.toolChoice === 'required' && (request.tools?.length ?? 0) > 0; // refused with thinking
  const mode = flags.thinking ?? facts.thinking;
  if (!request.thinkingBudget || request.thinkingBudget < 0 || forced || mode === 'none' || budget < leastThinking) {
    return { maxTokens: Math.min(request.maxTokens ?? usualOutput, limit) };
  }
  const asked = (request.maxTokens ?? usualOutput) + budget;
  if (mode === 'adaptive') {
    const effort = budget < 4096 ? 'low' : budget < 16_384 ? 'medium' : 'high';
    return {
      thinking: { type: 'adaptive', display: 'summarized' } as const,
      effort,
      maxTokens: Math.min(asked, limit),
    };
  }
  return { thinking: { type: 'enabled', budget_tokens: budget } as const, maxTokens: Math.min(asked, limit) };
}

function formatOf({ responseFormat }: ChatRequest) {
  if (responseFormat?.type !== 'json_schema') return undefined; // there is no format for "any object"
  return { type: 'json_schema' as const, schema: closed(wellFormedData(responseFormat.schema)) };
}

/** Objects must say that they have no further properties. */
function closed(schema: JsonSchema): JsonSchema {
  const inner = Object.entries(schema).map(([key, value]) => [key, closedInside(value)]);
  const open = schema.type === 'object' && schema.additionalProperties === undefined;
  return { ...Object.fromEntries(inner), ...(open && { additionalProperties: false }) };
}

function closedInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedInside);
  return typeof value === 'object' && value !== null ? closed(value as JsonSchema) : value;
}

function formatInWords({ responseFormat }: ChatRequest): string {
  if (!responseFormat) return '';
  const wish = 'Answer with one JSON object and nothing else: no words around it, no code fence.';
  if (responseFormat.type === 'json_object') return wish;
  return `${wish} Its schema:\n${JSON.stringify(responseFormat.schema)}`;
}
