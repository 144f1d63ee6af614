// @invariant snake-case-at-the-wire: snake_case exists only in wire files and in YAML.
import type { AssistantMessage, Attachment, ToolCall } from '../../protocol/content/messages.ts';
import type { JsonSchema } from '../../protocol/content/tools.ts';
import type { ChatRequest } from '../core/client.ts';
import { toWireToolName } from '../core/wireToolNames.ts';
import {
  attachmentText,
  isImageAttachment,
  isTextAttachment,
  toolImagesCaption,
  withUnseenAttachmentNote,
} from '../messages/attachments.ts';
import { createHistoryConverter } from '../messages/convertedHistory.ts';
import { responseFormatInstructions } from '../messages/formatInstructions.ts';
import {
  type NormalizedMessage,
  normalizeGrowingHistory,
  replaceLoneSurrogates,
  toWellFormedJson,
} from '../messages/normalizeHistory.ts';
import { clampOutputTokens, outputTokenLimit } from '../messages/outputLimit.ts';
import type { OpenAICompatibilityFlags } from '../models/wireFlags.ts';
import { thinkingParameter } from './thinking.ts';
import { createWireToolCallIds, type WireToolCallIds } from './toolIds.ts';

export interface OpenAIWireToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

type WirePart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: { filename: string; file_data: string } };

export type OpenAIWireMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | WirePart[] }
  | {
      role: 'assistant';
      content: string | null;
      tool_calls?: OpenAIWireToolCall[];
      reasoning_content?: string;
      reasoning?: string;
      reasoning_details?: unknown[];
    }
  | { role: 'tool'; tool_call_id: string; content: string };

/** Builds the body of `POST /chat/completions`, always streaming: without a stream, a long answer exceeds fetch's limit of five minutes. */
export function toOpenAIWireRequest(request: ChatRequest, flags: OpenAICompatibilityFlags): Record<string, unknown> {
  const tools = request.tools?.map(({ name, description, parameters }) => ({
    type: 'function',
    function: {
      name: toWireToolName(name),
      description: replaceLoneSurrogates(description),
      parameters: toWellFormedJson(parameters),
    },
  }));
  const thinking = thinkingParameter(request, flags);
  const isBudget = thinking !== undefined && flags.thinking !== 'off';
  const body: Record<string, unknown> = {
    model: request.model,
    messages: toWireMessages(request, flags),
    ...(tools && tools.length > 0 && { tools, tool_choice: request.toolChoice ?? 'auto' }),
    response_format: toWireFormat(request, flags),
    temperature: request.temperature,
    top_p: request.topP,
    [flags.completionTokens ? 'max_completion_tokens' : 'max_tokens']: clampOutputTokens(
      outputTokenLimit(request, isBudget ? request.thinkingBudget : 0),
      flags.outputLimit,
    ),
    ...thinking,
    stop: request.stopSequences?.length ? toWellFormedJson(request.stopSequences) : undefined,
    prompt_cache_key: flags.cacheKey ? request.cacheKey : undefined,
    stream: true,
    stream_options: { include_usage: true },
    return_progress: flags.readingProgress,
  };
  const sent = Object.entries(body).filter(([name, value]) => value !== undefined && !flags.omit?.includes(name));
  return Object.fromEntries(sent);
}

function toWireFormat({ responseFormat }: ChatRequest, flags: OpenAICompatibilityFlags): object | undefined {
  if (responseFormat?.type !== 'json_schema') return responseFormat;
  if (flags.schemaInPrompt) return { type: 'json_object' };
  const { name } = responseFormat;
  const schema = toWellFormedJson(responseFormat.schema);
  return {
    type: 'json_schema',
    json_schema: { name: toWireToolName(name), schema, ...(isStrictSchema(schema) && { strict: true }) },
  };
}

/** Returns true if OpenAI's strict mode accepts the schema: every object is closed and all its properties are required. */
export function isStrictSchema(schema: JsonSchema): boolean {
  const { properties = {}, required = [], items, anyOf, $defs } = schema;
  const closed =
    schema.type !== 'object' ||
    (schema.additionalProperties === false && Object.keys(properties).every((name) => required.includes(name)));
  const inner = [...Object.values(properties), ...Object.values($defs ?? {}), ...(Array.isArray(anyOf) ? anyOf : [])];
  return closed && [...inner, ...(items ? [items] : [])].every((one) => isStrictSchema(one as JsonSchema));
}

function toWireMessages(request: ChatRequest, flags: OpenAICompatibilityFlags): OpenAIWireMessage[] {
  const history = normalizeGrowingHistory(request);
  const format = flags.schemaInPrompt ? responseFormatInstructions(request) : '';
  const prompt = [history.system, format].filter((text) => text !== '').join('\n\n');
  return convertHistory(history, flags, prompt).wire;
}

interface ConvertedHistory {
  wire: OpenAIWireMessage[];
  ids: WireToolCallIds;
}

