import type { AssistantMessage, Message, ProviderMetadata, TokenUsage } from '../../protocol/content/messages.ts';
import type { JsonSchema, ToolDefinition } from '../../protocol/content/tools.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { toWireToolName } from '../core/wireToolNames.ts';
import { parseToolArguments } from '../messages/parseArguments.ts';
import { createThinkingCollector } from './thinkingFields.ts';
import type { OpenAIWireToolCall } from './wire.ts';

export interface OpenAIWireReply {
  role: 'assistant';
  content: string | null;
  tool_calls?: OpenAIWireToolCall[];
  reasoning_content?: string;
  native?: ProviderMetadata;
}

export interface OpenAIWireUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens: number };
  completion_tokens_details?: { reasoning_tokens: number };
}

/** Converts OpenAI messages. Throws `TypeError` that names the invalid message. */
export function fromOpenAIWireMessages(wire: readonly unknown[]): Message[] {
  const messages: Message[] = [];
  for (const [index, one] of wire.entries()) {
    const message = isObject(one) ? fromWireMessage(one) : undefined;
    if (!message)
      throw new TypeError(`messages[${index}] is no message with the role system, user, assistant or tool.`);
    const last = messages.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') last.toolResults.push(...message.toolResults);
    else messages.push(message);
  }
  return messages;
}

function fromWireMessage(wire: JsonObject): Message | undefined {
  const content = textOf(wire.content);
  switch (wire.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content };
    case 'user':
      return { role: 'user', content, ...filesOf(wire.content) };
    case 'assistant':
      return fromWireReply(wire, content);
    case 'tool':
      if (typeof wire.tool_call_id !== 'string') return undefined;
      return {
        role: 'tool',
        content: '',
        toolResults: [{ toolCallId: wire.tool_call_id, content, ...filesOf(wire.content) }],
      };
  }
  return undefined;
}

function fromWireReply(wire: JsonObject, content: string): AssistantMessage {
  const calls = Array.isArray(wire.tool_calls) ? wire.tool_calls.filter(isObject) : [];
  const toolCalls = calls.map(({ id, function: wanted }) => {
    const { name, arguments: given } = isObject(wanted) ? wanted : {};
    const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    return { id: String(id ?? ''), name: String(name ?? ''), ...parseToolArguments(text) };
  });
  const { native } = wire;
  const thinking = createThinkingCollector().add(wire);
  return {
    role: 'assistant',
    content,
    ...(thinking !== '' && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(isObject(native) && typeof native.provider === 'string' && { native: native as unknown as ProviderMetadata }),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  return parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

/** Returns inline images; image URLs are not fetched. */
function filesOf(content: unknown): { attachments?: { mediaType: string; data: string }[] } {
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  const attachments = parts.flatMap(({ image_url: image }) => {
    const url = isObject(image) && typeof image.url === 'string' ? image.url : '';
    const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    return mediaType && data ? [{ mediaType, data }] : [];
  });
  return attachments.length > 0 ? { attachments } : {};
}

/** Converts `{type: 'function', function: {name, description, parameters}}`. Throws `TypeError` for other values. */
export function fromOpenAIWireTools(wire: readonly unknown[]): ToolDefinition[] {
  return wire.map((tool, index) => {
    const wanted = isObject(tool) && isObject(tool.function) ? tool.function : {};
    if (typeof wanted.name !== 'string' || wanted.name === '')
      throw new TypeError(`tools[${index}] is no function with a name.`);
    const parameters = isObject(wanted.parameters)
      ? (wanted.parameters as JsonSchema)
      : { type: 'object', properties: {} };
    return { name: wanted.name, description: textOf(wanted.description), parameters };
  });
}

export function toOpenAIWireReply(message: AssistantMessage): OpenAIWireReply {
  const calls = (message.toolCalls ?? []).map(
    ({ id, name, arguments: args, malformed }): OpenAIWireToolCall => ({
      id,
      type: 'function',
      function: { name: toWireToolName(name), arguments: malformed ?? JSON.stringify(args) },
    }),
  );
  return {
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(message.thinking && { reasoning_content: message.thinking }),
    ...(message.native && { native: message.native }),
  };
}

export function toOpenAIWireUsage(usage: TokenUsage): OpenAIWireUsage {
  const { cachedTokens, thinkingTokens } = usage;
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(thinkingTokens !== undefined && { completion_tokens_details: { reasoning_tokens: thinkingTokens } }),
  };
}
