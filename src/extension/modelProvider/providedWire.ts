import type { ChatRequest } from '../../llm/core/client.ts';
import type { Attachment, Message, ToolCall, ToolResult } from '../../protocol/content/messages.ts';
import type { JsonSchema, ToolDefinition } from '../../protocol/content/tools.ts';
import { isThinkingResultPart, toMcpContentBlocks } from '../../tools/editorTools/resultParts.ts';
import { formatContentBlocks } from '../../tools/mcp/callResult.ts';
import { cleanSchema, type SchemaTextLimits } from '../../tools/mcp/schema.ts';
import type { IncomingRequestMessage, IncomingRequestOptions } from '../providers/editorApi.ts';

/** Values of `LanguageModelChatMessageRole`; the last is not available in every editor. */
const roles = { assistant: 2, system: 3 };
const required = 2;

const limits: SchemaTextLimits = { description: 20_000, end: 2000, text: 10_000, schema: 200_000 };

export function fromEditorMessages(asked: readonly IncomingRequestMessage[]): Message[] {
  return asked.flatMap(({ role, content }) => {
    const parts = typeof content === 'string' ? [content] : content;
    if (role === roles.assistant) return [assistant(parts)];
    if (role === roles.system) return [{ role: 'system', content: textAndImages(parts).text }];
    return fromUser(parts);
  });
}

function assistant(parts: readonly unknown[]): Message {
  const calls = parts
    .filter(isCall)
    .map(({ callId, name, input }): ToolCall => ({ id: callId, name, arguments: isRecord(input) ? { ...input } : {} }));
  const texts = parts
    .filter((part) => !isCall(part) && !isThinkingResultPart(part))
    .map((part) => textAndImages([part]).text);
  return { role: 'assistant', content: texts.join(''), ...(calls.length > 0 && { toolCalls: calls }) };
}

function fromUser(parts: readonly unknown[]): Message[] {
  const toolResults = parts.filter(isResult).map(({ callId, content }): ToolResult => {
    const { text, images } = textAndImages(content);
    return { toolCallId: callId, content: text, ...(images.length > 0 && { attachments: images }) };
  });
  const { text, images } = textAndImages(parts.filter((part) => !isResult(part) && !isCall(part)));
  const user: Message = { role: 'user', content: text, ...(images.length > 0 && { attachments: images }) };
  if (toolResults.length === 0) return [user];
  const results: Message = { role: 'tool', content: '', toolResults };
  return text === '' && images.length === 0 ? [results] : [results, user];
}

function textAndImages(parts: readonly unknown[]): { text: string; images: Attachment[] } {
  const images: Attachment[] = [];
  return { text: formatContentBlocks(toMcpContentBlocks(parts), images), images };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCall = (part: unknown): part is { callId: string; name: string; input: unknown } =>
  isRecord(part) && typeof part.callId === 'string' && typeof part.name === 'string';

const isResult = (part: unknown): part is { callId: string; content: readonly unknown[] } =>
  isRecord(part) && typeof part.callId === 'string' && Array.isArray(part.content);

export function fromEditorOptions({
  tools = [],
  toolMode,
  modelOptions = {},
}: IncomingRequestOptions): Pick<ChatRequest, 'tools' | 'toolChoice' | 'temperature' | 'topP' | 'maxTokens'> {
  const definitions = tools.map(
    ({ name, description, inputSchema }): ToolDefinition => ({
      name,
      description,
      parameters: cleanSchema(inputSchema ?? {}, limits) as JsonSchema,
    }),
  );
  const number = (...names: string[]) =>
    names.map((name) => modelOptions[name]).find((value) => typeof value === 'number' && value >= 0) as
      | number
      | undefined;
  const [temperature, topP, most] = [
    number('temperature'),
    number('top_p', 'topP'),
    number('max_tokens', 'maxTokens', 'max_completion_tokens'),
  ];
  return {
    ...(definitions.length > 0 && { tools: definitions }),
    ...(definitions.length > 0 && toolMode === required && { toolChoice: 'required' }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(most && { maxTokens: Math.floor(most) }),
  };
}

/** Returns the characters of text and base64 images without converting anything. */
export function requestSize(
  asked: readonly IncomingRequestMessage[],
  { tools = [] }: IncomingRequestOptions = {},
): { text: number; pictures: number } {
  const size = { text: sum(tools.map((tool) => sizeOfValue(tool))), pictures: 0 };
  const add = (part: unknown): void => {
    const { data } = Object(part) as { data?: unknown };
    if (isResult(part)) for (const inner of part.content) add(inner);
    else if (ArrayBuffer.isView(data)) size.pictures += Math.ceil((data.byteLength * 4) / 3);
    else size.text += sizeOfValue(part);
  };
  for (const { content } of asked) for (const part of typeof content === 'string' ? [content] : content) add(part);
  return size;
}

function sizeOfValue(value: unknown, left = 100): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  if (left === 0) return Number.POSITIVE_INFINITY; // a deeper structure would overflow the stack
  return sum(Object.entries(value).map(([key, inner]) => key.length + sizeOfValue(inner, left - 1)));
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
