import type { JsonSchema, ToolDefinition } from '../../protocol/content/tools.ts';
import type { ChatRequest } from '../core/client.ts';
import { toWireToolName } from '../core/wireToolNames.ts';
import { replaceLoneSurrogates, toWellFormedJson } from '../messages/normalizeHistory.ts';
import { type AnthropicWireMessage, type CacheControl, toAnthropicWireHistory } from './messages.ts';
import { anthropicModelFacts } from './models.ts';

/** Restrictions of a model or endpoint learned from rejected requests; initially empty. */
export interface AnthropicRequestRestrictions {
  omit?: readonly OptionalParameter[];
  outputLimit?: number;
  thinking?: 'budget' | 'adaptive' | 'none';
  /** The endpoint rejects `thinking: {type: 'disabled'}`. */
  omitDisabled?: true;
  formatInPrompt?: boolean;
  /** Rejected signatures of thinking from another endpoint or model. */
  refused?: ReadonlySet<string>;
}

export const anthropicOptionalParameters = [
  'top_p',
  'temperature',
  'stop_sequences',
  'cache_control',
  'tool_choice',
] as const;
type OptionalParameter = (typeof anthropicOptionalParameters)[number];

interface WireTool extends CacheControl {
  name: string;
  description?: string;
  input_schema: JsonSchema;
}

export interface AnthropicWireRequest {
  model: string;
  max_tokens: number;
  system?: ({ type: 'text'; text: string } & CacheControl)[];
  tools?: WireTool[];
  tool_choice?: { type: 'auto' | 'any' | 'none' };
  messages: AnthropicWireMessage[];
  temperature?: number;
  top_p?: number;
  stop_sequences?: string[];
  thinking?:
    | { type: 'enabled'; budget_tokens: number }
    | { type: 'adaptive'; display: 'summarized' }
    | { type: 'disabled' };
  output_config?: { effort?: string; format?: { type: 'json_schema'; schema: JsonSchema } };
  stream: true;
}

const usualOutput = 32_000;
const leastThinking = 1024;

export function toAnthropicWireRequest(
  request: ChatRequest,
  flags: AnthropicRequestRestrictions = {},
): AnthropicWireRequest {
  const { system, messages } = toAnthropicWireHistory(request, flags);
  const facts = anthropicModelFacts(request.model);
  const tools = toTools(request.tools ?? [], messages);
  const { thinking, effort, maxTokens } = toThinking(request, flags);
  const format = flags.formatInPrompt ? undefined : formatOf(request);
  const sampled = facts.sampling && (!thinking || thinking.type === 'disabled'); // thinking requires the default temperature
  const stops = request.stopSequences?.filter((sequence) => sequence.trim() !== '') ?? [];
  const wish = format ? '' : formatInPrompt(request);

  const body: AnthropicWireRequest = {
    model: request.model,
    max_tokens: maxTokens,
    ...((system || wish) && {
      system: [system, wish].filter(Boolean).map((one) => ({ type: 'text', text: replaceLoneSurrogates(one) })),
    }),
    ...(tools.length > 0 && { tools }),
    ...toToolChoice(request, tools),
    messages,
    ...(sampled && request.temperature !== undefined && { temperature: Math.min(request.temperature, 1) }),
    ...(sampled && request.topP !== undefined && { top_p: request.topP }),
    ...(stops.length > 0 && { stop_sequences: toWellFormedJson(stops) }),
    ...(thinking && { thinking }),
    ...((effort || format) && { output_config: { ...(effort && { effort }), ...(format && { format }) } }),
    stream: true,
  };
  for (const name of flags.omit ?? []) if (name !== 'cache_control') delete body[name];
  if (!flags.omit?.includes('cache_control')) markCached(body, system !== '');
  return body;
}

/**
 * Sets cache breakpoints (at most four are allowed). The provider caches the unchanged prefix up to each breakpoint. The last two user
 * turns are marked: the API searches only twenty blocks before a breakpoint, and a turn with many calls would exceed that distance.
 */