const convertHistory = createHistoryConverter<ConvertedHistory, OpenAICompatibilityFlags>({
  begin(prompt, flags) {
    const role = flags.systemAsUser ? 'user' : 'system';
    const wire: OpenAIWireMessage[] = prompt === '' ? [] : [{ role, content: replaceLoneSurrogates(prompt) }];
    return { wire, ids: createWireToolCallIds(flags.callIds) };
  },
  add({ wire, ids }, entry, flags) {
    if (entry.role === 'user') return pushUser(wire, toContent(entry.content, entry.attachments, flags), flags);
    const callIds = ids.next(entry.message.toolCalls ?? []);
    wire.push(toReply(entry.message, callIds, flags));
    for (const [index, result] of entry.results.entries()) {
      const content = flags.withoutImages ? withUnseenAttachmentNote(result) : result.content;
      wire.push({ role: 'tool', tool_call_id: callIds[index]!, content: replaceLoneSurrogates(content) });
    }
    const images = flags.withoutImages ? [] : resultImages(entry, flags);
    if (images.length > 0) pushUser(wire, images, flags);
  },
  copyOf: ({ wire, ids }) => ({ wire: [...wire], ids: ids.extend() }),
});

/** Returns the images of results as user content after the last result, because results contain only text. */
function resultImages(
  { message, results }: Extract<NormalizedMessage, { role: 'assistant' }>,
  flags: OpenAICompatibilityFlags,
): WirePart[] {
  return results.flatMap(({ attachments = [] }, index): WirePart[] => {
    if (attachments.length === 0) return [];
    const text = toolImagesCaption(message.toolCalls![index]!);
    return [{ type: 'text', text }, ...attachments.map((one) => toPart(one, flags))];
  });
}

/**
 * Appends user content. The templates of Gemma and Mistral models reject two user messages in a row; Mistral's API rejects a user message
 * directly after results.
 */
function pushUser(wire: OpenAIWireMessage[], content: string | WirePart[], flags: OpenAICompatibilityFlags): void {
  if (flags.answersResults && wire.at(-1)?.role === 'tool') wire.push({ role: 'assistant', content: 'I see.' });
  const last = wire.at(-1);
  if (last?.role === 'user') wire[wire.length - 1] = { role: 'user', content: joinedContent(last.content, content) };
  else wire.push({ role: 'user', content });
}

const joinedContent = (first: string | WirePart[], second: string | WirePart[]): string | WirePart[] =>
  typeof first === 'string' && typeof second === 'string'
    ? `${first}\n\n${second}`
    : [...asParts(first), ...asParts(second)];

const asParts = (content: string | WirePart[]): WirePart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

function toContent(
  text: string,
  attachments: readonly Attachment[] = [],
  flags: OpenAICompatibilityFlags,
): string | WirePart[] {
  const files = attachments.map((one) => toPart(one, flags));
  if (files.length === 0) return replaceLoneSurrogates(text);
  return text === '' ? files : [...files, { type: 'text', text: replaceLoneSurrogates(text) }];
}

function toPart(file: Attachment, flags: OpenAICompatibilityFlags): WirePart {
  if (isTextAttachment(file)) return { type: 'text', text: attachmentText(file) };
  const { mediaType, data, name } = file;
  const title = replaceLoneSurrogates(name ?? mediaType);
  if (flags.withoutImages) return { type: 'text', text: `(${title}: left out, this model sees no images)` };
  const url = `data:${mediaType};base64,${data}`;
  return isImageAttachment(file)
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { filename: title, file_data: url } };
}

function toReply(
  message: AssistantMessage,
  ids: readonly string[],
  flags: OpenAICompatibilityFlags,
): OpenAIWireMessage {
  const calls = message.toolCalls ?? [];
  const content = message.content === '' ? null : replaceLoneSurrogates(message.content);
  const toolCalls = calls.map((call, index) => toWireCall(call, ids[index]!));
  return {
    role: 'assistant',
    content,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...thinkingFor(message, flags),
  };
}

/** Converts a call. A malformed call is sent without arguments: its result explains the error, and servers parse the text. */
function toWireCall(call: ToolCall, id: string): OpenAIWireToolCall {
  const text = JSON.stringify(toWellFormedJson(call.arguments));
  return {
    id,
    type: 'function',
    function: { name: toWireToolName(call.name) || 'unknown', arguments: text },
  };
}

/**
 * Form of `native.content`: field of the thinking, and OpenRouter's `reasoning_details` with upstream signatures, to be returned unchanged
 * and in order.
 */
export interface OpenAIThinkingMetadata {
  thinkingField?: 'reasoning_content' | 'reasoning';
  details?: unknown[];
}

type WireThinking = Pick<
  Extract<OpenAIWireMessage, { role: 'assistant' }>,
  'reasoning_content' | 'reasoning' | 'reasoning_details'
>;

function thinkingFor(message: AssistantMessage, { provider, returnThinking }: OpenAICompatibilityFlags): WireThinking {
  if (!returnThinking || (returnThinking === 'calls' && !message.toolCalls?.length)) return {};
  const own = message.native?.provider === provider;
  if (!own) return returnThinking === 'all' ? { reasoning_content: '' } : {};
  const { thinkingField, details } = (message.native?.content ?? {}) as OpenAIThinkingMetadata;
  if (Array.isArray(details) && details.length > 0) return { reasoning_details: details };
  return { [thinkingField ?? 'reasoning_content']: replaceLoneSurrogates(message.thinking ?? '') };
}