function markCached({ tools, system, messages }: AnthropicWireRequest, hasPrompt: boolean): void {
  for (const end of [tools?.at(-1), hasPrompt ? system?.[0] : undefined]) if (end) end.cache_control = cacheHere;
  let turns = 0;
  for (let at = messages.length - 1; at >= 0 && turns < 2; at--) {
    const { role, content } = messages[at]!;
    const last = content.at(-1);
    if (role !== 'user' || !last) continue;
    messages[at] = { role, content: [...content.slice(0, -1), { ...last, cache_control: cacheHere }] };
    turns += 1;
  }
}

const cacheHere = { type: 'ephemeral' } as const;

/**
 * Converts tools; each name occurs once. The API rejects a history with calls but without tools. In this case, placeholders for the called
 * names are sent, and none may be called.
 */
function toTools(tools: readonly ToolDefinition[], messages: readonly AnthropicWireMessage[]): WireTool[] {
  const byName = new Map<string, WireTool>();
  for (const { name, description, parameters } of tools) {
    if (byName.has(toWireToolName(name))) continue; // the reverse mapping also uses the first tool
    // The API rejects alternatives at the top of a schema; the tool still checks them.
    const { oneOf: _, anyOf: __, allOf: ___, ...rest } = toWellFormedJson(parameters);
    const input_schema = { ...rest, type: 'object' };
    byName.set(toWireToolName(name), {
      name: toWireToolName(name),
      ...(description && { description: replaceLoneSurrogates(description) }),
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
): Pick<AnthropicWireRequest, 'tool_choice'> {
  if (offered.length === 0) return {};
  if (toolChoice === 'none' || tools.length === 0) return { tool_choice: { type: 'none' } };
  return toolChoice === 'required' ? { tool_choice: { type: 'any' } } : {}; // `auto` is the default
}

/** Returns the thinking settings. `max_tokens` counts thinking and answer together and must exceed the budget. */
function toThinking(request: ChatRequest, flags: AnthropicRequestRestrictions) {
  const facts = anthropicModelFacts(request.model);
  const limit = flags.outputLimit ?? facts.outputLimit;
  const budget = Math.min(Math.max(request.thinkingBudget ?? 0, leastThinking), limit - leastThinking);
  const forced = request.toolChoice === 'required' && (request.tools?.length ?? 0) > 0; // rejected together with thinking
  const mode = flags.thinking ?? facts.thinking;
  if (!request.thinkingBudget || request.thinkingBudget < 0 || forced || mode === 'none' || budget < leastThinking) {
    const isOff = request.thinkingOff && mode !== 'none' && !flags.omitDisabled;
    return {
      ...(isOff && { thinking: { type: 'disabled' } as const }),
      maxTokens: Math.min(request.maxTokens ?? usualOutput, limit),
    };
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
  if (responseFormat?.type !== 'json_schema') return undefined; // no format exists for "any object"
  return { type: 'json_schema' as const, schema: closed(toWellFormedJson(responseFormat.schema)) };
}

/** Adds `additionalProperties: false` to every object, as the API requires. */
function closed(schema: JsonSchema): JsonSchema {
  const inner = Object.entries(schema).map(([key, value]) => [key, closedInside(value)]);
  const open = schema.type === 'object' && schema.additionalProperties === undefined;
  return { ...Object.fromEntries(inner), ...(open && { additionalProperties: false }) };
}

function closedInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedInside);
  return typeof value === 'object' && value !== null ? closed(value as JsonSchema) : value;
}

function formatInPrompt({ responseFormat }: ChatRequest): string {
  if (!responseFormat) return '';
  const wish = 'Answer with one JSON object and nothing else: no words around it, no code fence.';
  if (responseFormat.type === 'json_object') return wish;
  return `${wish} Its schema:\n${JSON.stringify(responseFormat.schema)}`;
}
